"""One INSERT of one row, for the few places where building the statement costs more than running it."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db import connection, models

from tools_app.core.prepared import Prepared


def insert_row(row: models.Model) -> None:
    """Store a new row as `save(force_insert=True)` does, without signals. Raises IntegrityError, DataError."""
    statement, fields, makes_key = _build(type(row))
    values = {
        field.column: (
            getattr(row, field.attname) if is_plain else field.get_db_prep_save(field.pre_save(row, True), connection)
        )
        for field, is_plain in fields
    }
    told = statement.fetch(**values)
    if makes_key:
        ((row.pk,),) = told
    row._state.adding, row._state.db = False, connection.alias


# Fields whose value reaches PostgreSQL as it is.
_PLAIN = frozenset({models.CharField, models.TextField, models.SlugField, models.BooleanField, models.UUIDField})


@cache
def _build(model: type[models.Model]) -> tuple[Prepared, list[tuple[Any, bool]], bool]:
    key = model._meta.pk
    makes_key = isinstance(key, models.AutoField | models.BigAutoField)
    fields = [field for field in model._meta.concrete_fields if not (makes_key and field is key)]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(f"%({field.column})s" for field in fields)
    told = f' RETURNING "{key.column}"' if makes_key else ""
    sql = f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({marks}){told}'  # noqa: S608
    return (
        Prepared(f"insert_{model._meta.model_name}", sql),
        [(field, type(field) in _PLAIN) for field in fields],
        makes_key,
    )
