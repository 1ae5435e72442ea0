"""The Warden: whether a golem's actions are announced before they happen, and what is announced."""

from __future__ import annotations

from django.db import models

from tools_app.core.models import TimeStamped


class Warden(TimeStamped):
    """A golem's setting. Off: permits are executed as soon as everything else allows it."""

    golem = models.OneToOneField("archetypes_app.Golem", on_delete=models.CASCADE, related_name="warden")
    is_on = models.BooleanField(default=False, help_text="Announce each action and wait before it is executed")

    class Meta:
        verbose_name = "warden"

    def __str__(self) -> str:
        return "on" if self.is_on else "off"


class AnnouncementState(models.TextChoices):
    WAITING = "WAITING", "Waiting"
    EXECUTED = "EXECUTED", "Executed"
    CANCELLED = "CANCELLED", "Cancelled"
    EXPIRED = "EXPIRED", "Expired"


class Announcement(models.Model):
    """One announced permit: executed from `executes_at` on, expired when that did not happen by `expires_at`."""

    permit = models.OneToOneField("permits_app.ActionPermit", on_delete=models.PROTECT, related_name="announcement")
    state = models.CharField(max_length=10, choices=AnnouncementState.choices, default=AnnouncementState.WAITING)
    announced_at = models.DateTimeField()
    executes_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    announced_by = models.CharField(max_length=128)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "announcement"
        indexes = [
            models.Index(fields=["executes_at"], condition=models.Q(state="WAITING"), name="announcement_waiting")
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(executes_at__gte=models.F("announced_at"))
                & models.Q(expires_at__gt=models.F("executes_at")),
                name="announcement_in_order",
            )
        ]

    def __str__(self) -> str:
        return f"{self.state.lower()}, due {self.executes_at:%Y-%m-%d %H:%M:%S}"
