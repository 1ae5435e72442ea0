"""Deliveries tried outside their turns, at a time that the test names."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from golem_project.stream.deliveries import TriedDelivery, try_delivery
from golem_project.stream.models import WebhookDelivery


def list_due(now: datetime) -> list[UUID]:
    """What waits and has its time, of endpoints that are on."""
    rows = WebhookDelivery.objects.filter(state="WAITING", next_attempt_at__lte=now, endpoint__disabled_at=None)
    return list(rows.order_by("next_attempt_at", "position").values_list("pk", flat=True))


def deliver(delivery_id: UUID, now: datetime) -> bool:
    """Whether the receiver took it."""
    return try_delivery(delivery_id=delivery_id, now=now) is TriedDelivery.TAKEN


def deliver_all(now: datetime) -> int:
    """Try all that is due; how many were taken."""
    return sum(deliver(pk, now) for pk in list_due(now))
