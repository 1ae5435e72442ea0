"""StandingPlan: a schedule of equal trades that a golem's agent proposed and its owners agreed to."""

from __future__ import annotations

import uuid
from typing import Final

from django.db import models
from django.db.models import F, Q, QuerySet

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped

STANDING_PLAN: Final = "standing_plan"
"""What the request is called by which owners agree to one."""
KEY: Final = "standing:"
"""How the wishes of plans begin; their id follows."""


class PlanKind(models.TextChoices):
    PURCHASE = "purchase", "Buys regularly"
    REBALANCE = "rebalance", "Keeps a share"


class StandingPlan(TimeStamped):
    """`amount_raw` base units of `token_in` are given for `token_out` every `every_hours` at `venue`, at most `times`
    and until `ends_at`. One that keeps a share trades whichever of the two is too much of, and at most as much at once.

    Each time is a permit like any other. Ended by its owners, by its agent or by a halt, it does nothing more.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.CASCADE, related_name="standing_plans")
    kind = models.CharField(max_length=10, choices=PlanKind.choices)
    venue = models.CharField(max_length=64)
    token_in = models.CharField(max_length=42, validators=[ADDRESS])
    token_out = models.CharField(max_length=42, validators=[ADDRESS])
    words = models.CharField(max_length=300, help_text="Itself in one sentence, as its owners read it")
    amount_raw = models.DecimalField(max_digits=78, decimal_places=0, help_text="Base units of what is given each time")
    every_hours = models.PositiveIntegerField()
    times = models.PositiveIntegerField(help_text="How often at most")
    slippage_bps = models.PositiveIntegerField()
    share_percent = models.PositiveIntegerField(
        null=True, blank=True, help_text="What the first token is to be of both, in percent; of one that keeps a share"
    )
    ends_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When it was ended before its time")
    ended_by = models.CharField(max_length=120, blank=True)

    class Meta:
        verbose_name = "standing plan"
        constraints = [
            models.CheckConstraint(
                condition=Q(amount_raw__gt=0, every_hours__gt=0, times__gt=0), name="standing_plan_of_something"
            ),
            models.CheckConstraint(condition=~Q(token_in=F("token_out")), name="standing_plan_of_two_tokens"),
            models.CheckConstraint(
                condition=Q(kind="purchase", share_percent__isnull=True)
                | Q(kind="rebalance", share_percent__gt=0, share_percent__lt=100),
                name="standing_plan_share_of_its_kind",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, ended_by="") | Q(ended_at__isnull=False) & ~Q(ended_by=""),
                name="standing_plan_ended_by_somebody",
            ),
        ]
        indexes = [
            models.Index(fields=["golem"], condition=Q(ended_at__isnull=True), name="standing_plan_open"),
        ]

    def __str__(self) -> str:
        return self.words

    @property
    def wish_key(self) -> str:
        """What its actions are wanted for, the same from tick to tick."""
        return f"{KEY}{self.pk}"


def list_open_plans(golem_id: uuid.UUID) -> QuerySet[StandingPlan]:
    """Those of a golem that nobody ended, the oldest first; their time may be over."""
    return StandingPlan.objects.filter(golem_id=golem_id, ended_at__isnull=True).order_by("created_at", "id")
