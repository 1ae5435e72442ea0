"""OutboundTransaction: signed bytes, stored before they are sent, and what became of them."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from tools_app.core.models import TimeStamped


class TransactionState(models.TextChoices):
    SIGNED = "SIGNED", "Signed, not seen sent"
    BROADCAST = "BROADCAST", "Broadcast"
    UNKNOWN = "UNKNOWN", "Sent, outcome not seen yet"
    MINED = "MINED", "Mined"
    REVERTED = "REVERTED", "Mined, reverted"
    FINAL = "FINAL", "Final: under enough blocks"
    REORGED = "REORGED", "Reorganised out of the chain"
    DROPPED = "DROPPED", "Dropped: its nonce was used by another transaction"


class PayloadPurpose(models.TextChoices):
    CALL = "CALL", "A call of the permit"
    FILL = "FILL", "A zero transfer to itself that uses the nonce up"


IN_A_BLOCK = (TransactionState.MINED, TransactionState.REVERTED, TransactionState.FINAL)
UNSETTLED = (
    TransactionState.SIGNED,
    TransactionState.BROADCAST,
    TransactionState.UNKNOWN,
    TransactionState.REORGED,
)


class OutboundTransaction(TimeStamped):
    """One live signed payload per nonce and per call. Read-only everywhere but in `permits_app.execution`.

    A payload that another one replaced stays as it was signed, `is_live` off. Database triggers refuse a second payload
    of a nonce that would do anything else than the first, and any change of signed bytes.
    """

    permit = models.ForeignKey(
        "permits_app.ActionPermit", null=True, blank=True, on_delete=models.PROTECT, related_name="transactions"
    )
    call_index = models.PositiveIntegerField()
    purpose = models.CharField(max_length=4, choices=PayloadPurpose.choices, default=PayloadPurpose.CALL)
    entry_point = models.CharField(
        max_length=42, blank=True, help_text="The EntryPoint, when this is a user operation of `sender`"
    )
    signed_at_block = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="The chain's head when an operation was signed: it is looked for from there on"
    )
    is_live = models.BooleanField(default=True, help_text="Off once another payload of the same nonce replaced it")
    replaces = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="replacements")
    chain_id = models.PositiveBigIntegerField()
    sender = models.CharField(max_length=42)
    nonce = models.PositiveBigIntegerField()
    to = models.CharField(max_length=42)
    value_wei = models.CharField(max_length=78)
    action_digest = models.CharField(max_length=66, blank=True, help_text="SHA-256 of to, value and data")
    gas_limit = models.PositiveBigIntegerField(help_text="Gas units")
    max_fee_per_gas = models.CharField(max_length=78, help_text="Wei per gas")
    max_priority_fee_per_gas = models.CharField(max_length=78, help_text="Wei per gas")
    raw = models.TextField(help_text="Signed bytes, 0x-hex")
    tx_hash = models.CharField(max_length=66, unique=True)
    state = models.CharField(max_length=12, choices=TransactionState.choices, default=TransactionState.SIGNED)
    broadcast_at = models.DateTimeField(null=True, blank=True)
    broadcast_count = models.PositiveIntegerField(default=0)
    refusal = models.CharField(
        max_length=64,
        blank=True,
        help_text="The code by which every node asked refused it last; empty once one took it",
    )
    passed_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the chain was first seen to count its nonce as used while no block showed by what",
    )
    receipt = models.JSONField(default=dict)
    block_number = models.PositiveBigIntegerField(null=True, blank=True)
    gas_used = models.PositiveBigIntegerField(null=True, blank=True, help_text="Gas units")
    fee_wei = models.CharField(max_length=78, blank=True)

    class Meta:
        verbose_name = "outbound transaction"
        constraints = [
            models.UniqueConstraint(
                fields=["chain_id", "sender", "nonce"],
                condition=Q(is_live=True),
                name="outbound_one_live_payload_per_nonce",
            ),
            models.UniqueConstraint(
                fields=["permit", "call_index"],
                condition=Q(is_live=True, permit__isnull=False),
                name="outbound_one_live_payload_per_call",
            ),
            models.UniqueConstraint(
                fields=["chain_id", "sender", "nonce"],
                condition=Q(state__in=["MINED", "REVERTED", "FINAL"]),
                name="outbound_one_mined_per_nonce",
            ),
            models.CheckConstraint(
                condition=Q(purpose="CALL") | Q(to=F("sender"), value_wei="0"), name="outbound_fill_moves_nothing"
            ),
            models.CheckConstraint(
                condition=Q(purpose="FILL") | Q(permit__isnull=False), name="outbound_call_has_permit"
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "updated_at"],
                condition=Q(state__in=["SIGNED", "BROADCAST", "UNKNOWN", "MINED", "REVERTED", "REORGED"]),
                name="outbound_unsettled",
            ),
            # The newest final ones are compared with the chain in each round.
            models.Index(
                fields=["chain_id", "-block_number", "-id"], condition=Q(state="FINAL"), name="outbound_newest_final"
            ),
            # What was given up may be seen in a block all the same, and is looked for in each round.
            models.Index(fields=["chain_id", "updated_at"], condition=Q(state="DROPPED"), name="outbound_dropped"),
            models.Index(fields=["chain_id", "sender", "nonce"], name="outbound_of_sender"),
            models.Index(fields=["chain_id", "sender", "block_number"], name="outbound_of_sender_in_block"),
            # What is mined behind the block that a call is judged by is missing from what is measured there.
            models.Index(
                fields=["chain_id", "block_number"], condition=Q(block_number__isnull=False), name="outbound_in_block"
            ),
            models.Index(fields=["-created_at", "-id"], name="outbound_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash[:12]}… nonce {self.nonce}"
