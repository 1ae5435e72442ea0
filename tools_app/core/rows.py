"""INSERTs of single rows, for the few places where building the statement costs more than running it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models

from tools_app.core.prepared import Filled, Prepared, Rows, fetch_together


def insert_row(row: models.Model) -> None:
    """Store a new row as `save(force_insert=True)` does, without signals. Raises IntegrityError, DataError."""
    insert_rows(row)


def insert_rows(*rows: models.Model, along: Sequence[Filled] = ()) -> list[Rows]:
    """Store new rows, of any models, in their order and in one round trip. Raises as `insert_row`.

    The statements of `along` are sent with them, after them; their rows are the answer.
    """
    told = fetch_together(*(_fill(row) for row in rows), *along)
    for row, answer in zip(rows, told[: len(rows)], strict=True):
        if answer:
            ((row.pk,),) = answer
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    return told[len(rows) :]


def _fill(row: models.Model) -> Filled:
    statement, fields = _build(type(row))
    database = connections[DEFAULT_DB_ALIAS]
    return statement.fill(
        **{
            field.column: (
                getattr(row, field.attname) if is_plain else field.get_db_prep_save(field.pre_save(row, True), database)
            )
            for field, is_plain in fields
        }
    )


# Fields whose value reaches PostgreSQL as it is.
_PLAIN = frozenset({models.CharField, models.TextField, models.SlugField, models.BooleanField, models.UUIDField})


@cache
def _build(model: type[models.Model]) -> tuple[Prepared, list[tuple[Any, bool]]]:
    key = model._meta.pk
    makes_key = isinstance(key, models.AutoField | models.BigAutoField)
    fields = [field for field in model._meta.concrete_fields if not (makes_key and field is key)]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(f"%({field.column})s" for field in fields)
    told = f' RETURNING "{key.column}"' if makes_key else ""
    sql = f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({marks}){told}'  # noqa: S608
    return Prepared(f"insert_{model._meta.model_name}", sql), [(field, type(field) in _PLAIN) for field in fields]
