"""Looks at PostgreSQL: version, clock, extensions, rights, migrations, connections, and a pooler in between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from golem_project.doctor.findings import Finding, Health, bad, doubtful, good
from golem_project.runtime.start_conditions import MOST_CLOCK_DIFFERENCE
from golem_project.upgrades.columns import KnownSchema, describe_columns, find_misfits, read_stored
from tools_app.core import clock

OLDEST: Final = 150_000
"""PostgreSQL 15: NULLS NOT DISTINCT, and security_invoker views."""
EXTENSION: Final = "vector"
OLDEST_EXTENSION: Final = (0, 8)
"""pgvector 0.8: index scans that go on until enough of one golem's episodes are found (hnsw.iterative_scan)."""
_TIMEOUT_SECONDS: Final = 5
_MOST_TOLD: Final = 3
_BEHIND_A_POOLER: Final = "set GOLEM_DATABASE_PREPARES=0 (PgBouncer)"


def examine_database() -> Iterator[Finding]:
    """Raises DatabaseError where it does not answer."""
    yield _look_at_version()
    yield _look_at_clock()
    yield look_at_extension()
    yield _look_at_migrations()
    yield _look_at_columns()
    yield _look_at_indexes()
    yield _look_at_connections()
    yield _look_at_pooler()
    yield _look_at_safety()


def tell_why_away(error: Exception) -> Finding:
    """What a new connection says of why it is refused; the pool says only that none came."""
    known = connection.settings_dict
    places = {"host": known["HOST"], "port": known["PORT"], "user": known["USER"], "dbname": known["NAME"]}
    try:
        psycopg.connect(
            **{name: value for name, value in places.items() if value},
            password=known["PASSWORD"] or None,
            options=known["OPTIONS"].get("options") or None,
            connect_timeout=_TIMEOUT_SECONDS,
        ).close()
        words = type(error).__name__
    except psycopg.Error as refusal:
        words = str(refusal).strip().splitlines()[-1]
    if "startup parameter" in words:
        return bad("pooler", f"it refuses our options: {words}", _BEHIND_A_POOLER)
    return bad("postgresql", f"cannot be asked: {words}", "start PostgreSQL, or mend DATABASE_URL")


def _ask(statement: str, *values: Any) -> Any:  # Any: a value of any type
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
    return row[0] if row is not None and len(row) == 1 else row


def _look_at_version() -> Finding:
    number, words = int(_ask("SHOW server_version_num")), str(_ask("SHOW server_version"))
    if number < OLDEST:
        return bad("postgresql", f"version {words}", "install PostgreSQL 15 or newer")
    return good("postgresql", f"version {words}")


def _look_at_clock() -> Finding:
    ahead = (clock.wall() - _ask("SELECT clock_timestamp()")).total_seconds()
    if abs(ahead) > MOST_CLOCK_DIFFERENCE.total_seconds():
        return bad("clock", f"this machine is {ahead:+.0f} s from the database's", "set both by one time server")
    return good("clock", f"{ahead * 1_000:+.0f} ms from the database's")


def look_at_extension() -> Finding:
    """pgvector: there, or such that `migrate` can make it."""
    installed = _ask("SELECT extversion FROM pg_extension WHERE extname = %s", EXTENSION)
    available = _ask("SELECT default_version FROM pg_available_extensions WHERE name = %s", EXTENSION)
    package = f"postgresql-{int(_ask('SHOW server_version_num')) // 10_000}-pgvector"
    if installed is None and available is None:
        return bad("pgvector", "is not installed on the database's machine", f"install pgvector there ({package})")
    if not _is_new_enough(installed or available):
        to_do = f"install pgvector 0.8 or newer on the database's machine ({package})"
        if installed:
            to_do += f", then as a superuser, in this database: ALTER EXTENSION {EXTENSION} UPDATE"
        return bad("pgvector", f"version {installed or available} is too old", to_do)
    if installed:
        return good("pgvector", f"version {installed}")
    is_trusted = _ask("SELECT bool_or(trusted) FROM pg_available_extension_versions WHERE name = %s", EXTENSION)
    may_create = _ask("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") or (
        is_trusted and _ask("SELECT has_database_privilege(current_database(), 'CREATE')")
    )
    if not may_create:
        return bad(
            "pgvector",
            "is not in this database, and this role may not create it",
            f"as a superuser, in this database: CREATE EXTENSION {EXTENSION}",
        )
    return good("pgvector", "is created by `migrate`")


