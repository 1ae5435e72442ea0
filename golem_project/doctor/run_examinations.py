"""Every examination in turn; what cannot be asked is a finding of its own, and the others go on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final

import redis
from django.db import DatabaseError

from golem_project.doctor.broker import examine_broker
from golem_project.doctor.database import examine_database, tell_why_away
from golem_project.doctor.files import examine_files
from golem_project.doctor.findings import Finding, bad, good
from golem_project.doctor.nodes import examine_nodes
from golem_project.status import read_version
from tools_app.toolkit.registry import REGISTRY

__all__ = ["Finding", "examine"]
_AWAY: Final = {
    "broker": "start Valkey, or set REDIS_URL",
    "files": "see what it names",
    "nodes": "see the server's log",
}


def examine(*, now: datetime, backups: str | None = None) -> list[Finding]:
    """All of it, in the order in which it is mended."""
    parts: dict[str, Callable[[], Iterable[Finding]]] = {
        "postgresql": examine_database,
        "broker": lambda: examine_broker(now=now),
        "files": lambda: examine_files(now=now, backups=backups),
        "nodes": lambda: examine_nodes(now=now),
    }
    version = ".".join(map(str, sys.version_info[:3]))
    found = [good("version", f"Golem {read_version()}, Python {version}, {len(REGISTRY)} tools")]
    for name, look in parts.items():
        try:
            found += look()
        except DatabaseError as error:
            found.append(tell_why_away(error) if name == "postgresql" else _say_away(name, error))
        except (redis.RedisError, OSError) as error:
            found.append(_say_away(name, error))
    return found


def _say_away(name: str, error: Exception) -> Finding:
    return bad(name, f"cannot be asked: {type(error).__name__}", _AWAY[name])
