"""Two transactions in a fixed order: one holds a row, the other is known to wait for it before the first goes on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection, transaction

from tools_app.core.clock import Deadline

T = TypeVar("T")


def run_behind(first: Callable[[], object], second: Callable[[], T]) -> T:
    """What `second` answers when it meets a row that `first` has changed and not committed yet.

    `first` runs here in a transaction that commits only once the thread of `second` waits for a lock.
    """

    def run() -> T:
        try:
            return second()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            first()
            waiting = thread.submit(run)
            give_up = Deadline.after_ms(60_000)
            while not somebody_waits() and not waiting.done():
                assert not give_up.is_over, "the second transaction never came to the row"
            assert not waiting.done(), f"the second transaction did not wait: {waiting.result()!r}"
        return waiting.result(timeout=30)


def somebody_waits() -> bool:
    """Whether any session of this database waits for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM pg_locks AS waiting JOIN pg_stat_activity AS who USING (pid) "
            "WHERE NOT waiting.granted AND who.datname = current_database())"
        )
        return bool(cursor.fetchone()[0])
