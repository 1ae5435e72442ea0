"""OwnerTransaction: what the owners of a Safe are asked to sign, their signatures, and the bytes that were relayed.

The server holds no owner's key. It stores what an owner signed elsewhere and relays it with a key that holds nothing
but gas; the bytes it relays are stored before they are sent.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped


class OwnerTransactionState(models.TextChoices):
    SIGNING = "SIGNING", "Waits for signatures"
    RELEASED = "RELEASED", "Signed; may be sent"
    SENT = "SENT", "Sent"
    EXECUTED = "EXECUTED", "Executed on chain"
    FAILED = "FAILED", "Failed on chain"
    DEAD = "DEAD", "Given up: it can never be executed, or nobody wants it any more"


HOLDS_NONCE = (
    OwnerTransactionState.SIGNING,
    OwnerTransactionState.RELEASED,
    OwnerTransactionState.SENT,
    OwnerTransactionState.EXECUTED,
)
"""Nothing else is asked for under the nonce of one of these. A failed one leaves the Safe's nonce as it was."""


class OwnerTransaction(TimeStamped):
    """The SafeTx of one change request: a call of a Safe, without refund. The database keeps its bytes as asked.

    `safe_tx_hash` is the EIP-712 digest an owner signs; it binds chain, Safe, nonce, target, value, data and operation.
    """

    request = models.OneToOneField(
        "permits_app.ChangeRequest", on_delete=models.PROTECT, related_name="owner_transaction"
    )
    chain_id = models.PositiveBigIntegerField()
    safe = models.CharField(max_length=42, validators=[ADDRESS])
    safe_nonce = models.PositiveBigIntegerField(help_text="The Safe's own nonce")
    to = models.CharField(max_length=42, validators=[ADDRESS])
    value_wei = models.CharField(max_length=78, default="0")
    data = models.TextField(help_text="Call data, 0x-hex")
    operation = models.PositiveSmallIntegerField(default=0, help_text="0 a call; 1 MultiSendCallOnly")
    threshold = models.PositiveSmallIntegerField(
        default=1, help_text="How many owners the Safe asked for when it was read"
    )
    own_key = models.CharField(
        max_length=42, blank=True, help_text="The golem's key, when it owns the Safe too and consents by sending"
    )
    safe_tx_hash = models.CharField(max_length=66)
    asked_block = models.PositiveBigIntegerField(help_text="The block the Safe was read at when it was asked for")
    state = models.CharField(
        max_length=10, choices=OwnerTransactionState.choices, default=OwnerTransactionState.SIGNING
    )
    executed_in = models.CharField(max_length=66, blank=True, help_text="Hash of the transaction that executed it")
    executed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "owners' transaction"
        indexes = [
            models.Index(
                fields=["state", "updated_at"],
                condition=Q(state__in=["SIGNING", "RELEASED", "SENT"]),
                name="owner_transaction_live",
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state="EXECUTED") | Q(executed_at__isnull=False), name="owner_transaction_executed_when"
            ),
            models.UniqueConstraint(
                fields=["chain_id", "safe", "safe_nonce"],
                condition=Q(state__in=["SIGNING", "RELEASED", "SENT", "EXECUTED"]),
                name="owner_transaction_one_per_nonce",
            ),
        ]

    def __str__(self) -> str:
        return f"nonce {self.safe_nonce} of the Safe {self.safe}"


class OwnerSignature(models.Model):
    """One owner key's signature over one SafeTx. Append-only; the database enforces it."""

    transaction = models.ForeignKey(OwnerTransaction, on_delete=models.PROTECT, related_name="signatures")
    signer = models.CharField(max_length=42, validators=[ADDRESS], help_text="Recovered from the signature")
    signature = models.CharField(max_length=132, help_text="65 bytes, 0x-hex")
    given_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", help_text="The account that handed it in"
    )
    given_at = models.DateTimeField()

    class Meta:
        verbose_name = "owner's signature"
        constraints = [models.UniqueConstraint(fields=["transaction", "signer"], name="owner_key_signs_once")]

    def __str__(self) -> str:
        return f"signature of {self.signer}"


class RelayPurpose(models.TextChoices):
    EXECUTE = "EXECUTE", "The Safe executes what its owners signed"
    APPLY = "APPLY", "A cage's waiting change is applied; anyone may"
    DELEGATE = "DELEGATE", "A golem's account takes up code, or drops it, by its key's signature; anyone may"


class RelayState(models.TextChoices):
    SIGNED = "SIGNED", "Signed, not seen sent"
    SENT = "SENT", "Sent"
    MINED = "MINED", "Mined"
    REVERTED = "REVERTED", "Mined, reverted"
    REPLACED = "REPLACED", "Replaced by the same call at higher fees"
    REORGED = "REORGED", "Taken out by a reorganisation; sent again"
    FINAL = "FINAL", "Mined, under enough blocks"


class RelayedTransaction(TimeStamped):
    """One payload of the relayer: stored before it is sent. One at a time per chain, so that nonces need no cursor."""

    owner_transaction = models.ForeignKey(
        OwnerTransaction, null=True, blank=True, on_delete=models.PROTECT, related_name="relays"
    )
    mirror = models.ForeignKey(
        "permits_app.CageMirror", null=True, blank=True, on_delete=models.SET_NULL, related_name="relays"
    )
    purpose = models.CharField(max_length=8, choices=RelayPurpose.choices)
    subject = models.CharField(max_length=80, blank=True, help_text="Of an applied change: its kind and key")
    chain_id = models.PositiveBigIntegerField()
    sender = models.CharField(max_length=42)
    nonce = models.PositiveBigIntegerField()
    to = models.CharField(max_length=42)
    data = models.TextField()
    gas_limit = models.PositiveBigIntegerField(help_text="Gas units")
    max_fee_per_gas = models.CharField(max_length=78, help_text="Wei per gas")
    max_priority_fee_per_gas = models.CharField(max_length=78, help_text="Wei per gas")
    raw = models.TextField(help_text="Signed bytes, 0x-hex")
    tx_hash = models.CharField(max_length=66, unique=True)
    state = models.CharField(max_length=10, choices=RelayState.choices, default=RelayState.SIGNED)
    sent_at = models.DateTimeField(null=True, blank=True)
    block_number = models.PositiveBigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True)
    fee_wei = models.CharField(
        max_length=78, default="0", help_text="Paid; while it is under way, the most it can cost"
    )

    class Meta:
        verbose_name = "relayed transaction"
        indexes = [models.Index(fields=["sender", "created_at"], name="relayed_by_sender")]
        constraints = [
            models.UniqueConstraint(
                fields=["chain_id", "sender"], condition=Q(state__in=["SIGNED", "SENT"]), name="relayer_one_at_a_time"
            ),
            models.UniqueConstraint(
                fields=["chain_id", "sender", "nonce"],
                condition=Q(state__in=["MINED", "REVERTED", "FINAL"]),
                name="relayer_one_mined_per_nonce",
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["APPLY", "DELEGATE"], owner_transaction__isnull=True)
                | Q(purpose="EXECUTE", owner_transaction__isnull=False),
                name="relayed_for_something",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash[:12]}… ({self.get_state_display().lower()})"
