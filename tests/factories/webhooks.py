"""Webhooks that lead nowhere."""

from __future__ import annotations

import uuid

from archetypes_app.models import Golem
from golem_project.stream.models import WebhookDelivery, WebhookEndpoint
from tools_app.core import clock


def make_webhook(*, golem: Golem) -> WebhookEndpoint:
    """A webhook of the golem's owner."""
    return WebhookEndpoint.objects.create(
        owner=golem.owner,
        label="hook",
        url="https://hooks.example.org/",
        sealed_secret=b"sealed",
        log_id=uuid.uuid4(),
        created_at=clock.now(),
    )


def make_webhook_delivery(*, golem: Golem) -> WebhookDelivery:
    """A delivery that waits."""
    return WebhookDelivery.objects.create(
        endpoint=make_webhook(golem=golem),
        event_id=uuid.uuid4(),
        event_type="tool:end",
        position=1,
        next_attempt_at=clock.now(),
        created_at=clock.now(),
    )
