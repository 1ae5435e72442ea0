"""VitalityRecord: the newest vitality of one golem, and what it needs to remember between ticks to compute it."""

from __future__ import annotations

from django.db import models

from archetypes_app.models.golem import Golem
from archetypes_app.vitality import MILLION


def _millionths(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(
        condition=models.Q(**{f"{name}__range": (0, MILLION)}), name=f"vitality_record_{name}"
    )


class VitalityRecord(models.Model):
    """The figures of the last tick that measured. The budget is the balance of the first tick that found one.

    A decision cycle keeps its own copy, so the course over time is there; this row is what the next tick goes on from.
    """

    golem = models.OneToOneField(Golem, primary_key=True, on_delete=models.CASCADE, related_name="vitality_record")
    starting_budget_micro_usd = models.BigIntegerField(
        null=True, help_text="Micro-USD the golem set out with; empty after an owner's reset, until the next reading"
    )
    balance_micro_usd = models.BigIntegerField(help_text="Micro-USD it was worth at this tick")
    predictions = models.PositiveIntegerField(default=0)
    correct_predictions = models.PositiveIntegerField(default=0)
    hazard_millionths = models.PositiveIntegerField(default=0, help_text="Accumulated since `since_tick`")
    economic = models.PositiveIntegerField(help_text="Millionths")
    epistemic = models.PositiveIntegerField(help_text="Millionths")
    stochastic = models.PositiveIntegerField(help_text="Millionths")
    value = models.PositiveIntegerField(help_text="The product, millionths")
    since_tick = models.PositiveBigIntegerField(
        help_text="Heartbeat tick this life began at; an owner's reset moves it"
    )
    heartbeat_tick = models.PositiveBigIntegerField(help_text="Heartbeat tick of these figures")
    measured_at = models.DateTimeField()

    class Meta:
        verbose_name = "vitality"
        verbose_name_plural = "vitality"
        constraints = [
            _millionths("economic"),
            _millionths("epistemic"),
            _millionths("stochastic"),
            _millionths("value"),
            _millionths("hazard_millionths"),
            models.CheckConstraint(
                condition=models.Q(starting_budget_micro_usd__isnull=True) | models.Q(starting_budget_micro_usd__gt=0),
                name="vitality_record_budget_positive",
            ),
            models.CheckConstraint(
                condition=models.Q(correct_predictions__lte=models.F("predictions")),
                name="vitality_record_correct_within_made",
            ),
            models.CheckConstraint(
                condition=models.Q(heartbeat_tick__gte=models.F("since_tick")), name="vitality_record_ticks_in_order"
            ),
        ]

    def __str__(self) -> str:
        return f"vitality of {self.golem}"
