"""Keeps a forked child from its parent's database sessions.

A pool comes over without the threads that fill it, and the child would wait for a connection in vain. Any thread of the
parent may open one at the very moment of a fork (the publisher's, a request's), so nothing done before the fork is
enough: the child forgets what it finds.
"""

from __future__ import annotations

import os

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

# Kept for ever: a pool's end would wait for threads that are not here.
_LEFT_TO_THE_PARENT: list[object] = []


def connect_anew_after_forks() -> None:
    """Have every child of this process open sessions of its own. Called once, at the start."""
    os.register_at_fork(after_in_child=_leave_to_the_parent)


def _leave_to_the_parent() -> None:
    pools = DatabaseWrapper._connection_pools  # type: ignore[attr-defined]  # Django names no public way
    _LEFT_TO_THE_PARENT.extend(pools.values())
    pools.clear()
    for connection in connections.all(initialized_only=True):
        _LEFT_TO_THE_PARENT.append(connection.connection)
        connection.connection = None
