"""Checks before a process serves: the delegation graph, the tools, the clock, and that commands cannot see its files.

Web server, workers and beat refuse to start otherwise, with a code, the reason and what to do. A database that is away
stops nothing here: without it nobody is asked anything, and what it holds is read again by every request.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection

from archetypes_app.stored_delegation_graph import check_builtin_graph, find_stored_violations
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.models import FrozenRegistry
from tools_app.subsystems.coding.exposed_server_paths import find_shown
from tools_app.toolkit.registry import REGISTRY

logger = logging.getLogger(__name__)

MOST_CLOCK_DIFFERENCE = timedelta(seconds=10)
"""Permits live for a minute by the clock of whoever looks; further apart, one process would take for valid what is over
to another.
"""
_MOST_NAMED: Final = 10
UNFINISHED_RESTORE: Final = "public.golem_unfinished_restore"
"""A table that stands in a database from the begin of its restore until every golem of it is held and compared."""


def check_before_serving() -> None:
    """Raises ImproperlyConfigured, which ends the process. Opens no connection that it keeps."""
    # An asynchronous server imports its application inside its loop, where the database may not be asked.
    with ThreadPoolExecutor(max_workers=1) as apart:
        apart.submit(_check).result()


def _check() -> None:
    _check_what_commands_see()
    if not REGISTRY.is_frozen:
        raise _refuse("BOOT_REGISTRY_OPEN", "tools can still be added to the registry", "start by the settings' apps")
    try:
        check_builtin_graph()
        _check_restore()
        _check_clock()
        _check_registry()
        violations = find_stored_violations()
    except GolemError as error:
        raise _refuse(
            "BOOT_GRAPH_INVALID", f"built-in delegation graph: {error.detail}", "mend the archetype's file"
        ) from None
    except DatabaseError as error:
        logger.warning("what is stored cannot be read at start-up: %s", error)
        return
    finally:
        connection.close()
    if violations:
        told = "; ".join(error.detail for error in violations)
        raise _refuse(
            "BOOT_GRAPH_INVALID", f"stored delegation graph: {told}", "mend it in the admin or with sync_builtins"
        )


def _check_what_commands_see() -> None:
    """Raises ImproperlyConfigured where code, keys or data lie in a folder that golems' commands are shown whole."""
    shown = find_shown(settings.GOLEM_KEPT_FROM_COMMANDS) if settings.GOLEM_CODING_COMMANDS else ""
    if shown:
        raise _refuse(
            "BOOT_COMMANDS_SEE_SECRETS",
            f"{shown}, which golems' commands are shown as it is",
            "move it elsewhere, such as /srv or /opt, or let no command run on this server (GOLEM_CODING_COMMANDS=0)",
        )


def _check_registry() -> None:
    """Raises ImproperlyConfigured for other tools than those the deployment was set up with; before a set-up there are
    none. An agent would be shown one definition by the web server, and another be carried out by a worker. While one
    version follows another, for a day, the one before may start too: a permit is carried out as it was judged.
    """
    frozen = FrozenRegistry.objects.filter(id=FrozenRegistry.ONLY).first()
    if frozen is None:
        return
    here = {tool.name: tool.definition_hash for tool in REGISTRY}
    if here == frozen.previous and clock.now() < frozen.frozen_at + frozen.ROLL_LASTS:
        logger.warning("starts with the tools of the version before, which is followed since %s", frozen.frozen_at)
        return
    names = sorted({name for name, _ in here.items() ^ frozen.definitions.items()})
    if not names:
        return
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    raise _refuse(
        "BOOT_REGISTRY_DIFFERS",
        f"this process has other tools than the deployment froze on {frozen.frozen_at.isoformat()}: "
        f"{', '.join(names[:_MOST_NAMED])}{more}",
        "start every process from one version, or run `manage.py sync_builtins` with this one and restart all of them",
    )


def _check_restore() -> None:
    """Raises ImproperlyConfigured for a database that was restored and whose golems are not all held and compared."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [UNFINISHED_RESTORE])
        if cursor.fetchone() != (None,):
            raise _refuse(
                "BOOT_RESTORE_UNFINISHED",
                "this database was restored, and not every golem was compared with its chain since",
                "run `manage.py restore --finish`",
            )


def _check_clock() -> None:
    """Raises ImproperlyConfigured for a clock that is not that of the database, which all processes share."""
    before = clock.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (shared,) = cursor.fetchone()
    after = clock.now()
    if not before - MOST_CLOCK_DIFFERENCE <= shared <= after + MOST_CLOCK_DIFFERENCE:
        raise _refuse(
            "BOOT_CLOCK_DIFFERS",
            f"the clock of this machine says {after.isoformat()} and the database's {shared.isoformat()}",
            "set both by one time server",
        )


def _refuse(code: str, reason: str, to_do: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{code}: {reason}. Fix: {to_do}")
