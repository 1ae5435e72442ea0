"""The Celery entry point of conversations."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from golem_project.chat.answering import answer_turn
from tools_app.core import clock


@shared_task(ignore_result=True)
def answer_turn_task(*, turn_id: str, **_: object) -> None:
    """One message; delivered twice it is answered once."""
    answer_turn(turn_id=UUID(turn_id), read_now=clock.now)
