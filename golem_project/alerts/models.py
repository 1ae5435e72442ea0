"""Stores the channels through which people are alerted, and each line that waits for one or was sent."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from archetypes_app.models import Golem
from tools_app.core.visible_text_columns import PlainCharField

MINUTES_OF_A_DAY = 1_440
MOST_CODES_AN_ADDRESS = 3
MOST_CODES_A_PERSON = 10


class ChannelKind(models.TextChoices):
    """How a message gets there."""

    EMAIL = "EMAIL", "E-mail"
    WEBHOOK = "WEBHOOK", "Chat that takes Slack's webhooks"
    TELEGRAM = "TELEGRAM", "Telegram bot"
    PUSH = "PUSH", "This browser or app"


class AlertChannel(models.Model):
    """A mailbox or a chat of one person. Its address and keys are sealed; nobody reads them back."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="alert_channels")
    golem = models.ForeignKey(
        Golem,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="alert_channels",
        help_text="Only this golem; empty: every golem this person sees",
    )
    label = PlainCharField(max_length=60)
    kind = models.CharField(max_length=10, choices=ChannelKind.choices)
    sealed_target = models.BinaryField(editable=False)
    topics = models.JSONField(default=list, help_text="Names of topics; empty: all")
    digest_minutes = models.PositiveSmallIntegerField(default=0, help_text="0: at once; else one message in so long")
    time_zone = models.CharField(max_length=48, default="UTC")
    quiet_from = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Minute of the day there")
    quiet_until = models.PositiveSmallIntegerField(null=True, blank=True)
    log_id = models.UUIDField()
    position = models.PositiveBigIntegerField()
    next_try_at = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)
    last_error = models.CharField(max_length=200, blank=True)
    last_sent_at = models.DateTimeField(null=True, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(
        null=True, blank=True, help_text="When the addressee agreed; nothing is sent before. A chat's own key agrees"
    )
    code_digest = models.CharField(max_length=64, blank=True, default="", db_default="", editable=False)
    code_ends_at = models.DateTimeField(null=True, blank=True, editable=False)
    code_tries = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "alert channel"
        constraints = [
            models.CheckConstraint(
                condition=Q(quiet_from__isnull=True, quiet_until__isnull=True)
                | Q(quiet_from__lt=MINUTES_OF_A_DAY, quiet_until__lt=MINUTES_OF_A_DAY),
                name="alert_channel_quiet_hours_are_both_or_none",
            ),
            models.CheckConstraint(
                condition=Q(digest_minutes__lte=MINUTES_OF_A_DAY), name="alert_channel_digest_a_day"
            ),
        ]

    def __str__(self) -> str:
        return self.label


class ConfirmationMail(models.Model):
    """One mail with a code that went out, so that nobody has a stranger's mailbox filled."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    day = models.DateField(db_index=True)
    address_digest = models.CharField(max_length=64)
    number_of_address = models.PositiveSmallIntegerField(help_text="Counted from 0 within the day")
    number_of_person = models.PositiveSmallIntegerField(help_text="Counted from 0 within the day")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["day", "address_digest", "number_of_address"], name="confirmation_mail_of_an_address"
            ),
            models.UniqueConstraint(fields=["day", "person", "number_of_person"], name="confirmation_mail_of_a_person"),
            models.CheckConstraint(
                condition=Q(number_of_address__lt=MOST_CODES_AN_ADDRESS, number_of_person__lt=MOST_CODES_A_PERSON),
                name="confirmation_mails_a_day",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day}"


class Alert(models.Model):
    """One line for one channel, once per event."""

    channel = models.ForeignKey(AlertChannel, on_delete=models.CASCADE, related_name="alerts")
    golem = models.ForeignKey(Golem, on_delete=models.CASCADE, related_name="+")
    event_id = models.UUIDField()
    text = models.CharField(max_length=300)
    path = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="The page of it on this server"
    )
    is_urgent = models.BooleanField(default=False)
    rank = models.PositiveSmallIntegerField(default=0, db_default=0, help_text="The lower, the less is put before it")
    happened_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel", "event_id"], name="alert_once_per_event")]
        indexes = [models.Index(fields=["channel"], condition=Q(sent_at__isnull=True), name="alert_waits")]

    def __str__(self) -> str:
        return self.text
