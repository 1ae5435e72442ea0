"""Retries a whole transaction that PostgreSQL aborted for the sake of others (a deadlock, a serialization failure).

One order of locks (`lock_order`) leaves little to repeat; what remains is met here and counted, so that a rising count
is seen where the machinery's health is shown. What was rolled back left nothing: no row, no event, no audit entry, no
hook of its commit.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection

from tools_app.core import event_bus
from tools_app.core.models import RepeatedTransaction
from tools_app.core.resource_errors import find_state

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

REPEATED = {"40P01": "deadlock", "40001": "serialization failure", "55P03": "lock not given in time"}
"""SQLSTATEs after which the same transaction may succeed, and their names."""
MOST_ATTEMPTS = 5
_FIRST_WAIT_SECONDS = 0.01


def retry_aborted(action: Callable[P, T]) -> Callable[P, T]:
    """`action` holds one transaction and touches nothing but the database; it is called again when that was given up.

    Inside a transaction of the caller it is called once: only the outermost can be repeated. What `action` changes of
    the objects it was handed, it must set anew when it is called again.
    """

    @wraps(action)
    def attempt(*args: P.args, **kwargs: P.kwargs) -> T:
        if connection.in_atomic_block:
            return action(*args, **kwargs)
        held = event_bus.list_held()
        for number in range(1, MOST_ATTEMPTS):
            try:
                return action(*args, **kwargs)
            except OperationalError as error:
                state = find_state(error)
                if state not in REPEATED or connection.in_atomic_block:
                    raise
                event_bus.hold_again(held)
                _count(state, action)
                # Jitter, or the two that met here meet again.
                time.sleep(random.uniform(0.5, 1.5) * _FIRST_WAIT_SECONDS * 2**number)  # noqa: S311  (no secret)
        return action(*args, **kwargs)

    return attempt


def count_repeated() -> dict[str, int]:
    """How often each was met, by all processes since the database was made."""
    return {REPEATED.get(row.state, row.state): row.count for row in RepeatedTransaction.objects.order_by("state")}


def _count(state: str, action: Callable[..., object]) -> None:
    place = f"{action.__module__}.{action.__qualname__}"
    logger.warning("repeated after a %s: %s", REPEATED[state], place)
    try:
        with connection.cursor() as cursor:
            cursor.execute(_COUNT_SQL, {"state": state, "place": place[:200]})
    except OperationalError:
        logger.warning("and not counted")


_TABLE = RepeatedTransaction._meta.db_table
_COUNT_SQL = f"""
INSERT INTO {_TABLE} AS known (state, count, last_place, last_at) VALUES (%(state)s, 1, %(place)s, now())
ON CONFLICT (state) DO UPDATE SET count = known.count + 1, last_place = %(place)s, last_at = now()
"""  # noqa: S608  (the table's own name)
