"""Prepares fixed SQL statements once for a connection, and sends several in one round trip.

A statement over a few joined tables takes the server five to ten times longer to plan than to run. What every decision
asks is prepared on a connection at its first use there, and named afterwards (`EXECUTE`). Django sees one query for
each round trip. Behind a pooler that hands connections round between statements nothing can be prepared; the setting
GOLEM_DATABASE_PREPARES is off there, and the same statements are sent as text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, zip_longest
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections
from psycopg.adapt import Transformer

_PLACE = re.compile(r"%(?:\((\w+)\)s|%)")
# The names that each connection of the driver knows: what is prepared stays, whatever becomes of a transaction.
# None for one where a first use failed: it is asked what it knows.
_KNOWN: WeakKeyDictionary[Any, set[str] | None] = WeakKeyDictionary()  # Any: a column's value, of any type

Rows = list[tuple[Any, ...]]  # Any: a column's value, of any type


class Prepared:
    """One statement with places like `%(golem)s`; a place that nothing around gives a type says its own, `::uuid`.

    Thread-safe. `label` is for whoever reads the server's log.
    """

    def __init__(self, label: str, sql: str) -> None:
        self.sql = sql
        self._text = _Template.read(sql)
        self.places = list(dict.fromkeys(self._text.places))
        numbers = [f"${self.places.index(place) + 1}" for place in self._text.places]
        body = self._text.join(numbers)
        # Of the text, so that two versions of a statement are two.
        self.name = f"{label[:40]}_{hashlib.sha256(body.encode()).hexdigest()[:12]}"
        self.preparation = f"PREPARE {self.name} AS {body}"
        marks = ", ".join(f"%({place})s" for place in self.places)
        self._call = _Template.read(f"EXECUTE {self.name}({marks})" if marks else f"EXECUTE {self.name}")

    def fill(self, **values: Any) -> Filled:  # Any: a column's value, of any type
        """The statement with a value for each place, and perhaps more, for `fetch_together`."""
        return Filled(self, values)

    def fetch(self, **values: object) -> Rows:
        """Its rows; none of a statement that gives none. Raises what a cursor raises."""
        return Filled(self, values).fetch()

    def write_out(self, values: Mapping[str, object], write: Callable[[object], str], *, is_prepared: bool) -> str:
        """What to send; `write` makes a literal of a value."""
        template = self._call if is_prepared else self._text
        return template.join([write(values[place]) for place in template.places])


@dataclass(frozen=True, slots=True)
class _Template:
    """SQL cut at its places, so that no value is ever looked through for one."""

    pieces: list[str]
    places: list[str]

    @classmethod
    def read(cls, sql: str) -> _Template:
        pieces, places, end = [""], [], 0
        for found in _PLACE.finditer(sql):
            pieces[-1] += sql[end : found.start()]
            end = found.end()
            if found[1]:
                places.append(found[1])
                pieces.append("")
            else:
                pieces[-1] += "%"
        pieces[-1] += sql[end:]
        return cls(pieces, places)

    def join(self, written: Sequence[str]) -> str:
        return "".join(chain.from_iterable(zip_longest(self.pieces, written, fillvalue="")))


@dataclass(frozen=True, slots=True)
class Filled:
    """A statement with the values of its places."""

    statement: Prepared
    values: Mapping[str, Any]  # Any: a column's value, of any type

    def fetch(self) -> Rows:
        """Its rows. Raises what a cursor raises."""
        (rows,) = fetch_together(self)
        return rows


def fetch_together(*asked: Filled) -> list[Rows]:
    """The rows of several statements in one round trip, in the order asked.

    At READ COMMITTED each sees what was committed before it began; outside a transaction they are one by themselves.
    """
    texts: list[str] = []
    database = connections[DEFAULT_DB_ALIAS]
    with database.cursor() as cursor:
        known = _list_known(database) if settings.GOLEM_DATABASE_PREPARES else None
        unknown: set[str] = set()
        # The driver writes literals for a whole statement too, but first looks for their places in its text.
        literals = Transformer(database.connection)

        def write(value: Any) -> str:  # Any: a column's value, of any type
            plain = _write_plain(value)
            return bytes(literals.as_literal(value)).decode() if plain is None else plain

        with database.wrap_database_errors:
            for filled in asked:
                statement = filled.statement
                # In its order among the others: a limit of time that was set before it holds for it too.
                if known is not None and statement.name not in known and statement.name not in unknown:
                    texts.append(statement.preparation)
                    unknown.add(statement.name)
                texts.append(statement.write_out(filled.values, write, is_prepared=known is not None))
        try:
            cursor.execute("; ".join(texts))
        except Error:
            if unknown:
                _KNOWN[database.connection] = None
            raise
        if known is not None:
            known |= unknown
        # The driver's own cursor: Django's would describe every column of every answer.
        return _read_answers(cursor.cursor, has_preparations=bool(unknown))


def _write_plain(value: Any) -> str | None:  # Any: a column's value, of any type
    """The literal of a value that needs no escaping, as the driver would write it; None for every other.

    Over a hundred are written in a preview, and the driver's own way takes ten to a hundred times as long for each.
    """
    kind = type(value)
    if value is None:
        return "NULL"
    if kind is str:
        return f"'{value}'" if _is_plain(value) else None
    if kind is UUID:
        return f"'{value}'::uuid"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        # A minus that follows another begins a comment.
        return str(value) if value >= 0 else f" {value}"
    if kind is datetime:
        return f"'{value}'::timestamptz" if value.tzinfo is not None else None
    if kind is list and all(type(each) is str and _is_plain(each) and '"' not in each for each in value):
        return "'{" + ",".join(f'"{each}"' for each in value) + "}'"
    return None


def _is_plain(text: str) -> bool:
    return text.isascii() and "'" not in text and "\\" not in text and "\0" not in text


def _list_known(database: Any) -> set[str]:  # Any: a column's value, of any type
    connected = database.connection
    known = _KNOWN.setdefault(connected, set())
    if known is None:
        with database.wrap_database_errors:
            rows = connected.execute("SELECT name FROM pg_prepared_statements").fetchall()
        known = _KNOWN[connected] = {name for (name,) in rows}
    return known


def _read_answers(answers: Any, *, has_preparations: bool) -> list[Rows]:  # Any: a column's value, of any type
    found: list[Rows] = []
    while True:
        if not (has_preparations and answers.statusmessage == "PREPARE"):
            found.append(answers.fetchall() if answers.pgresult.nfields else [])
        if not answers.nextset():
            return found
