"""A thread that ends gives its database session back, however it ends.

Django keeps a thread's session in what is local to the thread, in a circle of references: without a `close` it stays
out of the pool until Python's collector comes by, and a pool of twelve is empty after twelve such threads. What is
local to a thread is let go when the thread is over, though, and an object that is in no circle goes at once.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Any

from django.db.backends.signals import connection_created


class _Held:
    """Closes one thread's session when it is let go. In a fork it does nothing: the session is the parent's."""

    def __init__(self, connection: Any) -> None:  # Any: psycopg's connections are untyped here
        self._connection = connection
        self._process = os.getpid()

    def __del__(self) -> None:
        if os.getpid() == self._process:
            # At the end of the process there is nobody left to tell.
            with suppress(Exception):
                self._connection.close()


_local = threading.local()


def give_back_when_threads_end() -> None:
    """Have every thread but the main one give its sessions back at its end. Called once, at the start."""
    connection_created.connect(_hold, dispatch_uid="give sessions back")


def _hold(connection: Any, **_: Any) -> None:  # Any: psycopg's connections are untyped here
    if threading.current_thread() is threading.main_thread():
        return
    held: dict[str, _Held] = _local.__dict__.setdefault("held", {})
    if connection.alias not in held or held[connection.alias]._connection is not connection:
        held[connection.alias] = _Held(connection)
