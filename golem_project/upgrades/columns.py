"""Which columns a version reads and writes, kept as data for each version that was given out.

While one version follows another, processes of both work on one database: the older reads every column that it knows
and inserts rows without those that it does not know. `manage.py release_shapes VERSION` writes the file of a version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.apps import apps
from django.db import connection

FOLDER: Final = Path(__file__).parent / "releases"

Columns = Mapping[str, Mapping[str, str]]
"""The type of each column by its table and its name, as the models say it; ` null` behind one that may be empty."""


@dataclass(frozen=True, slots=True)
class KnownSchema:
    """What one version knows of the schema. `migrations` is its newest one of each app."""

    version: str
    migrations: Mapping[str, str]
    columns: Columns


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column as the database has it. `is_filled` where an INSERT may leave it out."""

    table: str
    name: str
    type: str
    is_filled: bool
    may_be_null: bool


def load_last_release(folder: Path = FOLDER) -> KnownSchema:
    """The newest version that is kept."""
    files = sorted(folder.glob("*.json"), key=lambda path: tuple(int(part) for part in path.stem.split(".")))
    kept = json.loads(files[-1].read_text(encoding="utf-8"))
    return KnownSchema(kept["version"], kept["migrations"], kept["columns"])


def describe_columns() -> dict[str, dict[str, str]]:
    """The columns of every model of this version, also of Django's own."""
    found: dict[str, dict[str, str]] = {}
    for model in apps.get_models(include_auto_created=True):
        if not model._meta.managed or model._meta.proxy:
            continue
        columns = found.setdefault(model._meta.db_table, {})
        for field in model._meta.local_concrete_fields:
            kind = field.db_type(connection)
            # Without a type of its own it is the database's to write.
            if kind is not None and field.column is not None:
                columns[field.column] = f"{kind}{' null' if field.null else ''}"
    return {table: dict(sorted(columns.items())) for table, columns in sorted(found.items())}


def write_schema(*, version: str, migrations: Mapping[str, str], columns: Columns) -> str:
    """The file's text, a line a table."""
    lines = ",\n".join(f"{json.dumps(table)}: {json.dumps(told)}" for table, told in columns.items())
    head = f'{{"version": {json.dumps(version)}, "migrations": {json.dumps(dict(sorted(migrations.items())))},'
    return f'{head}\n"columns": {{\n{lines}\n}}}}\n'


def read_stored() -> Iterator[StoredColumn]:
    """Every column of every table of this database, as PostgreSQL tells it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,"
            " NOT a.attnotnull OR a.atthasdef OR a.attidentity <> ''"
            " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
            " WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace"
            " AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, 2"
        )
        for table, name, kind, may_be_null, is_filled in cursor.fetchall():
            yield StoredColumn(table, name, kind, is_filled, may_be_null)


def find_misfits(known: KnownSchema, stored: list[StoredColumn]) -> list[str]:
    """What code of `known` cannot do on the tables that are stored, in words."""
    found: list[str] = []
    here: dict[str, dict[str, StoredColumn]] = {}
    for each in stored:
        here.setdefault(each.table, {})[each.name] = each
    for table, columns in known.columns.items():
        if table not in here:
            found.append(f"{table} is gone, and {known.version} reads it")
            continue
        for name, told in columns.items():
            column = here[table].get(name)
            if column is None:
                found.append(f"{table}.{name} is gone, and {known.version} reads it")
            elif told.endswith(" null") and not column.may_be_null:
                found.append(f"{table}.{name} is never empty now, and {known.version} leaves it empty")
            elif _spell(told) != _spell(column.type) and not _is_wider(_spell(told), _spell(column.type)):
                found.append(f"{table}.{name} is {column.type}, and {known.version} writes {told}")
        found += [
            f"{table}.{other.name} has no default in the database, and {known.version} inserts without it"
            for other in here[table].values()
            if other.name not in columns and not other.is_filled
        ]
    return found


_ALIASES: Final = {
    "varchar": "character varying",
    "timestamp with time zone": "timestamp with time zone",
    "serial": "integer",
    "bigserial": "bigint",
    "smallserial": "smallint",
}


def _spell(kind: str) -> str:
    """As PostgreSQL spells a type."""
    word, bracket, length = kind.removesuffix(" null").replace(", ", ",").partition("(")
    return f"{_ALIASES.get(word, word)}{bracket}{length}"


def _is_wider(old: str, new: str) -> bool:
    """Whether everything fits that the older type held."""
    order: tuple[object, ...] = ("smallint", "integer", "bigint")
    if old in order and new in order:
        return order.index(old) < order.index(new)
    was, _, few = old.partition("(")
    now, _, many = new.partition("(")
    if was != "character varying":
        return False
    return new == "text" or (was == now and int(few.rstrip(")")) <= int(many.rstrip(")")))
