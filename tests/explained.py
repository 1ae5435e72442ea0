"""Has PostgreSQL explain every statement that it carries out, and tells scans that read far more than they return."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connection, transaction

_BEGIN: Final = "plan:\n"
_SETTINGS: Final = {
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "client_min_messages": "log",
}


@dataclass(frozen=True, slots=True)
class Scan:
    """One scan of a table within a statement: rows it looked at, and rows that it handed on."""

    table: str
    kind: str
    read: int
    returned: int
    statement: str


@dataclass(slots=True)
class Explained:
    """What was carried out while it was watched."""

    statements: int = 0
    scans: list[Scan] = field(default_factory=list)

    def list_long(self, more_than: int) -> list[Scan]:
        """The scans that looked at more than so many rows."""
        return [scan for scan in self.scans if scan.read > more_than]


@contextmanager
def explain_all() -> Iterator[Explained]:
    """Within it each statement of this process's connection is explained as it runs. The role must be a superuser's."""
    found = Explained()

    def take(notice: Any) -> None:
        _, _, plan = (notice.message_primary or "").partition(_BEGIN)
        if plan:
            told = json.loads(plan)
            found.statements += 1
            _gather(told["Plan"], told.get("Query Text", ""), found.scans)

    with connection.cursor() as cursor:
        cursor.execute("LOAD 'auto_explain'")
        for name, value in _SETTINGS.items():
            cursor.execute(f"SET {name} = '{value}'")
    session: Any = connection.connection
    session.add_notice_handler(take)
    try:
        yield found
    finally:
        session.remove_notice_handler(take)
        with connection.cursor() as cursor:
            for name in _SETTINGS:
                cursor.execute(f"RESET {name}")


def explain_second(do: Callable[[], Any]) -> Explained:
    """A second round of `do`; the first one fills what is kept in memory."""
    with transaction.atomic():
        do()
    with explain_all() as found, transaction.atomic():
        do()
    return found


def _gather(node: dict[str, Any], statement: str, into: list[Scan]) -> None:
    if "Relation Name" in node and node["Node Type"].endswith("Scan"):
        # Figures of a node are averages over its loops.
        loops = node.get("Actual Loops", 1)
        returned = round(node.get("Actual Rows", 0) * loops)
        dropped = node.get("Rows Removed by Filter", 0) * loops + node.get("Rows Removed by Index Recheck", 0) * loops
        into.append(Scan(node["Relation Name"], node["Node Type"], round(returned + dropped), returned, statement))
    for child in node.get("Plans", ()):
        _gather(child, statement, into)
