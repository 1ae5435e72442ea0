"""Django's PostgreSQL, whose pool looks at a connection before it is handed out and seldom asks the server about it.

The library's own check is a round trip, and every request and every task takes a connection at least once. A server
that closed one, or ended, has said so on the connection's socket, where it is seen without asking; every few seconds it
is asked all the same, for a line that something between the two has dropped.
"""

from __future__ import annotations

import select
from typing import Any, Final
from weakref import WeakKeyDictionary

from django.db.backends.postgresql import base
from psycopg import OperationalError
from psycopg_pool import ConnectionPool

from tools_app.core import clock

BELIEVED_MS: Final = 5_000
_asked_ms: WeakKeyDictionary[Any, float] = WeakKeyDictionary()


class DatabaseWrapper(base.DatabaseWrapper):
    """One connection of a thread, from the pool of this process."""

    @property
    def pool(self) -> Any:
        """Django's own, with our check in place of the library's; None where there is no pool."""
        pool = super().pool
        # Django takes every option of a pool from the settings but this one.
        if pool is not None and pool._check is ConnectionPool.check_connection:
            pool._check = check_connection
        return pool


def check_connection(connection: Any) -> None:
    """Raises OperationalError for a connection that cannot be used; then its pool parts with all that cannot.

    A server that ended took every connection along. The library tries them one by one, and waits longer each time.
    """
    now_ms = clock.monotonic_ms()
    if now_ms - _asked_ms.get(connection, -BELIEVED_MS) < BELIEVED_MS and not _has_word(connection):
        return
    try:
        ConnectionPool.check_connection(connection)
    except OperationalError:
        pool = getattr(connection, "_pool", None)
        if pool is not None:
            pool.check()
        raise
    _asked_ms[connection] = now_ms


def _has_word(connection: Any) -> bool:
    """Whether the server has said something unasked, such as that it is gone."""
    look = select.poll()
    look.register(connection.fileno(), select.POLLIN)
    return bool(look.poll(0))
