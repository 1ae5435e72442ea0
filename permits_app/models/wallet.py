"""Wallet: the account whose funds a golem acts with, and how its calls get there. Its keys are SigningKeys."""

from __future__ import annotations

from typing import Final

from django.db import models
from django.db.models import Value

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped


class WalletKind(models.TextChoices):
    LOCAL_KEYSTORE = "LOCAL_KEYSTORE", "Local keystore file (development; not enforced on chain)"
    PRIVY = "PRIVY", "Privy server wallet (limits enforced by this server only)"
    AWS_KMS = "AWS_KMS", "Key in AWS KMS (limits enforced by this server only)"
    TURNKEY = "TURNKEY", "Wallet at Turnkey (limits enforced by this server only)"
    ZERODEV = "ZERODEV", "Smart account at ZeroDev (limits enforced by this server only)"
    GNOSIS_SAFE = "GNOSIS_SAFE", "Safe of the golem's key, alone or with others (limits enforced by this server only)"
    POLICY_CAGE = "POLICY_CAGE", "Safe behind a PolicyCage (enforced on chain)"


SAFES: Final = (WalletKind.GNOSIS_SAFE, WalletKind.POLICY_CAGE)
"""Kinds whose account is a Safe."""


class Wallet(TimeStamped):
    """The account of one golem. With a plain key it is the key's own address; else a contract that others sign for."""

    golem = models.OneToOneField("archetypes_app.Golem", on_delete=models.PROTECT, related_name="wallet")
    address = models.CharField(max_length=42, unique=True, validators=[ADDRESS])
    kind = models.CharField(max_length=24, choices=WalletKind.choices, default=WalletKind.LOCAL_KEYSTORE)
    backed_up_at = models.DateTimeField(null=True, blank=True)
    safe = models.JSONField(default=dict, blank=True, help_text="The Safe as last seen: owners, modules, guards")
    safe_noted = models.JSONField(default=dict, blank=True, help_text="The Safe as its owners took note of it")
    runs = models.JSONField(
        default=dict,
        db_default=Value({}, models.JSONField()),
        blank=True,
        help_text="By chain, the code that its owners let the account itself run (EIP-7702): contract and code_hash",
    )
    safe_nonce = models.PositiveBigIntegerField(null=True, blank=True, help_text="The Safe's own nonce as last seen")

    class Meta:
        verbose_name = "wallet"
        # Sweeps ask for Safes every few seconds, and most wallets are none.
        indexes = [
            models.Index(
                fields=["kind", "id"], condition=models.Q(kind__in=["GNOSIS_SAFE", "POLICY_CAGE"]), name="wallet_safes"
            )
        ]

    def __str__(self) -> str:
        return self.address
