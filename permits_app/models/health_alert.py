"""HealthAlert: how healthy a golem's debts at one lender must stay, and what its heartbeat does when they are not."""

from __future__ import annotations

import uuid

from django.db import models

from tools_app.core.models import TimeStamped

LEAST_HEALTH_BPS = 10_000
"""At 1.00 a debt is liquidated: an alert lies above it."""
MOST_HEALTH_BPS = 1_000_000


class AutoAction(models.TextChoices):
    NONE = "NONE", "Only tell"
    DELEVERAGE = "DELEVERAGE", "Lower the debt"
    CLOSE = "CLOSE", "Leave the position"


class HealthAlert(TimeStamped):
    """One for a lender on a chain. It only ever makes the golem more careful: its owner's floor holds beside it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="health_alerts")
    protocol = models.CharField(max_length=64)
    chain_id = models.PositiveBigIntegerField()
    min_health_bps = models.PositiveIntegerField(help_text="Basis points of a health factor; at 10,000 is liquidation")
    notify_on_breach = models.BooleanField(default=True, help_text="Tell the owner once the health is below")
    auto_action = models.CharField(
        max_length=10,
        choices=AutoAction.choices,
        default=AutoAction.NONE,
        help_text="What the heartbeat does below, where it acts at all",
    )
    last_triggered_at = models.DateTimeField(null=True, blank=True, help_text="When a tick last found a debt below")

    class Meta:
        verbose_name = "health alert"
        constraints = [
            models.UniqueConstraint(fields=["golem", "protocol", "chain_id"], name="health_alert_once"),
            models.CheckConstraint(
                condition=models.Q(min_health_bps__gt=LEAST_HEALTH_BPS, min_health_bps__lte=MOST_HEALTH_BPS),
                name="health_alert_above_liquidation",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.protocol} on chain {self.chain_id} below {self.min_health_bps / 10_000:.2f}"
