"""What a process makes sure of before it serves: the graph of who may ask whom, and the tools, are what they must be.

Web server, workers and beat refuse to start otherwise. A database that is away stops nothing here: without it nobody is
asked anything, and what it holds is read again by every request. Seed: 000, "Delegation rules".
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection

from archetypes_app.graph import check_builtin_graph, find_stored_violations
from tools_app.core.errors import GolemError
from tools_app.toolkit.registry import REGISTRY

logger = logging.getLogger(__name__)


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