def say_what_tables_lack() -> str:
    """Why no tables can be made in this database, and what to do about it. Empty where they can be."""
    try:
        found = look_at_extension()
    except DatabaseError as error:
        found = tell_why_away(error)
    return f"{found.name} {found.words}. Fix: {found.to_do}" if found.verdict is Health.BAD else ""


def _is_new_enough(version: str) -> bool:
    numbers = re.findall(r"\d+", version)
    return tuple(map(int, numbers)) >= OLDEST_EXTENSION


def _look_at_migrations() -> Finding:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    unknown = set(executor.loader.applied_migrations or ()) - set(executor.loader.disk_migrations or ())
    if waiting:
        return bad("migrations", f"{len(waiting)} are not applied", "run `manage.py migrate`")
    if unknown:
        return doubtful(
            "migrations", f"{len(unknown)} of the database are newer than this code", "start the version that made them"
        )
    return good("migrations", "all applied")


def _look_at_columns() -> Finding:
    """Whether this version's code can work here: a newer one may have migrated the database meanwhile."""
    this = KnownSchema("this version", {}, describe_columns())
    misfits = find_misfits(this, list(read_stored()))
    if misfits:
        more = f", and {len(misfits) - _MOST_TOLD} more" if len(misfits) > _MOST_TOLD else ""
        words = "; ".join(misfits[:_MOST_TOLD]) + more
        return bad("columns", words, "run `manage.py migrate`; after a newer version was here, go on with that one")
    return good("columns", "as this version reads and writes them")


def _look_at_indexes() -> Finding:
    """An index that was being made when its connection ended is kept up and never used."""
    names = _ask("SELECT string_agg(indexrelid::regclass::text, ', ') FROM pg_index WHERE NOT indisvalid")
    if names:
        return bad("indexes", f"not whole: {names}", "DROP INDEX CONCURRENTLY each, then run `manage.py migrate` again")
    return good("indexes", "each is whole")


def _look_at_connections() -> Finding:
    most, used = int(_ask("SHOW max_connections")), int(_ask("SELECT count(*) FROM pg_stat_activity"))
    pool = int(connection.settings_dict["OPTIONS"]["pool"]["max_size"])
    words = f"{used} of {most} in use; a process of ours takes up to {pool}"
    if most - used < 2 * pool:
        return doubtful("connections", words, "raise max_connections, or put PgBouncer in between")
    return good("connections", words)


def _look_at_pooler() -> Finding:
    """Whether two transactions of one session come to two sessions of the server."""
    first, second = (_ask("SELECT pg_backend_pid()") for _ in range(2))
    own = getattr(getattr(connection.connection, "info", None), "backend_pid", None)
    is_pooled = first != second or (own is not None and own != first)
    if is_pooled and settings.GOLEM_DATABASE_PREPARES:
        return bad(
            "pooler",
            "another session answers than was opened",
            _BEHIND_A_POOLER,
        )
    return good("pooler", "transactions have sessions of their own" if is_pooled else "none in between")


def _look_at_safety() -> Finding:
    off = [name for name in ("fsync", "full_page_writes", "synchronous_commit") if _ask(f"SHOW {name}") == "off"]
    if off:
        return bad("durability", f"{', '.join(off)} is off", "switch it on: a signed permit must outlive a crash")
    return good("durability", "what is committed is on the disk")
