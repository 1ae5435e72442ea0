"""The pulse of a golem in rows: its clock, each tick, and what was seen, decided and done in it.

A tick is begun and ended under a fence: a number that rises with every claim, so that a worker which was taken for dead
cannot end, or act in, a tick that another one took over.
"""

from __future__ import annotations

from typing import Final

from django.db import models
from django.db.models import Q, Value

from archetypes_app.models.archetype import InferenceTier
from archetypes_app.models.golem import PHASE_CHOICES, Golem
from archetypes_app.vitality import MILLION
from tools_app.core import clock
from tools_app.core.models import TimeStamped

LEAST_THETA_SECONDS = 30
MOST_THETA_SECONDS = 120


class PlannerKind(models.TextChoices):
    RULE = "RULE", "Rules: keeps what is set below; needs no model"
    MODEL = "MODEL", "A language model, within its daily cost cap"


class Regime(models.TextChoices):
    """What the market of the golem's base pair does. Decides how often it ticks."""

    NORMAL = "NORMAL", "Normal"
    VOLATILE = "VOLATILE", "Volatile"
    CRISIS = "CRISIS", "Crisis"
    CALM = "CALM", "Calm"
    TRENDING = "TRENDING", "Trending"


ROUGH: Final = frozenset({Regime.VOLATILE, Regime.CRISIS})
"""What is opened or traded in these costs more than its preview says, or reverts."""


class Heartbeat(TimeStamped):
    """One golem's clock. Written by the heartbeat's own statements and by its owner; never by a tool."""

    golem = models.OneToOneField(Golem, primary_key=True, on_delete=models.CASCADE, related_name="heartbeat")
    is_on = models.BooleanField(default=False, help_text="When off, the golem does not tick")
    planner = models.CharField(max_length=8, choices=PlannerKind.choices, default=PlannerKind.RULE)
    rules_stand_in = models.BooleanField(
        default=True,
        verbose_name="rules act when the model fails",
        help_text="When its language model does not answer or its budget is spent, the rules below act in its place",
    )
    base_interval_seconds = models.PositiveIntegerField(
        default=60, help_text="Seconds between ticks in a normal market; the regime makes it 30 to 120"
    )
    liquidity_rule = models.JSONField(
        default=dict, blank=True, help_text="What the rule planner keeps; empty: it opens nothing"
    )
    strategies = models.JSONField(
        default=dict,
        db_default=Value({}, models.JSONField()),
        blank=True,
        help_text="What it does by rules beside that, by kind; each under permits as ever",
    )
    regime = models.CharField(max_length=8, choices=Regime.choices, default=Regime.NORMAL, editable=False)
    next_tick_at = models.DateTimeField(default=clock.now, editable=False)
    fence = models.PositiveBigIntegerField(default=0, editable=False, help_text="Rises with every claim")
    begun_fence = models.PositiveBigIntegerField(default=0, editable=False, help_text="The last claim to begin a tick")
    lease_expires_at = models.DateTimeField(null=True, blank=True, editable=False)
    missed_ticks = models.PositiveBigIntegerField(
        default=0, editable=False, help_text="Ticks that fell into the time of another one, or of an outage"
    )
    pending_steers = models.JSONField(default=list, editable=False, help_text="The owner's words for the next tick")
    state = models.JSONField(default=dict, editable=False, help_text="What a tick remembers of the one before")
    consolidated_at_tick = models.PositiveBigIntegerField(default=0, editable=False)
    monitored_at = models.DateTimeField(null=True, blank=True, editable=False)
    observed_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="A sleepwalker's last look")

    class Meta:
        verbose_name = "heartbeat"
        indexes = [models.Index(fields=["next_tick_at"], condition=Q(is_on=True), name="heartbeat_due")]
        constraints = [
            models.CheckConstraint(
                condition=Q(base_interval_seconds__range=(LEAST_THETA_SECONDS, MOST_THETA_SECONDS)),
                name="heartbeat_interval_30_to_120",
            ),
            models.CheckConstraint(condition=Q(begun_fence__lte=models.F("fence")), name="heartbeat_began_what_it_got"),
        ]

    def __str__(self) -> str:
        return f"Heartbeat of {self.golem}"


class TickStatus(models.TextChoices):
    RUNNING = "RUNNING", "Running"
    COMPLETE = "COMPLETE", "Complete"
    ABANDONED = "ABANDONED", "Abandoned: its worker stopped"
    FAILED = "FAILED", "Failed: see its record"


