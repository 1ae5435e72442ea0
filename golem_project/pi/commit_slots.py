"""Limits how many commits of one token wait at a time, across all web processes.

A slot is a key that exists or not, taken with one atomic SET NX and gone by itself when its holder dies, so the count
can never drift. A broker that is down refuses the wait, and with it the commit: nothing was started.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings

from permits_app.errors import TooManyWaiting
from tools_app.core import broker

_MARGIN_SECONDS = 10


@contextmanager
def waiting_slot(api_key_id: UUID, *, request_id: str) -> Iterator[None]:
    """Hold one of the key's waiting places. Raises TooManyWaiting; redis errors pass through."""
    slot = _take(api_key_id, request_id)
    try:
        yield
    finally:
        broker.connect(silence_seconds=3).delete(slot)


def _take(api_key_id: UUID, request_id: str) -> str:
    places = settings.GOLEM_COMMIT_WAITERS_PER_KEY
    life_seconds = int(settings.GOLEM_COMMIT_WAIT_SECONDS) + _MARGIN_SECONDS
    for place in range(places):
        slot = name_slot(api_key_id, place)
        if broker.connect(silence_seconds=3).set(slot, request_id, nx=True, ex=life_seconds):
            return slot
    raise TooManyWaiting(
        f"{places} commits of this token are waiting; this one was not started",
        limit=places,
        retry_after_seconds=2,
    )


def name_slot(api_key_id: UUID, place: int) -> str:
    """The key of one of its waiting places, from 0."""
    return f"golem:commit-wait:{api_key_id}:{place}"
