"""Gives previews their turns between owners, so that one owner's crowd keeps nobody else waiting.

A few are with the workers at a time, the rest wait in the server process that took them, by whoever has least there.
What is beyond those who may wait is refused at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from django.conf import settings
from django.db import connection, connections

from permits_app.errors import TooManyPreviews
from tools_app.core.fair_queue_places import NoRoom, Turns


@cache
def preview_turns() -> Turns:
    """The turns of this process, as the settings are when the first asks."""
    places = settings.GOLEM_PREVIEWS_AT_ONCE
    return Turns(
        places=places,
        # One place is left for others, so that who has none waits for a worker alone.
        of_one=max(1, places - 1),
        # Beside another owner it is one, and a worker of two is free for them.
        beside_others=1,
        waiting=settings.GOLEM_PREVIEWS_WAITING,
        waiting_of_one=settings.GOLEM_PREVIEWS_WAITING_OF_ONE_OWNER,
    )


@contextmanager
def preview_turn(owner: str) -> Iterator[None]:
    """Hold one of the places. Waits without a connection to the database. Raises TooManyPreviews."""
    granted = threading.Event()
    turns = preview_turns()
    try:
        turn = turns.ask(owner, granted.set)
    except NoRoom as error:
        raise _refuse(is_own=error.of_one) from None
    try:
        if not turn.is_granted:
            if not connection.in_atomic_block:
                connections.close_all()
            if not granted.wait(settings.GOLEM_PREVIEW_WAIT_SECONDS):
                raise _refuse(is_own=False)
        yield
    finally:
        turns.leave(turn)


def _refuse(*, is_own: bool) -> TooManyPreviews:
    whose = "of this owner's golems" if is_own else "of all golems"
    return TooManyPreviews(
        f"as many previews {whose} wait as may; this one was not begun. Ask again shortly", retry_after_seconds=1
    )
