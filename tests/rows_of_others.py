"""A stranger's rows: two golems, each with a row of every model that the admin's tests can make.

Of one golem they are as they are made; of the other they are over, switched off, in the last of their states, and of
another chain.
"""

from __future__ import annotations

import json
from typing import Any, Final

from django.apps import apps
from django.db import DatabaseError, connection, models, transaction

from archetypes_app.models import Golem
from tests import factories
from tests.admin.rows import MAKERS
from tests.admin.rows_beside import BESIDE, PERSONAL
from tools_app.core import clock

_STATES: Final = ("state", "status", "phase")
_ANOTHER_CHAIN: Final = 10
# Making them takes most of a second; the statement that inserts them again a twentieth of that.
_kept: list[str] = []


def insert_rows_of_others() -> None:
    """Make them where this process has not yet; afterwards the same rows again, as the database keeps them."""
    if not _kept:
        before = _read_tables()
        _make()
        after = _read_tables()
        new = {table: [row for row in rows if row not in before[table]] for table, rows in after.items()}
        _kept.append(_write_inserts({table: rows for table, rows in new.items() if rows}))
        return
    _ask(_kept[0])


def _ask(words: str) -> Any:
    """Past Django, which would note these statements as the test's."""
    connection.ensure_connection()
    return connection.connection.execute(words)


def _read_tables() -> dict[str, list[str]]:
    """Table -> its rows, each as text of JSON."""
    found = {}
    for model in apps.get_models():
        if model._meta.managed and not model._meta.proxy:
            table = model._meta.db_table
            asked = _ask(f'SELECT row_to_json(each)::text FROM "{table}" each')
            found[table] = [row for (row,) in asked.fetchall()]
    return found


def _write_inserts(rows: dict[str, list[str]]) -> str:
    """One text of statements; no trigger runs, for what they did is among the rows."""
    written = {model._meta.db_table: model for model in apps.get_models()}
    parts = ["SET LOCAL session_replication_role = replica"]
    for table, found in rows.items():
        fields = written[table]._meta.concrete_fields
        columns = ", ".join(f'"{field.column}"' for field in fields if not getattr(field, "generated", False))
        told = json.dumps([json.loads(row) for row in found]).replace("'", "''")
        parts.append(
            f'INSERT INTO "{table}" ({columns}) SELECT {columns}'
            f" FROM json_populate_recordset(NULL::\"{table}\", '{told}') ON CONFLICT DO NOTHING"
        )
    return "; ".join([*parts, "SET LOCAL session_replication_role = DEFAULT"])


def _make() -> None:
    owner = factories.make_owner(name="a-stranger")
    for name in ("Strange", "Estranged"):
        golem = factories.make_golem(owner=owner, name=name)
        for make in {**MAKERS, **BESIDE}.values():
            row = make(golem)
            if name == "Estranged":
                _end(row)
    for make in PERSONAL.values():
        make(owner)


def _end(row: Any) -> None:
    """Put it into the last of its states, give it the times it lacks, turn its switches and move it to another
    chain, where its table lets it.
    """
    if isinstance(row, Golem):
        return
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if field.choices and field.name in _STATES:
            to: Any = list(field.choices)[-1][0]
        elif isinstance(field, models.DateTimeField) and field.null and value is None:
            to = clock.now()
        elif isinstance(field, models.BooleanField):
            to = not value
        elif field.name == "chain_id":
            to = _ANOTHER_CHAIN
        else:
            continue
        try:
            with transaction.atomic():
                type(row)._base_manager.filter(pk=row.pk).update(**{field.attname: to})
        except DatabaseError:
            continue
