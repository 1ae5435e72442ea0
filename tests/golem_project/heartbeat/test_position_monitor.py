"""The position monitor: what left its range is told once, from real ticks, and once when it is well again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.models import DecisionCycleRecord, Golem
from golem_project.heartbeat.duties.position_monitor import judge_positions, monitor_positions
from golem_project.heartbeat.duties.run import run_duties
from tests import factories
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.test_rule_planner import trade
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import OutboxEvent


def at(pool_tick: int, **changes: Any) -> dict[str, Any]:
    position = {
        "position_id": "7",
        "pool_tick": pool_tick,
        "tick_lower": 0,
        "tick_upper": 1_000,
        "in_range": 0 <= pool_tick < 1_000,
        "liquidity": "5",
    }
    return {"positions": [position | changes]}


@pytest.mark.parametrize(
    ("pool_tick", "rules"),
    [
        (500, []),
        (100, []),
        (99, ["near an edge: position 7"]),
        (900, []),
        (901, ["near an edge: position 7"]),
        (-1, ["out of range: position 7"]),
        (1_000, ["out of range: position 7"]),
    ],
)
def test_the_edges_of_a_range_are_told(pool_tick: int, rules: list[str]) -> None:
    assert [alert.rule for alert in judge_positions(at(pool_tick))] == rules
    assert judge_positions(at(pool_tick, liquidity="0")) == ()


def told(golem: Golem) -> list[str]:
    rows = OutboxEvent.objects.filter(golem_id=golem.pk, type="heartbeat:alert", payload__source="position-monitor")
    return [alert["rule"] for row in rows.order_by("sequence") for alert in row.payload["alerts"]]


def test_a_position_that_a_whale_pushed_out_is_told_once_and_once_when_it_is_back(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    turn_on(golem)
    tick(golem)
    record = tick(golem)
    run_duties(now=clock.now())
    assert told(golem) == []
    trade(live_golem.world, sells="USDC", buys="WETH", usd=3_000_000)
    pushed = tick(golem)
    name = record.probes["positions"][0]["position_id"]
    for minutes in (0, 1, 6):
        run_duties(now=pushed.decided_at + timedelta(minutes=minutes))
    assert told(golem) == [f"out of range: position {name}"]
    trade(live_golem.world, sells="WETH", buys="USDC", usd=3_150_000)
    back = tick(golem)
    run_duties(now=back.decided_at + timedelta(minutes=7))
    assert told(golem) == [f"out of range: position {name}", "well again"]


def test_of_more_golems_than_one_look_takes_every_one_has_its_turn(live_golem: LiveGolem) -> None:
    turn_on(live_golem.golem)
    first = tick(live_golem.golem)
    golems = [live_golem.golem]
    for number in range(2):
        golem = factories.make_golem(owner=live_golem.owner, name=f"Other {number}")
        turn_on(golem)
        pulse = _copy(first.tick, golem=golem)
        _copy(first, golem=golem, tick=pulse)
        golems.append(golem)
    DecisionCycleRecord.objects.update(probes=at(-1))
    for _ in range(60):
        monitor_positions(now=clock.now(), limit=1)
    assert [told(golem) for golem in golems] == [["out of range: position 7"]] * 3


def _copy(row: Any, **changes: Any) -> Any:
    columns = {
        field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.primary_key
    }
    for name in changes:
        columns.pop(f"{name}_id")
    return type(row).objects.create(**columns, **changes)
