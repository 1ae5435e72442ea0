"""The newest action of a wish is found by its key, and costs as much after years as on a first day."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from archetypes_app.models import Golem
from permits_app.models.action_record import ActionRecord, ActionState
from permits_app.permits.latest_action_per_wish import read_latest_actions
from tests import factories
from tests.admin.rows import make_tick

pytestmark = pytest.mark.django_db
NOW = datetime.fromisoformat("2026-11-30T12:00:00+00:00")
REFUSED = (ActionState.BLOCKED, ActionState.DEFERRED)
MANY = 3_000


def write(golem: Golem, key: str, state: ActionState, minutes_ago: list[int]) -> None:
    """An action of the wish for each of `minutes_ago`, all of one tick of its own."""
    tick = make_tick(golem)
    made = ActionRecord.objects.bulk_create(
        ActionRecord(tick=tick, golem=golem, position=place, action_type="swap", wish_key=key, state=state)
        for place, _ in enumerate(minutes_ago, start=100)
    )
    for each, minutes in zip(made, minutes_ago, strict=True):
        each.created_at = NOW - timedelta(minutes=minutes)
    ActionRecord.objects.bulk_update(made, ["created_at"])


def list_scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "Relation Name" in plan:
        yield plan
    for inner in plan.get("Plans", ()):
        yield from list_scans(inner)


def test_each_wish_has_its_newest_action_in_those_states_and_no_other_golems() -> None:
    ana, ben = (factories.make_golem(owner=factories.make_owner(name=each)) for each in ("ana", "ben"))
    write(ana, "buy", ActionState.BLOCKED, [30, 10, 20])
    write(ana, "buy", ActionState.DEFERRED, [5, 50])
    write(ana, "sell", ActionState.REHEARSED, [1])
    write(ben, "buy", ActionState.BLOCKED, [2])
    found = read_latest_actions(golem_id=ana.pk, keys=["buy", "sell", "keep"], states=REFUSED)
    assert {key: (row.golem_id, row.created_at) for key, row in found.items()} == {
        "buy": (ana.pk, NOW - timedelta(minutes=5))
    }
    assert read_latest_actions(golem_id=ana.pk, keys=[], states=REFUSED) == {}


def test_the_database_reads_one_row_for_each_key_and_state_of_a_long_life() -> None:
    golem = factories.make_golem(owner=factories.make_owner())
    write(golem, "buy", ActionState.BLOCKED, list(range(MANY)))
    write(golem, "sell", ActionState.BLOCKED, list(range(MANY)))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE permits_app_actionrecord")
    with CaptureQueriesContext(connection) as asked:
        found = read_latest_actions(golem_id=golem.pk, keys=["buy", "sell"], states=REFUSED)
    assert {row.created_at for row in found.values()} == {NOW} and len(found) == 2
    (statement,) = (each["sql"] for each in asked.captured_queries)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}")
        (told,) = cursor.fetchone() or ("[]",)
    [explained] = json.loads(told) if isinstance(told, str) else told
    read = [each["Actual Rows"] + each.get("Rows Removed by Filter", 0) for each in list_scans(explained["Plan"])]
    assert read and sum(read) <= 4, explained
