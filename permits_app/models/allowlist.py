"""AllowlistEntry: a token, contract, spender, recipient or pool hook a golem may touch on one chain."""

from __future__ import annotations

from django.db import models

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped
from tools_app.core.visible_text_columns import PlainCharField


class AllowlistKind(models.TextChoices):
    TOKEN = "TOKEN", "Token"
    CONTRACT = "CONTRACT", "Contract it may call"
    SPENDER = "SPENDER", "Spender it may approve"
    RECIPIENT = "RECIPIENT", "Address it may pay"
    HOOK = "HOOK", "Hook of pools it may use"


class AllowlistEntry(TimeStamped):
    """One allowed address. Addresses are stored in EIP-55 form."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="allowlist")
    chain_id = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=16, choices=AllowlistKind.choices)
    address = models.CharField(max_length=42, validators=[ADDRESS])
    label = PlainCharField(max_length=64, blank=True)

    class Meta:
        verbose_name = "allowlist entry"
        verbose_name_plural = "allowlist entries"
        constraints = [
            models.UniqueConstraint(fields=["golem", "chain_id", "kind", "address"], name="allowlist_entry_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind.lower()} {self.label or self.address}"
