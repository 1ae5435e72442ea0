"""Celery entry points of the event stream; they run on the queue `stream`, where nothing waits for them."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from golem_project.stream import webhooks
from tools_app.core import clock, dispatch


@shared_task(ignore_result=True)
def spread_webhooks_task() -> int:
    """Make deliveries of new events and ask for a try of each that is due."""
    webhooks.spread_events(now=clock.now())
    due = webhooks.list_due(now=clock.now())
    for delivery_id in due:
        dispatch.enqueue(deliver_webhook_task, delivery_id=str(delivery_id))
    return len(due)


@shared_task(ignore_result=True)
def deliver_webhook_task(*, delivery_id: str) -> bool:
    """Try one delivery; a second task for the same one finds it claimed."""
    return webhooks.deliver(delivery_id=UUID(delivery_id), now=clock.now())
