"""What a process makes sure of before it serves: the graph of who may ask whom, the tools, and the clock are what they
must be.

Web server, workers and beat refuse to start otherwise. A database that is away stops nothing here: without it nobody is
asked anything, and what it holds is read again by every request. Seed: 000, "Delegation rules".
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection

from archetypes_app.graph import check_builtin_graph, find_stored_violations
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.registry import REGISTRY

logger = logging.getLogger(__name__)

MOST_CLOCK_DIFFERENCE = timedelta(seconds=10)
"""Permits live for a minute by the clock of whoever looks; further apart, one process would take for valid what is over
to another.
"""


def check_before_serving() -> None:
    """Raises ImproperlyConfigured, which ends the process. Opens no connection that it keeps."""
    # An asynchronous server imports its application inside its loop, where the database may not be asked.
    with ThreadPoolExecutor(max_workers=1) as apart:
        apart.submit(_check).result()


def _check() -> None:
    if not REGISTRY.is_frozen:
        raise ImproperlyConfigured("the registry of tools is still open")
    try:
        check_builtin_graph()
        _check_clock()
        violations = find_stored_violations()
    except GolemError as error:
        raise ImproperlyConfigured(f"built-in delegation graph: {error.detail}") from None
    except DatabaseError as error:
        logger.warning("the stored archetypes cannot be read at start-up: %s", error)
        return
    finally:
        connection.close()
    if violations:
        told = "; ".join(error.detail for error in violations)
        raise ImproperlyConfigured(f"stored delegation graph: {told}; mend it in the admin or with sync_builtins")


def _check_clock() -> None:
    """Raises ImproperlyConfigured for a clock that is not that of the database, which all processes share."""
    before = clock.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (shared,) = cursor.fetchone()
    after = clock.now()
    if not before - MOST_CLOCK_DIFFERENCE <= shared <= after + MOST_CLOCK_DIFFERENCE:
        raise ImproperlyConfigured(
            f"the clock of this machine says {after.isoformat()} and the database's {shared.isoformat()}; set one"
        )
