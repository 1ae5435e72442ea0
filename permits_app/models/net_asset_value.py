"""HighWaterMark: the most a golem's holdings were worth of late, and a fall from it that its owner has not seen yet."""

from __future__ import annotations

from typing import Any

from django.db import models

from tools_app.core.models import TimeStamped


class HighWaterMark(TimeStamped):
    """One per golem. The mark rises by itself; it falls only with its window, or when the owner acknowledges a fall."""

    golem: Any = models.OneToOneField("archetypes_app.Golem", on_delete=models.CASCADE, related_name="high_water_mark")
    value_micro_usd = models.BigIntegerField()
    reached_at = models.DateTimeField()
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
