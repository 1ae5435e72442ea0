"""Celery entry points of the event stream. What waits for receivers of webhooks runs on the queue `webhooks`, the rest
on `stream`; nothing waits for either.
"""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from golem_project.stream import deliveries, publish_delivery_tasks, retention, webhooks
from golem_project.stream.delivery_turns import LASTS_SECONDS, DeliveryTurn
from golem_project.stream.models import TurnKind
from tools_app.core import clock


@shared_task(ignore_result=True)
def spread_webhooks_task() -> int:
    """Make deliveries of new events and ask for a turn of each endpoint that has its turn now."""
    webhooks.spread_events(now=clock.now())
    return _ask_for_turns()


@shared_task(ignore_result=True, expires=LASTS_SECONDS)
def deliver_webhooks_task(*, receiver: str, turn_id: str) -> int:
    """Take one endpoint's turn and pass the place on; a late or second task finds the turn is not its own."""
    taken = deliveries.take_turn(turn=DeliveryTurn(UUID(receiver), UUID(turn_id)), read_clock=clock.now)
    _ask_for_turns()
    return taken


@shared_task(ignore_result=True)
def forget_old_events_task() -> int:
    """Delete events that are older than they are kept, secrets that sign no more and turns that say nothing."""
    return retention.forget_old_events(now=clock.now())


def _ask_for_turns() -> int:
    now = clock.now()
    return publish_delivery_tasks.ask_for_turns(
        kind=TurnKind.WEBHOOK, wanting=deliveries.list_wanting(now=now), task=deliver_webhooks_task, now=now
    )
