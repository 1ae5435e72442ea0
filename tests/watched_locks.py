"""Watches, in every test, in which order the product's transactions lock rows; who breaks the order fails the test.

The order is `tools_app/core/lock_order.py`. What is watched is the SQL as it is sent, of every thread of this process:
a transaction that locks a table after one that stands behind it has broken the order whether or not it met another one
this time. An INSERT is not watched: it locks only what it writes, and the parents it names with `FOR KEY SHARE`, which
waits for no `FOR NO KEY UPDATE`; hence a plain `FOR UPDATE` of a row that others name is refused here too.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from types import FrameType
from typing import Any

import pytest
from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.signals import connection_created

from tools_app.core.lock_order import PLACES

_PREPARED = re.compile(r"PREPARE (\w+) AS (.*?)(?=; (?:PREPARE|EXECUTE|SET) |\Z)", re.DOTALL)
_EXECUTED = re.compile(r"EXECUTE (\w+)")
_FOR_UPDATE = re.compile(r"\bFOR (NO KEY )?UPDATE\b(?: OF ((?:\"?\w+\"?(?:, )?)+))?")
# A name with a dot behind it is no table but the first half of a column.
_READ = re.compile(r"(?:\bFROM|\bJOIN|,)\s+\"?(\w+)\"?(?![\w.\"])(?:\s+(?:AS\s+)?(\w+))?")
_CHANGED = re.compile(r"\b(?:UPDATE|DELETE FROM)\s+\"?(\w+)\"?(?=\s+(?:AS\s+\w+\s+)?(?:SET|WHERE)\b|\s*\Z)")
_UPSERTED = re.compile(r"\bINSERT INTO\s+\"?(\w+)\"?[^;]*?\bON CONFLICT\b", re.DOTALL)
# What a broken order tells of each side.
_MOST_LINES = 6
_OURS = ("permits_app", "memory_app", "archetypes_app", "tools_app", "golem_project", "tests")


@dataclass(frozen=True, slots=True)
class Lock:
    """One table that a statement locks rows of; `is_of_key` when nobody may name such a row meanwhile."""

    table: str
    is_of_key: bool = False


@dataclass(slots=True)
class _Transaction:
    block: object
    # The table last in the order that is locked so far, and where that was.
    places: dict[str, str] = field(default_factory=dict)


@lru_cache(maxsize=8192)
def find_locks(sql: str) -> tuple[Lock, ...]:
    """The tables that `sql` locks rows of, in the order of its text; those outside the order are left out."""
    found: list[tuple[int, Lock]] = []
    for match in _FOR_UPDATE.finditer(sql):
        named = {alias or table: table for table, alias in _READ.findall(sql[: match.start()])}
        named |= {table: table for table in named.values()}
        which = [name.strip('" ') for name in match[2].split(",")] if match[2] else _tables_of(sql, match.start())
        found += [(match.start(), Lock(named.get(name, name), not match[1])) for name in which]
    found += [(match.start(), Lock(match[1])) for match in _CHANGED.finditer(sql)]
    found += [(match.start(), Lock(match[1])) for match in _UPSERTED.finditer(sql)]
    return tuple(lock for _, lock in sorted(found, key=lambda each: each[0]) if lock.table in PLACES)


def _tables_of(sql: str, end: int) -> list[str]:
    """The tables of the SELECT that ends at `end`."""
    return list(dict.fromkeys(table for table, _ in _READ.findall(sql[sql.rfind("SELECT", 0, end) : end])))


@cache
def _list_parents() -> frozenset[str]:
    fields = (field for model in apps.get_models() for field in model._meta.concrete_fields)
    parents = (field.related_model for field in fields if field.remote_field is not None)
    return frozenset(parent._meta.db_table for parent in parents if parent is not None)


class Watch:
    """What the transactions of each thread have locked, and what they broke."""

    def __init__(self) -> None:
        self.broken: list[str] = []
        self._prepared: dict[str, tuple[Lock, ...]] = {}
        self._reading: set[str] = set()
        self._threads = threading.local()

    def watch(self, connection: Any) -> None:
        """Look at every statement of `connection` from now on."""
        if connection.alias == DEFAULT_DB_ALIAS and self._look not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._look)

    def only_reads(self, sql: str) -> bool:
        """Whether a statement, or each of those prepared that are executed together, is a SELECT."""
        names = _EXECUTED.findall(sql) if sql.startswith(("EXECUTE ", "PREPARE ")) else []
        return sql.startswith("SELECT") or (bool(names) and self._reading.issuperset(names))

    def _look(self, execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        locks = self._read(sql)
        if locks:
            # A test's own transaction, which is rolled back at its end, is none of the product's.
            blocks = context["connection"].atomic_blocks
            block = next((block for block in blocks if not block._from_testcase), None)
            # Outside of one, what is sent together is a transaction by itself.
            self._note(object() if block is None else block, locks)
        return execute(sql, params, many, context)

    def _read(self, sql: str) -> tuple[Lock, ...]:
        if "EXECUTE " not in sql and "PREPARE " not in sql:
            return find_locks(sql)
        for name, body in _PREPARED.findall(sql):
            self._prepared[name] = find_locks(body)
            if body.startswith("SELECT"):
                self._reading.add(name)
        return tuple(lock for name in _EXECUTED.findall(sql) for lock in self._prepared.get(name, ()))

    def _note(self, block: object, locks: tuple[Lock, ...]) -> None:
        held: _Transaction | None = getattr(self._threads, "held", None)
        if held is None or held.block is not block:
            held = self._threads.held = _Transaction(block)
        for lock in locks:
            if lock.is_of_key and lock.table in _list_parents():
                self.broken.append(f"{lock.table} is locked with its key, and others name its rows\n    {_where()}")
            if lock.table in held.places:
                continue
            here = _where()
            for before, place in held.places.items():
                if PLACES[before] > PLACES[lock.table]:
                    self.broken.append(
                        f"{lock.table} is locked after {before}\n    {before}: {place}\n    {lock.table}: {here}"
                    )
            held.places[lock.table] = here


def _where() -> str:
    """The product's own lines on the stack, the innermost first."""
    lines: list[str] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(lines) < _MOST_LINES:
        place = _place_of(frame.f_code.co_filename)
        if place:
            lines.append(f"{place}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(lines)


@cache
def _place_of(filename: str) -> str:
    """A file of the product, from its app on; empty for any other, and for what every statement passes."""
    part = next((name for name in _OURS if f"/{name}/" in filename), None)
    if part is None or "/.venv/" in filename or filename == __file__:
        return ""
    passed = filename.endswith(("core/prepared_statements.py", "core/compiled_query.py"))
    return "" if passed else f"{part}/{filename.partition(f'/{part}/')[2]}"


WATCH = Watch()


def _watch_new(connection: Any, **_: Any) -> None:
    WATCH.watch(connection)


connection_created.connect(_watch_new)


@pytest.fixture(autouse=True)
def locks_are_taken_in_one_order(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails the test whose transactions broke the order; `locks_at_will` marks one that plays somebody who may."""
    WATCH.watch(connections[DEFAULT_DB_ALIAS])
    WATCH.broken.clear()
    yield
    broken, WATCH.broken = list(dict.fromkeys(WATCH.broken)), []
    if broken and request.node.get_closest_marker("locks_at_will") is None:
        pytest.fail("the order of tools_app/core/lock_order.py was broken:\n" + "\n".join(broken), pytrace=False)
