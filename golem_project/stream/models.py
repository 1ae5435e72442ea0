"""Webhooks: where an owner wants events delivered, each delivery with its tries; and whose turn it is."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from archetypes_app.models import Golem
from tools_app.core.visible_text_columns import PlainCharField


class WebhookEndpoint(models.Model):
    """An https address of an owner that gets the events of their golems, or of one of them, signed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhook_endpoints")
    golem = models.ForeignKey(
        Golem,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="webhook_endpoints",
        help_text="Only this golem's events; empty: those of all golems you own",
    )
    label = PlainCharField(max_length=60)
    url = models.CharField(max_length=500, help_text="https; its host must have public addresses only")
    types = models.JSONField(default=list, blank=True, help_text="Wire names or families; empty: all")
    sealed_secret = models.BinaryField()
    log_id = models.UUIDField(help_text="The event log `position` counts in")
    position = models.PositiveBigIntegerField(default=0, help_text="Everything up to here was handed over")
    failing_since = models.DateTimeField(null=True, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "webhook"
        constraints = [
            models.CheckConstraint(
                condition=Q(disabled_at__isnull=True) | ~Q(disabled_reason=""), name="webhook_disabled_for_a_reason"
            )
        ]

    def __str__(self) -> str:
        return self.label


class OldSecret(models.Model):
    """A secret that was replaced and signs along until its time is over."""

    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="old_secrets")
    sealed_secret = models.BinaryField()
    until = models.DateTimeField()

    class Meta:
        verbose_name = "replaced secret of a webhook"
        verbose_name_plural = "replaced secrets of webhooks"

    def __str__(self) -> str:
        return f"a secret of {self.endpoint_id} until {self.until}"


class DeliveryState(models.TextChoices):
    """Where a delivery stands."""

    WAITING = "WAITING", "waiting"
    DELIVERED = "DELIVERED", "delivered"
    DEAD = "DEAD", "given up"


class WebhookDelivery(models.Model):
    """One event for one endpoint. It is tried until it is delivered or its time is over; then only a replay helps."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField()
    event_type = models.CharField(max_length=48)
    position = models.PositiveBigIntegerField()
    state = models.CharField(max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    first_tried_at = models.DateTimeField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    last_status = models.PositiveSmallIntegerField(null=True, blank=True)
    last_error = models.CharField(max_length=200, blank=True)
    last_duration_ms = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "webhook delivery"
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "event_id"], name="webhook_delivery_once_per_event"),
            models.CheckConstraint(
                condition=(Q(state="WAITING") & Q(next_attempt_at__isnull=False))
                | (~Q(state="WAITING") & Q(next_attempt_at__isnull=True)),
                name="webhook_delivery_waits_for_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["next_attempt_at"], condition=Q(state="WAITING"), name="webhook_delivery_due"),
            models.Index(fields=["endpoint", "-position"], name="webhook_delivery_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} #{self.position}"


class TurnKind(models.TextChoices):
    """What is sent to whom: each kind has places of its own."""

    WEBHOOK = "WEBHOOK", "deliveries of webhooks"
    ALERT = "ALERT", "messages of alert channels"
    NOTICE = "NOTICE", "notices to other agents"


class OutgoingTurn(models.Model):
    """What is known of one receiver: whether it is being sent to, and until when; since when it fails. See `turns`."""

    kind = models.CharField(max_length=10, choices=TurnKind.choices)
    receiver = models.UUIDField(help_text="The webhook, the channel or the notification address")
    person_id = models.BigIntegerField(help_text="Whose it is: places are shared out between people")
    turn_id = models.UUIDField(null=True, help_text="Who sends now; a task with another id is late and does nothing")
    until = models.DateTimeField(null=True, help_text="When the turn ends, if whoever has it is heard of no more")
    given_at = models.DateTimeField()
    failures = models.PositiveSmallIntegerField(default=0, help_text="Turns in a row that ended with a failure")
    not_before = models.DateTimeField(null=True)
    was_slow = models.BooleanField(default=False)

    class Meta:
        verbose_name = "turn to be sent to"
        verbose_name_plural = "turns to be sent to"
        constraints = [
            models.UniqueConstraint(fields=["kind", "receiver"], name="outgoing_one_turn_per_receiver"),
            models.CheckConstraint(
                condition=Q(turn_id__isnull=True, until__isnull=True) | Q(turn_id__isnull=False, until__isnull=False),
                name="outgoing_turn_has_an_end",
            ),
        ]
        indexes = [models.Index(fields=["kind", "until"], condition=Q(until__isnull=False), name="outgoing_turn_busy")]

    def __str__(self) -> str:
        return f"{self.kind} {self.receiver}"
