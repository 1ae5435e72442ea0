"""ActionRecord: one action a heartbeat tick wanted, and how far it came.

Its OutcomeRecord is the permit's.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from tools_app.core.models import TimeStamped


class ActionState(models.TextChoices):
    PLANNED = "PLANNED", "Planned"
    PREVIEWED = "PREVIEWED", "Previewed: it has a permit"
    WAITING = "WAITING", "Waits for owners, or for its announced time"
    COMMITTING = "COMMITTING", "Being executed, or its outcome is not seen yet"
    EXECUTED = "EXECUTED", "Executed"
    REVERTED = "REVERTED", "Reverted"
    REHEARSED = "REHEARSED", "Rehearsed: the golem is not live"
    BLOCKED = "BLOCKED", "Refused"
    DEFERRED = "DEFERRED", "Put off"


RESCUE_KEY = "rescue:"
"""How wishes of the health tripwire begin."""
OPEN_STATES = (ActionState.PLANNED, ActionState.PREVIEWED, ActionState.WAITING, ActionState.COMMITTING)
"""States a later tick follows to their end."""


class ActionRecord(TimeStamped):
    """Written before the preview and at every step after it, so that a tick that was killed left its trace."""

    tick = models.ForeignKey("archetypes_app.HeartbeatTick", on_delete=models.CASCADE, related_name="actions")
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="action_records")
    position = models.PositiveSmallIntegerField(help_text="Its place among the tick's actions")
    action_type = models.CharField(max_length=64)
    venue = models.CharField(max_length=64, blank=True)
    tool_name = models.CharField(max_length=96, blank=True)
    params = models.JSONField(default=dict)
    reason = models.TextField(blank=True, help_text="Why it was wanted")
    wish_key = models.CharField(
        max_length=160, blank=True, help_text="What it was wanted for, the same from tick to tick"
    )
    state = models.CharField(max_length=10, choices=ActionState.choices, default=ActionState.PLANNED)
    permit = models.ForeignKey(
        "permits_app.ActionPermit", null=True, blank=True, on_delete=models.PROTECT, related_name="action_records"
    )
    tx_hashes = models.JSONField(default=list)
    block_reason = models.TextField(blank=True)
    problem = models.JSONField(default=dict)
    gas_micro_usd = models.BigIntegerField(null=True, blank=True, help_text="Gas paid, micro-USD")

    class Meta:
        verbose_name = "action"
        constraints = [
            models.UniqueConstraint(fields=["tick", "position"], name="action_record_once_per_position"),
            models.CheckConstraint(
                condition=~Q(state__in=["PREVIEWED", "WAITING", "COMMITTING", "EXECUTED", "REVERTED"])
                | Q(permit__isnull=False),
                name="action_record_done_has_permit",
            ),
        ]
        indexes = [
            models.Index(
                fields=["golem"],
                condition=Q(state__in=["PLANNED", "PREVIEWED", "WAITING", "COMMITTING"]),
                name="action_record_open",
            ),
            models.Index(fields=["golem", "wish_key", "state", "-created_at"], name="action_record_newest_of_wish"),
        ]

    def __str__(self) -> str:
        return f"{self.action_type} ({self.state.lower()})"
