"""Asks workers to take the turns that are given: one task for each, and none for what already has one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from celery import Task

from golem_project.stream import delivery_turns
from golem_project.stream.delivery_turns import Wanting
from golem_project.stream.models import TurnKind
from tools_app.core import worker_dispatch
from tools_app.core.errors import BrokerUnavailable


def ask_for_turns(*, kind: TurnKind, wanting: Sequence[Wanting], task: Task[..., object], now: datetime) -> int:
    """Give turns and publish `task` with each. Raises BrokerUnavailable; then what was not published is given back."""
    given = delivery_turns.give_turns(kind=kind, wanting=wanting, now=now)
    for place, turn in enumerate(given):
        try:
            worker_dispatch.enqueue(task, receiver=str(turn.receiver), turn_id=str(turn.turn_id))
        except BrokerUnavailable:
            for unasked in given[place:]:
                delivery_turns.give_back(kind=kind, turn=unasked)
            raise
    return len(given)
