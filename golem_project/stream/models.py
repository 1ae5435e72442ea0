"""Webhooks: where an owner wants events delivered, and each delivery with its tries."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from archetypes_app.models import Golem


class WebhookEndpoint(models.Model):
    """An https address of an owner that gets the events of their golems, or of one of them, signed."""

    id: Any = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhook_endpoints")
    golem = models.ForeignKey(
        Golem,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="webhook_endpoints",
        help_text="Only this golem's events; empty: those of all golems you own",
    )
    label = models.CharField(max_length=60)
    url = models.CharField(max_length=500, help_text="https; its host must have public addresses only")
    types = models.JSONField(default=list, blank=True, help_text="Wire names or families; empty: all")
    sealed_secret = models.BinaryField()
    old_sealed_secret = models.BinaryField(null=True, blank=True)
    old_secret_until = models.DateTimeField(null=True, blank=True)
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


class DeliveryState(models.TextChoices):
    """Where a delivery stands."""

    WAITING = "WAITING", "waiting"
    DELIVERED = "DELIVERED", "delivered"
    DEAD = "DEAD", "given up"


class WebhookDelivery(models.Model):
    """One event for one endpoint. It is tried until it is delivered or its time is over; then only a replay helps."""

    id: Any = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
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
