"""Django's PostgreSQL, whose pool looks at a connection before it is handed out and seldom asks the server about it.

The library's own check is a round trip, and every request and every task takes a connection at least once. A server
that closed one, or ended, has said so on the connection's socket, where it is seen without asking; every few seconds it
is asked all the same, for a line that something between the two has dropped.
"""

from __future__ import annotations

import select
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.db.utils import OperationalError as DatabaseAway
from django.utils.functional import cached_property
from psycopg import OperationalError
from psycopg.errors import ReadOnlySqlTransaction
from psycopg_pool import ConnectionPool

from golem_project.runtime import process_name
from tools_app.core import clock
from tools_app.core.resource_errors import BY_STATE, note_exhausted

BELIEVED_MS: Final = 5_000
NEW_MS: Final = 1_000
Connection = Any  # Any: a connection of the pool, whose rows are of any kind
_asked_ms: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()


class ReadOnlySessions:
    """Which sessions of this process take no writes, once one was met: a session keeps it when the server changes.

    They are read with, and parted with at their next use, so that soon after the server takes writes all do.
    """

    def __init__(self) -> None:
        self.was_met = False
        self._take_writes: WeakSet[object] = WeakSet()
        self._opened_ms: WeakKeyDictionary[object, float] = WeakKeyDictionary()

    def note_opened(self, connection: object, now_ms: float) -> None:
        """A pool opened it: how old it is counts from here, and not from its first use."""
        self._opened_ms.setdefault(connection, now_ms)

    def meet(self) -> None:
        """A write was refused: every session is asked before its next use."""
        self.was_met = True
        self._take_writes = WeakSet()

    def may_use(self, connection: object, now_ms: float) -> bool:
        """Whether it takes writes, or is so new that another one would take none either."""
        if connection in self._take_writes:
            return True
        if not _takes_writes(connection):
            return now_ms - self._opened_ms.setdefault(connection, now_ms) < NEW_MS
        self._take_writes.add(connection)
        return True


_read_only = ReadOnlySessions()


class ErrorWrapper(DatabaseErrorWrapper):
    """Django's own, to which a database that takes no writes is away like any other, and what has run out is noted."""

    def __init__(self, wrapper: base.DatabaseWrapper) -> None:
        super().__init__(wrapper)
        self.wrapper = wrapper

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:  # Any: as Django's own has them
        kind = BY_STATE.get(getattr(exc_value, "sqlstate", None) or "")
        if kind is not None:
            note_exhausted(kind.code)
        if isinstance(exc_value, ReadOnlySqlTransaction):
            _read_only.meet()
            self.wrapper.errors_occurred = True
            raise DatabaseAway(*exc_value.args).with_traceback(traceback) from exc_value
        super().__exit__(exc_type, exc_value, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """One connection of a thread, from the pool of this process."""

    @cached_property
    def wrap_database_errors(self) -> ErrorWrapper:
        """What the driver raises, as what the product waits for and names."""
        return ErrorWrapper(self)

    @property
    def pool(self) -> Any:  # Any: Django's own, of which its types know nothing
        """Django's own, with our check in place of the library's; None where there is no pool."""
        pool = super().pool
        # Django takes every option of a pool from the settings but this one.
        if pool is not None and pool._check is ConnectionPool.check_connection:
            pool._check = check_connection
        return pool

    def get_connection_params(self) -> dict[str, object]:
        """Django's own, with the name of this process: an operator sees at the server whose a session is."""
        return {"application_name": process_name.tell(), **super().get_connection_params()}

    def _configure_connection(self, connection: object) -> bool:
        """Set up what was just opened, and note when that was."""
        _read_only.note_opened(connection, clock.monotonic_ms())
        return bool(super()._configure_connection(connection))  # type: ignore[misc]


def check_connection(connection: Connection) -> None:
    """Raises OperationalError for a connection that cannot be used; then its pool parts with all that cannot.

    A server that ended took every connection along. The library tries them one by one, and waits longer each time.
    """
    now_ms = clock.monotonic_ms()
    if _read_only.was_met and not _read_only.may_use(connection, now_ms):
        # Its pool parts with what is closed, and opens another.
        connection.close()
        raise OperationalError("this session takes no writes")
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


def _takes_writes(connection: Connection) -> bool:
    before = connection.autocommit
    connection.autocommit = True
    try:
        return bool(connection.execute("SHOW transaction_read_only").fetchone() == ("off",))
    finally:
        connection.autocommit = before


def _has_word(connection: Connection) -> bool:
    """Whether the server has said something unasked, such as that it is gone."""
    look = select.poll()
    look.register(connection.fileno(), select.POLLIN)
    return bool(look.poll(0))
