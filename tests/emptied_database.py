"""How a test that commits leaves the database: as `flush` does, at the price of what the test wrote.

`flush` truncates every table there is and makes the rows of `migrate` again (content types, permissions): a quarter of
a second after a test that wrote ten rows. Here the first test that commits is followed by the whole of it; from then on
only tables that hold something are emptied, and what the first time left behind has to be as it was, or it is done
wholly once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management.commands.flush import Command as Flush
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.postgresql.operations import DatabaseOperations

# The database refuses to empty these; what ends a test is somebody who may switch triggers off.
_NEVER_EMPTIED = ("tools_app_auditentry", "tools_app_auditcheckpoint", "tools_app_auditarchive")
# Rows that were deleted stay in a table's file for a while. Larger ones are cut to nothing, so that no plan of a later
# test is chosen for rows that are gone.
_MOST_BYTES = 512 * 1024


class EmptiedDatabase:
    """What the tables hold that are not empty after a flush, once there was one."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._others: list[str] = []

    def empty(self, connection: Any) -> bool:
        """Empty what a test filled; False when only a whole flush leaves the database as the first one did."""
        if not self._kept:
            return False
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            # As a TRUNCATE would, wait for what a thread of the test still writes.
            cursor.execute(f"LOCK TABLE {', '.join(map(_quoted, [*self._others, *self._kept]))} IN EXCLUSIVE MODE")
            if self._kept != _read_contents(cursor, list(self._kept)):
                return False
            filled = _list_filled(cursor, self._others)
            if filled:
                cursor.execute(_empty_all(filled))
        return True

    def remember(self, connection: Any) -> None:
        """Take what the tables hold now for what a flush leaves."""
        tables = list(connection.introspection.django_table_names(only_existing=True, include_views=False))
        with connection.cursor() as cursor:
            self._kept = _read_contents(cursor, [table for table, _ in _list_filled(cursor, tables)])
        self._others = [table for table in tables if table not in self._kept]


def _quoted(table: str) -> str:
    return f'"{table}"'


def _list_filled(cursor: Any, tables: list[str]) -> list[tuple[str, int]]:
    """The tables that hold a row, with the bytes of their files."""
    parts = (
        f"SELECT '{table}', pg_total_relation_size('{_quoted(table)}') WHERE EXISTS (SELECT FROM {_quoted(table)})"
        for table in tables
    )
    cursor.execute(" UNION ALL ".join(parts))
    return list(cursor.fetchall())


def _read_contents(cursor: Any, tables: list[str]) -> dict[str, str]:
    """A digest of all rows of each table."""
    parts = (
        f"SELECT '{table}', md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM {_quoted(table)} t" for table in tables
    )
    cursor.execute(" UNION ALL ".join(parts))
    return dict(cursor.fetchall())


def _empty_all(filled: list[tuple[str, int]]) -> str:
    """Without triggers and references: what is named by others goes together with them."""
    small = [f"DELETE FROM {_quoted(table)}" for table, size in filled if size <= _MOST_BYTES]
    large = [_quoted(table) for table, size in filled if size > _MOST_BYTES]
    cut = [f"TRUNCATE {', '.join(large)} CASCADE"] if large else []
    return "; ".join(["SET LOCAL session_replication_role = replica", *small, *cut])


@pytest.fixture(scope="session", autouse=True)
def tests_that_commit_are_cleared_away_after() -> Iterator[EmptiedDatabase]:
    """The whole flush without the audit log's triggers, and the short one wherever that is enough."""
    database, whole_flush, plain = EmptiedDatabase(), Flush.handle, DatabaseOperations.sql_flush

    def handle(self: Any, **options: Any) -> None:
        connection = connections[options.get("database", DEFAULT_DB_ALIAS)]
        if database.empty(connection):
            return
        whole_flush(self, **options)
        database.remember(connection)

    def sql_flush(self: Any, *given: Any, **options: Any) -> list[str]:
        found = plain(self, *given, **options)
        off, on = (
            [f"ALTER TABLE {table} {word} TRIGGER USER" for table in _NEVER_EMPTIED] for word in ("DISABLE", "ENABLE")
        )
        return [*off, *found, *on] if found else found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flush, "handle", handle)
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield database
