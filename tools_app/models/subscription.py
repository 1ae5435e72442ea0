"""Stores what a golem follows on a chain, and the place where each subscription goes on."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q


class SubscriptionKind(models.TextChoices):
    """What is followed; one streaming tool each."""

    POOL_EVENTS = "POOL_EVENTS", "events of a pool"
    POOL_STATE = "POOL_STATE", "state of a pool"
    POSITION_ALERTS = "POSITION_ALERTS", "alerts of a position"
    PRICE_FEED = "PRICE_FEED", "price of a pair"
    TRADES = "TRADES", "trades of a wallet"
    JAR = "JAR", "contents and releases of a jar"
    NEW_POOLS = "NEW_POOLS", "pools that are made"


class StreamSubscription(models.Model):
    """Polled every `interval_ms`. `version` rises with every poll that was written, so that two pollers write once.

    `trail` holds (block number, hash) pairs already looked at, and `told` the logs already emitted, both as far back
    as a reorganisation may reach: what a new branch lacks is taken back by an event.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    subscription_id = models.UUIDField(help_text="One id for the rows of all chains of one subscription")
    golem_id = models.UUIDField()
    kind = models.CharField(max_length=20, choices=SubscriptionKind.choices)
    chain_id = models.PositiveBigIntegerField()
    params = models.JSONField(default=dict)
    params_hash = models.CharField(max_length=66)
    interval_ms = models.PositiveIntegerField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    end_reason = models.CharField(max_length=100, blank=True)
    next_poll_at = models.DateTimeField()
    version = models.PositiveBigIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    trail = models.JSONField(default=list)
    told = models.JSONField(default=list)
    state = models.JSONField(default=dict)

    class Meta:
        verbose_name = "stream subscription"
        constraints = [
            models.UniqueConstraint(
                fields=["golem_id", "kind", "chain_id", "params_hash"],
                condition=Q(ended_at__isnull=True),
                name="stream_subscription_once",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | ~Q(end_reason=""), name="stream_subscription_ends_for_a_reason"
            ),
        ]
        indexes = [
            models.Index(fields=["next_poll_at"], condition=Q(ended_at__isnull=True), name="stream_subscription_due"),
            models.Index(fields=["golem_id", "subscription_id"], name="stream_subscription_of_golem"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} on {self.chain_id}"
