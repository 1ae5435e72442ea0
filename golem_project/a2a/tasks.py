"""Celery entry points of A2A. What waits for an asker's server runs on the queue `notices`, the rest on `stream`.

Every worker knows this module and few run it, so the protocol's own modules, slow to load, are loaded by the first run.
"""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from golem_project.stream.delivery_turns import LASTS_SECONDS, DeliveryTurn
from golem_project.stream.models import TurnKind
from golem_project.stream.publish_delivery_tasks import ask_for_turns
from permits_app.actions import record_paid_read
from tools_app.core import clock

_MOST_FOLLOWED = 500


@shared_task(ignore_result=True)
def follow_tasks_task() -> int:
    """Bring open tasks to where their permits are, and sales to what the chain says of their payments."""
    from golem_project.a2a import permit_of_task, settle_paid_read

    settle_paid_read.close_left(read_clock=clock.now)

    found = permit_of_task.list_behind(most=_MOST_FOLLOWED, now=clock.now())
    for task_id in found:
        permit_of_task.follow_task(task_id=task_id, now=clock.now())
    return len(found)


@shared_task(ignore_result=True)
def watch_sales_task() -> int:
    """Tell owners of golems that sell answers whether somebody carries payments out."""
    from golem_project.a2a import unsettled_sale_alert

    return unsettled_sale_alert.watch_sales(now=clock.now())


@shared_task(ignore_result=True)
def notify_due_task() -> int:
    """Ask for the notifications of each address that has its turn now."""
    return _ask_for_turns()


@shared_task(ignore_result=True, expires=LASTS_SECONDS)
def notify_task(*, receiver: str, turn_id: str) -> int:
    """Tell one address and pass the place on; a late or second task finds the turn is not its own."""
    from golem_project.a2a import notifications

    taken = notifications.take_turn(turn=DeliveryTurn(UUID(receiver), UUID(turn_id)), read_clock=clock.now)
    _ask_for_turns()
    return taken


@shared_task(ignore_result=True)
def forget_old_rows_task() -> int:
    """Delete finished tasks, challenges and visits that are over, and answers that nobody asks for again."""
    from golem_project.a2a import retention

    record_paid_read.forget_answers(now=clock.now())
    return retention.forget_old_rows(now=clock.now())


def _ask_for_turns() -> int:
    from golem_project.a2a import notifications

    now = clock.now()
    return ask_for_turns(kind=TurnKind.NOTICE, wanting=notifications.list_wanting(now=now), task=notify_task, now=now)
