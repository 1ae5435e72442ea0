"""Celery entry points of alerts. What waits for mail servers and chats has the queue `alerts`, the rest `stream`."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from golem_project.alerts import channels
from golem_project.stream.delivery_turns import LASTS_SECONDS, DeliveryTurn
from golem_project.stream.models import TurnKind
from golem_project.stream.publish_delivery_tasks import ask_for_turns
from tools_app.core import clock


@shared_task(ignore_result=True)
def gather_alerts_task() -> int:
    """Write down what is new and ask for a message of each channel that has its turn now."""
    channels.gather_alerts(now=clock.now())
    return _ask_for_turns()


@shared_task(ignore_result=True, expires=LASTS_SECONDS)
def send_alerts_task(*, receiver: str, turn_id: str) -> bool:
    """Send what waits for one channel and pass the place on; a late or second task finds the turn is not its own."""
    is_sent = channels.take_turn(turn=DeliveryTurn(UUID(receiver), UUID(turn_id)), read_clock=clock.now)
    _ask_for_turns()
    return is_sent


def _ask_for_turns() -> int:
    now = clock.now()
    return ask_for_turns(kind=TurnKind.ALERT, wanting=channels.list_wanting(now=now), task=send_alerts_task, now=now)
