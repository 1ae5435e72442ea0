"""What a process lets go of before it forks: a child can use neither its connections nor a pool of them.

A pool that the publisher's thread opens at the moment of the fork would come over without the threads that fill it, and
the child would wait for a connection in vain.
"""

from __future__ import annotations

from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from tools_app.core import event_publisher

_PATIENCE_SECONDS = 30.0


def let_go_of_connections() -> None:
    """Close this process's connections and pools once its events are published. Raises TimeoutError."""
    if not event_publisher.PUBLISHER.wait(seconds=_PATIENCE_SECONDS):
        raise TimeoutError("events are not published; a fork would take half a pool along")
    for connection in connections.all():
        connection.close()
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
