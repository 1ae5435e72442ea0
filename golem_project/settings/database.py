"""PostgreSQL, by DATABASE_URL; a small pool per process so that a request does not pay for a connection."""

from __future__ import annotations

from typing import Any

import dj_database_url

from golem_project.settings.environment import read_flag, read_integer, read_url

DATABASE_URL = read_url("DATABASE_URL", "postgres://golem@127.0.0.1:5432/golem")

# Off behind a pooler that gives each transaction another connection (PgBouncer's transaction mode).
GOLEM_DATABASE_PREPARES = read_flag("GOLEM_DATABASE_PREPARES", True)


def _read_database() -> dict[str, Any]:  # Any: as Django reads it
    parsed: dict[str, Any] = dict(dj_database_url.parse(DATABASE_URL))  # Any: as Django reads it
    asked: dict[str, Any] = parsed.get("OPTIONS", {})  # Any: as the driver reads them
    options = {
        **asked,
        "connect_timeout": read_integer("GOLEM_DATABASE_CONNECT_TIMEOUT_SECONDS", 5),
        "pool": {
            "min_size": 1,
            "max_size": read_integer("GOLEM_DATABASE_POOL_SIZE", 12),
            "timeout": read_integer("GOLEM_DATABASE_POOL_TIMEOUT_SECONDS", 5),
            # Beyond it the next who asks begins anew; tries that go on wait ever longer, up to minutes after an outage.
            "reconnect_timeout": 2,
        },
    }
    if GOLEM_DATABASE_PREPARES:
        # Left to itself the server plans the largest prepared statements anew at every use, which takes it longer than
        # running them: by its own estimate of their cost that is worth it, and it never is for rows found by their
        # keys.
        own = asked.get("options", "")
        options |= {"options": f"{own} -c plan_cache_mode=force_generic_plan".strip()}
    return {
        **parsed,
        "ENGINE": "golem_project.runtime.pooled_postgresql",
        "ATOMIC_REQUESTS": False,  # no transaction may be open across a network call
        "CONN_MAX_AGE": 0,  # the pool keeps connections, not Django
        "CONN_HEALTH_CHECKS": True,  # the pool hands out none that a restarted server closed
        # A cursor of the server outlives its statement, and a pooler may hand the connection on in between. Many rows
        # are read page by page.
        "DISABLE_SERVER_SIDE_CURSORS": True,
        "OPTIONS": options,
    }


DATABASES: dict[str, dict[str, Any]] = {"default": _read_database()}  # Any: as Django reads them
