"""Gives a golem that acted a few times a long life: its ended rows, written again many times further back in time."""

from __future__ import annotations

from collections.abc import Collection

from django.apps import apps
from django.db import connection, models

from archetypes_app.models import Golem

_DAYS_BACK = 40
"""Older than every window that a rule looks through."""
_MINUTES_APART = 10

_OF_PERMIT = "permit_id IN (SELECT id FROM permits_app_actionpermit WHERE golem_id = %(golem)s)"
_OF_GOLEM = "golem_id = %(golem)s"
_ENDED = "status IN ('COMMITTED', 'REVERTED', 'EXPIRED', 'DENIED', 'CANCELLED')"
# What is copied, which rows of it, and what must differ in a copy beside keys and times. The order is that of the keys.
_COPIED: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("permits_app.ActionPermit", f"{_OF_GOLEM} AND {_ENDED}", {"expires_at_tick": "n + 3"}),
    (
        "permits_app.OutboundTransaction",
        _OF_PERMIT,
        {
            "state": "'FINAL'",
            "tx_hash": "'0x' || md5(n || tx_hash) || md5(tx_hash || n)",
            "nonce": "nonce + n * 100 + 1000000",
            "block_number": "1",
            "replaces_id": "NULL",
        },
    ),
    ("permits_app.OutcomeRecord", _OF_PERMIT, {}),
    (
        "permits_app.SpendEntry",
        f"{_OF_GOLEM} AND state <> 'RESERVED' AND reverses_id IS NULL",
        {"heartbeat_tick": "n"},
    ),
    (
        "permits_app.NonceReservation",
        _OF_PERMIT,
        {"address": "'0x' || md5(n::text) || '00000000'"},
    ),
    (
        "archetypes_app.HeartbeatTick",
        f"{_OF_GOLEM} AND status <> 'RUNNING'",
        {"number": "number - n * 10"},
    ),
    ("permits_app.NavSnapshot", _OF_GOLEM, {"block_number": "block_number + n * 1000 + 1000000"}),
    ("permits_app.DeniedCall", _OF_GOLEM, {}),
    (
        "memory_app.Episode",
        _OF_GOLEM,
        {
            "content_hash": "md5(n || content_hash) || md5(content_hash || n)",
            "permit_id": "md5(n || permit_id::text)::uuid",
            "origin_id": "md5(n || origin_id::text)::uuid",
        },
    ),
)


def give_life(golem: Golem, copies: int, *, without: Collection[str] = (), full: int | None = None) -> None:
    """Write each ended row of `golem` again `copies` times, from forty days ago back, and tell the planner of it.

    Models named in `without` are left as they are. With `full`, documents of older copies than so many are empty, and
    nothing is checked while it is written: a million rows take a minute.
    """
    with connection.cursor() as cursor:
        if full is not None:
            cursor.execute("SET LOCAL session_replication_role = replica")
        for label, which, changes in _COPIED:
            if label in without:
                continue
            model = apps.get_model(label)
            sql = _write_copy(model, which, changes, is_cut=full is not None)
            cursor.execute(sql, {"golem": golem.pk, "copies": copies, "full": full})
            # What is copied next is chosen by these rows.
            cursor.execute(f"ANALYZE {model._meta.db_table}")
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE")


def _write_copy(model: type[models.Model], which: str, changes: dict[str, str], *, is_cut: bool) -> str:
    columns, values = [], []
    for field in model._meta.concrete_fields:
        name = field.column
        if field.primary_key and not isinstance(field, models.UUIDField) or getattr(field, "generated", False):
            continue
        columns.append(f'"{name}"')
        if name in changes:
            values.append(changes[name])
        elif field.primary_key or name == "permit_id":
            values.append(f'md5(n || "{name}"::text)::uuid')
        elif is_cut and isinstance(field, models.JSONField) and not field.null:
            empty = "[]" if field.default is list else "{}"
            values.append(f"""CASE WHEN n <= %(full)s THEN "{name}" ELSE '{empty}'::jsonb END""")
        elif isinstance(field, models.DateTimeField):
            values.append(f'"{name}" - make_interval(days => {_DAYS_BACK}, mins => n * {_MINUTES_APART})')
        else:
            values.append(f'"{name}"')
    table = model._meta.db_table
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)}"
        f" FROM {table}, generate_series(1, %(copies)s) AS n WHERE {which}"
    )
