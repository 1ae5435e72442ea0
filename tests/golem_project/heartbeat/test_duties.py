"""What hangs on the pulse: consolidation every fifty ticks, the monitor's thresholds and batches, tidying."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from archetypes_app.models import AlertBatch, DecisionCycleRecord, Golem, Heartbeat, HeartbeatTick
from golem_project.heartbeat.duties import consolidator, delete_quiet_ticks
from golem_project.heartbeat.duties.alerting import floor_to_window
from golem_project.heartbeat.duties.consolidator import consolidate_due
from golem_project.heartbeat.duties.delete_quiet_ticks import forget_quiet_ticks
from golem_project.heartbeat.duties.monitor import Pulse, judge_pulse, monitor_golems, read_pulse
from golem_project.heartbeat.duties.run import run_duties
from permits_app.models import ActionRecord
from tests.factories.golems import make_golem, make_owner
from tools_app.core import clock
from tools_app.core.models import OutboxEvent

FINE = Pulse(
    balance=31_000_000,
    loss_a_day=1_000_000,
    interval_seconds=120,
    expected_seconds=60,
    actions=(True, False) * 5,
    failed_ticks=5,
    gas=150,
    income=1_000,
    ticks_since_playbook=99,
)


@pytest.fixture
def golem(db: None) -> Golem:
    golem = make_golem(name="watched", owner=make_owner(name="watcher"))
    Heartbeat.objects.create(golem=golem, is_on=True)
    return golem


def _make_tick(golem: Golem, number: int, *, at: datetime, status: str = "COMPLETE") -> HeartbeatTick:
    return HeartbeatTick.objects.create(
        golem=golem, number=number, fence=number, status=status, scheduled_at=at, started_at=at, ended_at=at
    )


def test_a_pulse_at_its_limits_is_no_alert() -> None:
    assert judge_pulse(FINE) == ()


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("runway", {"balance": 29_999_999}),
        ("late", {"interval_seconds": 121}),
        ("success", {"actions": (True,) * 7 + (False,) * 13}),
        ("errors", {"failed_ticks": 6}),
        ("gas", {"gas": 151}),
        ("playbook", {"ticks_since_playbook": 100}),
    ],
)
def test_each_threshold_of_the_monitor(rule: str, change: dict[str, Any]) -> None:
    (alert,) = judge_pulse(replace(FINE, **change))
    assert alert.rule == rule and alert.observed and alert.limit


def test_forty_percent_success_is_enough() -> None:
    assert judge_pulse(replace(FINE, actions=(True,) * 8 + (False,) * 12)) == ()


def test_alerts_come_once_in_five_minutes_and_again_in_the_next(golem: Golem) -> None:
    now = floor_to_window(clock.now()) + timedelta(seconds=10)
    _make_tick(golem, 1, at=now - timedelta(minutes=10))
    assert monitor_golems(now=now) == 1
    assert monitor_golems(now=now + timedelta(seconds=60)) == 0
    assert monitor_golems(now=now + timedelta(seconds=300)) == 1
    first, second = AlertBatch.objects.filter(golem=golem).order_by("window_start")
    assert second.window_start - first.window_start == timedelta(seconds=300)
    assert first.alerts[0]["rule"] == "late"
    events = OutboxEvent.objects.filter(golem_id=golem.pk, type="heartbeat:alert")
    assert [each.payload["alerts"][0]["rule"] for each in events] == ["late", "late"]


def test_six_failed_ticks_in_ten_are_an_alert(golem: Golem) -> None:
    now = clock.now()
    for number in range(1, 11):
        _make_tick(golem, number, at=now, status="ABANDONED" if number <= 6 else "COMPLETE")
    assert monitor_golems(now=now) == 1
    assert [each["rule"] for each in AlertBatch.objects.get(golem=golem).alerts] == ["errors"]


def test_a_pulse_is_what_this_golem_did_in_its_last_twenty_ticks_and_paid_in_a_week(golem: Golem) -> None:
    now = clock.now()
    for number in range(1, 23):
        _make_tick(golem, number, at=now)
    other = make_golem(name="other", owner=make_owner(name="elsewhere"))
    _make_tick(other, 22, at=now)
    done = (
        (golem, 22, "BLOCKED", 5),
        (golem, 3, "BLOCKED", 7),
        (golem, 2, "BLOCKED", 11),
        (golem, 22, "PLANNED", 13),
        (other, 22, "BLOCKED", 17),
    )
    for position, (whose, number, state, gas) in enumerate(done):
        tick = HeartbeatTick.objects.get(golem=whose, number=number)
        ActionRecord.objects.create(
            golem=whose, tick=tick, position=position, action_type="swap", state=state, gas_micro_usd=gas
        )
    ActionRecord.objects.filter(golem=golem, state="PLANNED").update(created_at=now - timedelta(days=8))
    pulse = read_pulse(Heartbeat.objects.get(golem=golem), now=now)
    assert pulse.actions == (False, False)
    assert (pulse.gas, pulse.interval_seconds, pulse.failed_ticks) == (5 + 7 + 11, 0, 0)


def test_a_heartbeat_that_is_off_is_not_watched(golem: Golem) -> None:
    _make_tick(golem, 1, at=clock.now() - timedelta(hours=1))
    Heartbeat.objects.update(is_on=False)
    assert monitor_golems(now=clock.now()) == 0


def test_memory_is_consolidated_every_fifty_ticks_and_not_twice(golem: Golem, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(consolidator, "consolidate", lambda **given: done.append(given["golem_id"]))
    for tick, expected in ((49, 0), (50, 1), (99, 1), (100, 2), (263, 3), (299, 3), (300, 4)):
        Golem.objects.filter(pk=golem.pk).update(heartbeat_tick=tick)
        consolidate_due(now=clock.now())
        consolidate_due(now=clock.now())
        assert len(done) == expected, tick
    assert set(done) == {golem.pk}


def test_quiet_ticks_are_forgotten_after_a_week_and_others_kept(golem: Golem) -> None:
    old = datetime(2026, 1, 1, tzinfo=UTC)
    for number, (tier, at, mutations) in enumerate(
        [("T0", old, []), ("T1", old, []), ("T0", old, ["phase"]), ("T0", clock.now(), [])], start=1
    ):
        tick = _make_tick(golem, number, at=at)
        DecisionCycleRecord.objects.create(
            tick=tick,
            golem=golem,
            heartbeat_tick=number,
            decided_at=at,
            is_live=False,
            tier=tier,
            phase="THRIVING",
            mutations=mutations,
        )
    assert forget_quiet_ticks(now=clock.now()) == 1
    assert list(HeartbeatTick.objects.order_by("number").values_list("number", flat=True)) == [2, 3, 4]


def test_a_round_forgets_until_nothing_is_left_or_its_time_is_over(
    golem: Golem, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(1, 8):
        tick = _make_tick(golem, number, at=old)
        DecisionCycleRecord.objects.create(
            tick=tick, golem=golem, heartbeat_tick=number, decided_at=old, is_live=False, tier="T0", phase="THRIVING"
        )
    monkeypatch.setattr(delete_quiet_ticks, "_SECONDS", 0.0)
    assert forget_quiet_ticks(now=clock.now(), limit=2) == 2
    monkeypatch.undo()
    assert forget_quiet_ticks(now=clock.now(), limit=2) == 5
    assert not HeartbeatTick.objects.exists()


def test_every_duty_runs_and_says_what_it_did(golem: Golem) -> None:
    assert run_duties(now=clock.now()) == {
        "consolidated": 0,
        "alerted": 0,
        "published": 0,
        "forgotten": 0,
        "learned": 0,
        "positions": 0,
        "requests": 0,
        "searched": 0,
    }
