"""Inserts and updates single rows with ready SQL, where building a Django query costs more than running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models

from tools_app.core.prepared_statements import Filled, Prepared, Rows, fetch_together


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
        _note_stored(row)
    return told[len(rows) :]


def insert_unless_known(row: models.Model, *others: models.Model, along: Sequence[Filled] = ()) -> list[Rows] | None:
    """`insert_rows`, or None where a unique constraint knows `row` already: PostgreSQL notes no error then.

    `others` and `along` were sent with it all the same, so the caller rolls its transaction back. `row` has its key
    before. Raises as `insert_row`.
    """
    statement, fields = _build(type(row), skips_known=True)
    filled = statement.fill(**_list_values(row, fields))
    told = fetch_together(filled, *(_fill(each) for each in others), *along)
    if not told[0]:
        return None
    for each in (row, *others):
        _note_stored(each)
    return told[1 + len(others) :]


def _note_stored(row: models.Model) -> None:
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def change_rows(model: type[models.Model], *, where: Mapping[str, object], **columns: object) -> int:
    """Write `columns` to the rows of `model` that are as `where` says, as `filter(...).update(...)`; how many.

    `where` holds values by field, None for NULL, a tuple for any of its texts; by `field__gt` or `field__lte` a bound.
    """
    return len(fill_change(model, where=where, **columns).fetch())


def fill_change(model: type[models.Model], *, where: Mapping[str, object], **columns: object) -> Filled:
    """The statement of `change_rows`, for whoever sends it along with others; one row comes back for each changed."""
    # What is fixed stays in the text: an index of some states only is found by it.
    fixed = tuple((name, value) for name, value in where.items() if value is None or isinstance(value, tuple))
    free = tuple(name for name in where if (name, where[name]) not in fixed)
    statement, fields = _build_change(model, fixed, free, tuple(columns))
    database = connections[DEFAULT_DB_ALIAS]
    given = [*columns.values(), *(where[name] for name in free)]
    return statement.fill(
        **{
            f"p{place}": field.get_db_prep_save(value.value if isinstance(value, Enum) else value, database)
            for place, (field, value) in enumerate(zip(fields, given, strict=True))
        }
    )


@cache
def _build_change(
    model: type[models.Model],
    fixed: tuple[tuple[str, Any], ...],  # Any: a column's value, of any type
    free: tuple[str, ...],
    columns: tuple[str, ...],
) -> tuple[Prepared, list[Any]]:  # Any: a column's value, of any type
    fields = [_find_field(model, name) for name in columns]
    changes = ", ".join(f'"{field.column}" = %(p{place})s' for place, field in enumerate(fields))
    conditions = []
    for name, value in fixed:
        texts = "NULL" if value is None else ", ".join("'" + str(each).replace("'", "''") + "'" for each in value)
        column = _find_field(model, name).column
        conditions.append(f'"{column}" IS NULL' if value is None else f'"{column}" IN ({texts})')
    for name in free:
        name, _, compared = name.partition("__")
        conditions.append(f'"{_find_field(model, name).column}" {_COMPARED[compared]} %(p{len(fields)})s')
        fields.append(_find_field(model, name))
    table = model._meta.db_table
    sql = f'UPDATE "{table}" SET {changes} WHERE {" AND ".join(conditions)} RETURNING 1'  # noqa: S608
    return Prepared(f"change_{model._meta.model_name}", sql), fields


def _find_field(model: type[models.Model], name: str) -> Any:  # Any: a column's value, of any type
    return model._meta.pk if name == "pk" else model._meta.get_field(name)


def _fill(row: models.Model) -> Filled:
    statement, fields = _build(type(row))
    return statement.fill(**_list_values(row, fields))


def _list_values(
    row: models.Model,
    fields: list[tuple[Any, bool]],  # Any: a column's value, of any type
) -> dict[str, Any]:  # Any: a column's value, of any type
    database = connections[DEFAULT_DB_ALIAS]
    return {
        field.column: (
            getattr(row, field.attname) if is_plain else field.get_db_prep_save(field.pre_save(row, True), database)
        )
        for field, is_plain in fields
    }


_COMPARED = {"": "=", "gt": ">", "lte": "<="}
# Fields whose value reaches PostgreSQL as it is.
_PLAIN = frozenset({models.CharField, models.TextField, models.SlugField, models.BooleanField, models.UUIDField})


@cache
def _build(model: type[models.Model], *, skips_known: bool = False) -> tuple[Prepared, list[tuple[object, bool]]]:
    key = model._meta.pk
    makes_key = isinstance(key, models.AutoField | models.BigAutoField)
    made_there = (key,) if makes_key else ()
    fields = [
        field
        for field in model._meta.concrete_fields
        if not getattr(field, "generated", False) and field not in made_there
    ]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    marks = ", ".join(f"%({field.column})s" for field in fields)
    told = f' RETURNING "{key.column}"' if makes_key or skips_known else ""
    told = " ON CONFLICT DO NOTHING" + told if skips_known else told
    sql = f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({marks}){told}'  # noqa: S608
    return Prepared(f"insert_{model._meta.model_name}", sql), [(field, type(field) in _PLAIN) for field in fields]
