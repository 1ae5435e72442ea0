"""At most a few commits of one token wait at a time, across all web processes.

A slot is a key that exists or not, taken with one atomic SET NX and gone by itself when its holder dies, so the count
can never drift. A broker that is down refuses the wait, and with it the commit: nothing was started.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.core.cache import cache

from permits_app.errors import TooManyWaiting

_MARGIN_SECONDS = 10


@contextmanager
def waiting_slot(api_key_id: UUID, *, request_id: str) -> Iterator[None]:
    """Hold one of the key's waiting places. Raises TooManyWaiting; redis errors pass through."""
    slot = _take(api_key_id, request_id)
    try:
        yield
    finally:
        cache.delete(slot)


def _take(api_key_id: UUID, request_id: str) -> str:
    places = settings.GOLEM_COMMIT_WAITERS_PER_KEY
    life_seconds = settings.GOLEM_COMMIT_WAIT_SECONDS + _MARGIN_SECONDS
    for place in range(places):
        slot = f"commit-wait:{api_key_id}:{place}"
        if cache.add(slot, request_id, timeout=life_seconds):
            return slot
    raise TooManyWaiting(
        f"{places} commits of this token are waiting; this one was not started",
        limit=places,
        retry_after_seconds=2,
    )
