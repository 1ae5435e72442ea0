"""HighWaterMark: the most a golem's holdings were worth of late, and a fall from it that its owner has not seen yet.
NavSnapshot: what they were worth at a moment, and what made the difference to the moment before.
"""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class HighWaterMark(TimeStamped):
    """One per golem. The mark rises by itself; it falls only with its window, or when the owner acknowledges a fall.
    `later` are the marks that follow it: pairs of micro-USD and the microsecond since 1970 it was last worth so much.
    """

    golem = models.OneToOneField("archetypes_app.Golem", on_delete=models.CASCADE, related_name="high_water_mark")
    account = models.CharField(
        max_length=42, blank=True, help_text="Whose holdings it is of; another account of the golem has another mark"
    )
    value_micro_usd = models.BigIntegerField()
    reached_at = models.DateTimeField(help_text="When the holdings were last worth so much")
    later = models.JSONField(default=list, blank=True)
    violated_at = models.DateTimeField(null=True, blank=True, help_text="Set by a fall beyond the cage's limit")
    violated_bps = models.PositiveIntegerField(default=0, help_text="How far it had fallen then, basis points")
    paused_until = models.DateTimeField(null=True, blank=True, help_text="No position is opened or grown before this")
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.CharField(max_length=128, blank=True)
    acknowledged_reason = models.TextField(blank=True)

    class Meta:
        verbose_name = "high-water mark"
        constraints = [
            models.CheckConstraint(condition=models.Q(value_micro_usd__gte=0), name="high_water_mark_not_negative")
        ]

    def __str__(self) -> str:
        return f"High-water mark of {self.golem}"


class NavSnapshot(models.Model):
    """The net asset value at one block. `parts` tell, in micro-USD as text, what made it of the snapshot before: price,
    fees_and_interest, slashes, slippage, gas, and what came in and went out (moved); empty at the first. `state` is
    what the next one is compared with, `holdings` what pages show of it (`tell_holdings`); the newest alone keep both.
    `slashes` tells each slash of a position by itself (`ToldSlash`).
    """

    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="nav_snapshots")
    at = models.DateTimeField(help_text="When it was measured")
    chain_id = models.PositiveBigIntegerField()
    block_number = models.PositiveBigIntegerField()
    value_micro_usd = models.BigIntegerField(help_text="Tokens and positions at the feeds, what is owed subtracted")
    debt_micro_usd = models.BigIntegerField(default=0)
    parts = models.JSONField(default=dict)
    state = models.JSONField(default=dict)
    holdings = models.JSONField(default=dict)
    slashes = models.JSONField(default=list)

    class Meta:
        verbose_name = "net asset value"
        verbose_name_plural = "net asset values"
        constraints = [
            models.UniqueConstraint(fields=["golem", "chain_id", "block_number"], name="nav_snapshot_once_a_block"),
            models.CheckConstraint(condition=models.Q(debt_micro_usd__gte=0), name="nav_snapshot_debt_not_negative"),
        ]
        indexes = [models.Index(fields=["golem", "-at"], name="nav_snapshot_newest")]

    def __str__(self) -> str:
        return f"{self.golem} at block {self.block_number}"
