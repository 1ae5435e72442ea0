"""SafeOpening: a Safe of a golem through whose fallback anybody can act, or could after one step more."""

from __future__ import annotations

from django.db import models

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped


class SafeOpening(TimeStamped):
    """A Safe as it was last seen. The row goes when the Safe is closed; only `find_exposed_safes` writes it."""

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="safe_openings")
    chain_id = models.PositiveBigIntegerField()
    account = models.CharField(max_length=42, validators=[ADDRESS])
    handler = models.CharField(
        max_length=42, blank=True, default="", help_text="The fallback handler that believes strangers, if it does"
    )
    modules = models.JSONField(default=list, blank=True, help_text="Modules of code that believes strangers")
    is_open = models.BooleanField(help_text="Anybody acts for the Safe now; off: only after one more step")

    class Meta:
        verbose_name = "safe that stands open"
        verbose_name_plural = "safes that stand open"
        constraints = [
            models.UniqueConstraint(fields=["golem", "chain_id", "account"], name="safe_opening_once_per_account")
        ]

    def __str__(self) -> str:
        return f"{self.account} {'is open' if self.is_open else 'stands one step from open'}"
