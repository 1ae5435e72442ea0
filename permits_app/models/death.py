"""Death: the end of one golem by the Death Protocol, from its announcement to its retirement or an owner's stop."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q


class DeathState(models.TextChoices):
    ANNOUNCED = "ANNOUNCED", "Announced"
    UNDER_WAY = "UNDER_WAY", "Under way"
    RETIRED = "RETIRED", "Retired"
    STOPPED = "STOPPED", "Stopped by an owner"


OPEN = (DeathState.ANNOUNCED, DeathState.UNDER_WAY)


class Death(models.Model):
    """At most one is open for a golem. Its state changes through `permits_app.halts.deaths` alone, the golem locked.

    `halt_epoch` is the halt that takes everything out; `left` is what that halt could not take out, and the owner can.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    golem = models.ForeignKey("archetypes_app.Golem", on_delete=models.PROTECT, related_name="deaths")
    state = models.CharField(max_length=9, choices=DeathState.choices, default=DeathState.ANNOUNCED)
    reason = models.TextField()
    actor = models.CharField(max_length=128)
    announced_at = models.DateTimeField()
    due_at = models.DateTimeField(help_text="Until then nothing happens, and an owner may stop it")
    halt_epoch = models.PositiveBigIntegerField(null=True, blank=True)
    left = models.JSONField(default=list, help_text="Positions that only an owner gets out, as they were last told")
    export_file = models.CharField(max_length=255, blank=True, help_text="The last export of its memory")
    export_sha256 = models.CharField(max_length=64, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=128, blank=True)

    class Meta:
        verbose_name = "death"
        constraints = [
            models.UniqueConstraint(fields=["golem"], condition=Q(state__in=OPEN), name="death_one_open_per_golem"),
            models.CheckConstraint(condition=Q(due_at__gte=models.F("announced_at")), name="death_due_when_announced"),
            models.CheckConstraint(
                condition=Q(state__in=OPEN, ended_at__isnull=True) | Q(ended_at__isnull=False) & ~Q(state__in=OPEN),
                name="death_ended_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"death of {self.golem}: {self.state.lower()}"
