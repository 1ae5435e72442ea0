"""Fixed statements that PostgreSQL plans once for a connection; those that belong together travel together.

A statement over a few joined tables takes the server five to ten times longer to plan than to run. What every decision
asks is prepared on a connection at its first use there, and named afterwards (`EXECUTE`). Django sees one query for
each round trip. Behind a pooler that hands connections round between statements nothing can be prepared; the setting
GOLEM_DATABASE_PREPARES is off there, and the same statements are sent as text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections

_PLACE = re.compile(r"%(?:\((\w+)\)s|%)")
# The names that each connection of the driver knows: what is prepared stays, whatever becomes of a transaction.
# None for one where a first use failed: it is asked what it knows.
_KNOWN: WeakKeyDictionary[Any, set[str] | None] = WeakKeyDictionary()

Rows = list[tuple[Any, ...]]


class Prepared:
    """One statement with places like `%(golem)s`; a place that nothing around gives a type says its own, `::uuid`.

    Thread-safe. `label` is for whoever reads the server's log.
    """

    def __init__(self, label: str, sql: str) -> None:
        self.sql = sql
        places = [found for found in _PLACE.findall(sql) if found]
        self.places = list(dict.fromkeys(places))
        numbers = {place: f"${number}" for number, place in enumerate(self.places, start=1)}
        self.body = _PLACE.sub(lambda found: numbers[found[1]] if found[1] else "%", sql)
        # Of the text, so that two versions of a statement are two.
        self.name = f"{label[:40]}_{hashlib.sha256(self.body.encode()).hexdigest()[:12]}"
        self.preparation = f"PREPARE {self.name} AS {self.body.replace('%', '%%')}"
        self._call = f"EXECUTE {self.name}" + (f"({', '.join(['%s'] * len(self.places))})" if places else "")
        self._text = _PLACE.sub(lambda found: "%s" if found[1] else "%%", sql)
        self._text_places = places

    def fill(self, **values: Any) -> Filled:
        """The statement with a value for each place, and perhaps more, for `fetch_together`."""
        return Filled(self, values)

    def fetch(self, **values: Any) -> Rows:
        """Its rows; none of a statement that gives none. Raises what a cursor raises."""
        return Filled(self, values).fetch()

    def write_out(self, values: Mapping[str, Any], *, is_prepared: bool) -> tuple[str, list[Any]]:
        """What to send, and its arguments."""
        if is_prepared:
            return self._call, [values[place] for place in self.places]
        return self._text, [values[place] for place in self._text_places]


@dataclass(frozen=True, slots=True)
class Filled:
    """A statement with the values of its places."""

    statement: Prepared
    values: Mapping[str, Any]

    def fetch(self) -> Rows:
        """Its rows. Raises what a cursor raises."""
        (rows,) = fetch_together(self)
        return rows


def fetch_together(*asked: Filled) -> list[Rows]:
    """The rows of several statements in one round trip, in the order asked.

    At READ COMMITTED each sees what was committed before it began; outside a transaction they are one by themselves.
    """
    texts: list[str] = []
    arguments: list[Any] = []
    database = connections[DEFAULT_DB_ALIAS]
    with database.cursor() as cursor:
        known = _list_known(database) if settings.GOLEM_DATABASE_PREPARES else None
        unknown: set[str] = set()
        for filled in asked:
            statement = filled.statement
            # In its order among the others: a limit of time that was set before it holds for it too.
            if known is not None and statement.name not in known and statement.name not in unknown:
                texts.append(statement.preparation)
                unknown.add(statement.name)
            text, values = statement.write_out(filled.values, is_prepared=known is not None)
            texts.append(text)
            arguments += values
        try:
            cursor.execute("; ".join(texts), arguments)
        except Error:
            if unknown:
                _KNOWN[database.connection] = None
            raise
        if known is not None:
            known |= unknown
        # The driver's own cursor: Django's would describe every column of every answer.
        return _read_answers(cursor.cursor, has_preparations=bool(unknown))


def _list_known(database: Any) -> set[str]:
    connected = database.connection
    known = _KNOWN.setdefault(connected, set())
    if known is None:
        with database.wrap_database_errors:
            rows = connected.execute("SELECT name FROM pg_prepared_statements").fetchall()
        known = _KNOWN[connected] = {name for (name,) in rows}
    return known


def _read_answers(answers: Any, *, has_preparations: bool) -> list[Rows]:
    found: list[Rows] = []
    while True:
        if not (has_preparations and answers.statusmessage == "PREPARE"):
            found.append(answers.fetchall() if answers.pgresult.nfields else [])
        if not answers.nextset():
            return found
