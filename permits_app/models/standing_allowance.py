"""StandingAllowance: what a spender may still take of a golem's token, as its plans left it."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class StandingAllowance(TimeStamped):
    """One token and spender that a plan of the golem approved; `left` is what the chain said last, zero once gone.

    For 24 h the spend entry of `permit` counts it; from then on this row does, in full, until it is revoked or used.
    """

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="standing_allowances")
    permit = models.ForeignKey(
        "permits_app.ActionPermit", on_delete=models.PROTECT, related_name="+", help_text="Whose plan approved it last"
    )
    chain_id = models.PositiveBigIntegerField()
    account = models.CharField(max_length=42)
    token = models.CharField(max_length=42)
    symbol = models.CharField(max_length=64, blank=True)
    decimals = models.PositiveIntegerField()
    spender = models.CharField(max_length=42)
    left = models.CharField(max_length=78, help_text="Base units")
    worth_micro_usd = models.BigIntegerField(help_text="At the prices of its permit, rounded up")
    counted_at = models.DateTimeField(help_text="The time of the block its permit ended in")
    block_number = models.PositiveBigIntegerField(help_text="The chain said so after this block")

    class Meta:
        verbose_name = "standing allowance"
        constraints = [
            models.UniqueConstraint(
                fields=["golem", "chain_id", "account", "token", "spender"], name="standing_allowance_once"
            ),
            models.CheckConstraint(condition=models.Q(worth_micro_usd__gte=0), name="standing_worth_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.symbol or self.token} for {self.spender}"
