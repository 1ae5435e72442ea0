"""SigningKey: a key that signs for a golem, from the day it was made. Addresses here, never the key itself."""

from __future__ import annotations

from django.db import models

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped


class KeyHolder(models.TextChoices):
    LOCAL_KEYSTORE = "LOCAL_KEYSTORE", "Keystore file of this server"
    PRIVY = "PRIVY", "Privy server wallet"
    AWS_KMS = "AWS_KMS", "Key in AWS KMS"
    TURNKEY = "TURNKEY", "Turnkey wallet"


class KeyState(models.TextChoices):
    STAGED = "STAGED", "Staged: made, and not appointed yet"
    ACTIVE = "ACTIVE", "Active: the golem acts with it"
    DROPPED = "DROPPED", "Dropped: another one replaced it, or its owner took its rights away"


class SigningKey(TimeStamped):
    """One key of one golem. A dropped one still signs replacements of what it signed before, and nothing else.

    With a cage the chain says which key is active; the row follows the mirror.
    """

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="signing_keys")
    address = models.CharField(max_length=42, unique=True, validators=[ADDRESS])
    holder = models.CharField(max_length=24, choices=KeyHolder.choices, default=KeyHolder.LOCAL_KEYSTORE)
    account = models.CharField(
        max_length=42, blank=True, help_text="The smart account it owns and signs user operations for"
    )
    external_id = models.CharField(max_length=64, blank=True, help_text="What the holder calls it, such as a wallet id")
    state = models.CharField(max_length=8, choices=KeyState.choices, default=KeyState.STAGED)
    activated_at = models.DateTimeField(null=True, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True, help_text="When its owners were last asked to appoint it")
    dropped_at = models.DateTimeField(null=True, blank=True)
    granted = models.JSONField(
        default=dict, blank=True, help_text="What its owner gave it: expires_at, operations, budget_micro_usd"
    )
    reason = models.CharField(max_length=200, blank=True, help_text="Why it was made")
    delegated = models.JSONField(
        default=dict, blank=True, help_text="The contract whose code its own account runs (EIP-7702), by chain"
    )

    had_code = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its owners let its own account run code (EIP-7702), and it may run it still",
    )

    class Meta:
        verbose_name = "signing key"
        indexes = [
            # The constraint's is for no lookup: whoever asks does not say that the account is not empty.
            models.Index(fields=["account"], name="signing_key_account"),
            # Asked every few seconds, and few have any.
            models.Index(fields=["id"], condition=models.Q(had_code=True), name="signing_key_with_code"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["golem"], condition=models.Q(state="ACTIVE"), name="signing_key_one_active_per_golem"
            ),
            models.UniqueConstraint(
                fields=["golem"], condition=models.Q(state="STAGED"), name="signing_key_one_staged_per_golem"
            ),
            models.UniqueConstraint(
                fields=["account"], condition=~models.Q(account=""), name="signing_key_one_per_account"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address} ({self.state.lower()})"