class HeartbeatTick(models.Model):
    """One tick, from the claim to its end. A golem has at most one that runs."""

    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="heartbeat_ticks")
    number = models.PositiveBigIntegerField(help_text="The golem's heartbeat tick")
    fence = models.PositiveBigIntegerField()
    status = models.CharField(max_length=9, choices=TickStatus.choices, default=TickStatus.RUNNING)
    scheduled_at = models.DateTimeField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    lateness_ms = models.PositiveIntegerField(default=0, help_text="Started this long after it was due")
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    theta_seconds = models.PositiveIntegerField(default=60, help_text="The interval that was expected before it")
    missed_before = models.PositiveIntegerField(default=0, help_text="Ticks that were left out before it")

    class Meta:
        verbose_name = "heartbeat tick"
        constraints = [
            models.UniqueConstraint(fields=["golem", "number"], name="heartbeat_tick_once_per_number"),
            models.UniqueConstraint(fields=["golem"], condition=Q(status="RUNNING"), name="heartbeat_tick_one_running"),
            models.CheckConstraint(
                condition=Q(status="RUNNING") ^ Q(ended_at__isnull=False), name="heartbeat_tick_ended_has_time"
            ),
        ]
        indexes = [
            models.Index(fields=["golem", "-started_at"], name="heartbeat_tick_by_golem"),
            models.Index(fields=["-started_at", "-id"], name="heartbeat_tick_newest"),
        ]

    def __str__(self) -> str:
        return f"tick {self.number}"


class DecisionCycleRecord(models.Model):
    """What one tick saw, why it thought or did not, what it wanted and what became of it. Written once, at its end.

    Shares are millionths, money micro-USD in decimal strings. Actions are `tick.actions`; outcomes hang on permits.
    """

    tick = models.OneToOneField(HeartbeatTick, on_delete=models.CASCADE, related_name="decision")
    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="decisions")
    heartbeat_tick = models.PositiveBigIntegerField()
    decided_at = models.DateTimeField()
    is_live = models.BooleanField(help_text="When off, a dry run: nothing was committed")
    observation = models.TextField(blank=True)
    regime = models.CharField(max_length=8, choices=Regime.choices, default=Regime.NORMAL)
    probes = models.JSONField(default=dict)
    anomalies = models.JSONField(default=list)
    pad_before = models.JSONField(default=dict, help_text="Pleasure, arousal, dominance in millionths")
    pad_after = models.JSONField(default=dict)
    prediction_error = models.PositiveIntegerField(default=0, help_text="Millionths")
    threshold = models.PositiveIntegerField(default=0, help_text="Millionths")
    tier = models.CharField(max_length=2, choices=InferenceTier.choices, default=InferenceTier.T0)
    gating_reason = models.TextField(blank=True)
    context_summary = models.TextField(blank=True)
    interventions = models.JSONField(default=list)
    deliberation = models.JSONField(default=dict)
    outcome = models.JSONField(default=dict)
    episodes_written = models.JSONField(default=list)
    mutations = models.JSONField(default=list, help_text="What the tick changed of the golem itself: phase, backoff")
    vitality = models.PositiveIntegerField(null=True, blank=True, help_text="Millionths; empty while unmeasured")
    phase = models.CharField(max_length=16, choices=PHASE_CHOICES)
    costs = models.JSONField(default=dict, help_text="Micro-USD of model and gas, tokens of the model")

    class Meta:
        verbose_name = "decision"
        constraints = [
            models.CheckConstraint(condition=Q(prediction_error__lte=MILLION), name="decision_error_at_most_one")
        ]
        indexes = [
            models.Index(fields=["golem", "-heartbeat_tick"], name="decision_by_golem"),
            models.Index(fields=["decided_at"], condition=Q(tier="T0"), name="decision_quiet_by_age"),
        ]

    def __str__(self) -> str:
        return f"decision of tick {self.heartbeat_tick}"


class AlertBatch(models.Model):
    """What one duty (`source`) noticed of one golem within five minutes."""

    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="alert_batches")
    window_start = models.DateTimeField()
    source = models.CharField(max_length=32, default="heartbeat-monitor", help_text="Which duty noticed it")
    alerts = models.JSONField(default=list, help_text="Rule, what was observed, the limit")
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "alert batch"
        verbose_name_plural = "alert batches"
        constraints = [
            models.UniqueConstraint(fields=["golem", "window_start", "source"], name="alert_batch_once_per_window")
        ]
        indexes = [models.Index(fields=["golem", "source", "-window_start"], name="alert_batch_newest_of_source")]

    def __str__(self) -> str:
        return f"{len(self.alerts)} alerts"
