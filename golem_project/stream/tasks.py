"""Celery entry points of the event stream; they run on the queue `stream`, where nothing waits for them."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from golem_project.stream import retention, webhooks
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
def deliver_webhook_task(*, delivery_id: str) -> int:
    """Try one delivery and go on with its endpoint's; a second task for the same one finds it claimed."""
    return webhooks.deliver_in_a_row(delivery_id=UUID(delivery_id), read_clock=clock.now)


@shared_task(ignore_result=True)
def forget_old_events_task() -> int:
    """Delete events that are older than they are kept."""
    return retention.forget_old_events(now=clock.now())
