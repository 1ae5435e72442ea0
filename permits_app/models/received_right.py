"""ReceivedRight and RightUse: what others let a golem move of their money, and what it moved."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q

from archetypes_app.models.golem import ADDRESS
from tools_app.core.models import TimeStamped
from tools_app.toolkit.others_money import RightKind


class RightState(models.TextChoices):
    STANDING = "STANDING", "Stands"
    WITHDRAWN = "WITHDRAWN", "Withdrawn by its principal"
    DROPPED = "DROPPED", "Dropped here: not used any more"
    ENDED = "ENDED", "Its time is over"


class ReceivedRight(TimeStamped):
    """A right over one token of one principal. Written by `permits_app.limits.received_rights` alone.

    It ends by itself at `ends_at`. What it lets move is its principal's and never counts as the golem's worth.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="received_rights")
    chain_id = models.PositiveBigIntegerField()
    protocol = models.CharField(max_length=64)
    reference = models.CharField(max_length=128, help_text="What the protocol calls it, such as a delegation's hash")
    kind = models.CharField(max_length=16, choices=[(each.value, each.value) for each in RightKind])
    principal = models.CharField(max_length=42, validators=[ADDRESS], help_text="Whose money it is")
    holder = models.CharField(max_length=42, validators=[ADDRESS], help_text="The account that may use it")
    token = models.CharField(max_length=42)
    most = models.DecimalField(max_digits=78, decimal_places=0, help_text="Base units in one period")
    period_seconds = models.PositiveBigIntegerField(help_text="0: once, over its whole life")
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    terms = models.JSONField(default=dict, help_text="What the protocol needs to use it; shown to nobody")
    state = models.CharField(max_length=9, choices=RightState.choices, default=RightState.STANDING)
    state_reason = models.CharField(max_length=255, blank=True)
    state_at = models.DateTimeField(null=True, blank=True, help_text="Since when it does not stand any more")
    available = models.DecimalField(
        max_digits=78, decimal_places=0, null=True, blank=True, help_text="Base units that its contract had left for it"
    )
    looked_at = models.DateTimeField(null=True, blank=True, help_text="When its contract was asked last")
    next_look_at = models.DateTimeField(null=True, blank=True, help_text="Nothing: it is looked at no more")
    last_error = models.CharField(max_length=255, blank=True)
    given_by = models.CharField(max_length=150, blank=True, help_text="Who brought it in here")

    class Meta:
        verbose_name = "received right"
        constraints = [
            models.UniqueConstraint(
                fields=["golem", "chain_id", "protocol", "reference", "token"], name="received_right_once"
            ),
            models.CheckConstraint(condition=Q(most__gt=0), name="received_right_of_something"),
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="received_right_ends_after_begin"),
            models.CheckConstraint(condition=~Q(principal=F("holder")), name="received_right_of_another"),
            models.CheckConstraint(condition=Q(state__in=RightState.values), name="received_right_known_state"),
            models.CheckConstraint(
                condition=Q(state="STANDING", state_at__isnull=True) | ~Q(state="STANDING") & Q(state_at__isnull=False),
                name="received_right_gone_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["golem", "ends_at"], condition=Q(state="STANDING"), name="received_right_open"),
            models.Index(fields=["next_look_at"], condition=Q(next_look_at__isnull=False), name="received_right_due"),
        ]

    def __str__(self) -> str:
        return f"right over {self.token} of {self.principal} ({self.state.lower()})"


class RightUse(models.Model):
    """What one permit may move, and once it is committed moved, under one right.

    It counts while its permit is open, and in the period in which its permit was committed.
    """

    id = models.BigAutoField(primary_key=True)
    right = models.ForeignKey(ReceivedRight, on_delete=models.PROTECT, related_name="uses")
    permit = models.ForeignKey("permits_app.ActionPermit", on_delete=models.PROTECT, related_name="right_uses")
    raw = models.DecimalField(max_digits=78, decimal_places=0, help_text="Base units of the right's token, at most")
    claimed_at = models.DateTimeField()

    class Meta:
        verbose_name = "use of a received right"
        constraints = [
            models.UniqueConstraint(fields=["right", "permit"], name="right_use_once_per_permit"),
            models.CheckConstraint(condition=Q(raw__gt=0), name="right_use_of_something"),
        ]
        indexes = [models.Index(fields=["right", "claimed_at"], name="right_use_by_time")]

    def __str__(self) -> str:
        return f"{self.raw} of right {self.right_id}"
