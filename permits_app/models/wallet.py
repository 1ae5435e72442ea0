"""Wallet: which signer holds a golem's key. The key itself is in a keystore file, never in the database."""

from __future__ import annotations

from typing import Any

from django.db import models

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped


class WalletKind(models.TextChoices):
    LOCAL_KEYSTORE = "LOCAL_KEYSTORE", "Local keystore file (development; not enforced on chain)"


class Wallet(TimeStamped):
    """The account of one golem and the signer behind it."""

    golem: Any = models.OneToOneField("archetypes_app.Golem", on_delete=models.PROTECT, related_name="wallet")
    address = models.CharField(max_length=42, unique=True, validators=[ADDRESS])
    kind = models.CharField(max_length=24, choices=WalletKind.choices, default=WalletKind.LOCAL_KEYSTORE)
    backed_up_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "wallet"

    def __str__(self) -> str:
        return self.address
