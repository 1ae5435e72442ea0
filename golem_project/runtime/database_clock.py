"""Makes all processes keep the database's clock, so that none ends a wait before that one does.

A worker whose own clock is ahead would carry out at once what owners gave two days to be stopped, and count yesterday's
spending as over. Whoever begins a request or a task asks the database where its own clock jumped, and now and then
(`tools_app/core/clock.py`).
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from django.db import DatabaseError, connection

from golem_project.runtime.start_conditions import MOST_CLOCK_DIFFERENCE
from tools_app.core import clock

logger = logging.getLogger(__name__)


def begin_to_hold() -> None:
    """From here on this process holds its clock to the database's; where that is away it begins with its own."""
    clock.hold_to(clock.wall(), within=MOST_CLOCK_DIFFERENCE)
    # A server begins inside its loop, where the database may not be asked.
    with ThreadPoolExecutor(max_workers=1) as apart:
        apart.submit(_begin).result()


def follow_database() -> None:
    """Compare where there is a reason to; without a database time goes on from where it was."""
    if clock.is_doubtful():
        _compare()


def _begin() -> None:
    try:
        _compare()
    finally:
        connection.close()


def _compare() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            (shared,) = cursor.fetchone()
    except DatabaseError as error:
        logger.warning("the database could not be asked for the time: %s", type(error).__name__)
        return
    if not clock.hold_to(shared, within=MOST_CLOCK_DIFFERENCE):
        logger.error("the clock of this process is not the database's; it goes on by the database's")
