"""Ends what was claimed and is not really run, as if it had been, and writes a share of the rows of such ticks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db import connection, models, transaction

from archetypes_app.models import DecisionCycleRecord, Heartbeat, HeartbeatTick
from tools_app.core import clock

ONE_IN: Final = 8
"""So many golems share the rows of one: a table of a whole day would hold tens of millions."""
_CLOCK: Final = Heartbeat._meta.db_table


def end_others(golems: Sequence[UUID], *, like: HeartbeatTick, hour: int) -> None:
    """Free every golem that is claimed and was not begun, and write `like` and its decision again for some of them."""
    some = [each for number, each in enumerate(golems) if number % ONE_IN == hour % ONE_IN]
    decision = DecisionCycleRecord.objects.get(tick=like)
    now = clock.now()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TEMP TABLE ended ON COMMIT DROP AS SELECT golem_id FROM {_CLOCK}"  # (the table's own name)
            " WHERE begun_fence < fence AND lease_expires_at IS NOT NULL"
        )
        cursor.execute(
            f"UPDATE {_CLOCK} SET begun_fence = fence, lease_expires_at = NULL, next_tick_at = %s"
            " WHERE golem_id IN (SELECT golem_id FROM ended)",
            [now],
        )
        cursor.execute(
            "WITH counted AS (UPDATE archetypes_app_golem SET heartbeat_tick = heartbeat_tick + 1"
            " WHERE id = ANY(%(some)s) AND id IN (SELECT golem_id FROM ended) RETURNING id, heartbeat_tick), tick AS ("
            f" {_write(HeartbeatTick, {'golem_id': 'counted.id', 'number': 'counted.heartbeat_tick'})}"
            " , counted WHERE of_one.id = %(tick)s RETURNING id, golem_id, number)"
            f" {_write(DecisionCycleRecord, _OF_DECISION)}, tick WHERE of_one.id = %(decision)s",
            {"some": some, "tick": like.pk, "decision": decision.pk},
        )


_OF_DECISION: Final = {"tick_id": "tick.id", "golem_id": "tick.golem_id", "heartbeat_tick": "tick.number"}


def _write(model: type[models.Model], changes: dict[str, str]) -> str:
    names = [str(field.column) for field in model._meta.concrete_fields if not field.primary_key]
    values = [changes.get(name, f'of_one."{name}"') for name in names]
    quoted = ", ".join(f'"{name}"' for name in names)
    return (
        f"INSERT INTO {model._meta.db_table} ({quoted}) SELECT {', '.join(values)} FROM {model._meta.db_table} of_one"
    )
