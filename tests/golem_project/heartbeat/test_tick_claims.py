"""Who ticks, when, and only once: two beats, dead workers, late deliveries and clocks that jump."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from archetypes_app.models import DecisionCycleRecord, Golem, Heartbeat, HeartbeatTick
from golem_project.heartbeat.cycle import run_heartbeat_tick
from golem_project.heartbeat.tasks import claim_heartbeats_task
from golem_project.heartbeat.tick_claims import BegunTick, TickClaim, begin_tick, claim_due, note_regime
from tests.factories.golems import make_golem, make_owner
from tools_app.core import clock

LEASE = 90


def _make_golems(count: int, **columns: Any) -> list[Golem]:
    owner = make_owner(name="pulse owner")
    golems = [make_golem(name=f"golem {number}", owner=owner) for number in range(count)]
    due = columns.pop("next_tick_at", clock.now() - timedelta(seconds=1))
    for golem in golems:
        Heartbeat.objects.create(golem=golem, is_on=True, next_tick_at=due, **columns)
    return golems


def _claim(now: datetime | None = None, limit: int = 1_000) -> list[TickClaim]:
    return claim_due(now=now or clock.now(), limit=limit, lease_seconds=LEASE, jitter_bps=500)


def _begin(claim: TickClaim, now: datetime | None = None) -> BegunTick | None:
    return begin_tick(claim=claim, lease_seconds=LEASE, now=now or clock.now())


def test_only_golems_that_are_due_and_on_are_claimed(db: None) -> None:
    due, later, off = _make_golems(3)
    Heartbeat.objects.filter(pk=later.pk).update(next_tick_at=clock.now() + timedelta(seconds=20))
    Heartbeat.objects.filter(pk=off.pk).update(is_on=False)
    assert [claim.golem_id for claim in _claim()] == [due.pk]
    assert _claim() == []


def test_a_claim_takes_the_longest_waiting_first_and_leaves_the_rest(db: None) -> None:
    golems = _make_golems(3)
    for number, golem in enumerate(golems):
        Heartbeat.objects.filter(pk=golem.pk).update(next_tick_at=clock.now() - timedelta(seconds=10 - number))
    assert {claim.golem_id for claim in _claim(limit=2)} == {golems[0].pk, golems[1].pk}
    assert [claim.golem_id for claim in _claim(limit=2)] == [golems[2].pk]


def test_two_beats_at_once_share_the_golems(transactional_db: None) -> None:
    golems = _make_golems(40)
    found: list[list[TickClaim]] = [[] for _ in range(6)]
    barrier = threading.Barrier(len(found))

    def look(place: int) -> None:
        try:
            barrier.wait(timeout=10)
            found[place] = [claim for _ in range(10) for claim in _claim(limit=4)]
        finally:
            connection.close()

    threads = [threading.Thread(target=look, args=(place,)) for place in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    claimed = [claim.golem_id for claims in found for claim in claims]
    assert sorted(claimed) == sorted(golem.pk for golem in golems)


def test_a_claim_begins_once_however_often_it_is_delivered(db: None) -> None:
    (golem,) = _make_golems(1)
    (claim,) = _claim()
    begun = _begin(claim)
    assert begun is not None and begun.number == 1
    assert _begin(claim) is None
    assert HeartbeatTick.objects.filter(golem=golem).count() == 1


def test_an_older_claim_is_void(db: None) -> None:
    _make_golems(1)
    (old,) = _claim()
    (new,) = _claim(clock.now() + timedelta(seconds=LEASE + 1))
    assert new.fence == old.fence + 1
    assert _begin(old) is None and _begin(new) is not None


def test_a_tick_is_not_begun_while_another_one_holds_the_golem(db: None) -> None:
    (golem,) = _make_golems(1)
    (claim,) = _claim()
    assert _begin(claim) is not None
    Heartbeat.objects.filter(pk=golem.pk).update(next_tick_at=clock.now() - timedelta(seconds=1))
    assert _claim() == []


def test_a_market_that_a_dead_tick_noted_hides_no_change_from_the_next_and_a_late_one_notes_nothing(db: None) -> None:
    (golem,) = _make_golems(1)
    (claim,) = _claim()
    dead = _begin(claim)
    assert dead is not None and dead.regime == "NORMAL"
    note_regime(begun=dead, regime="CRISIS", now=clock.now())
    later = clock.now() + timedelta(seconds=LEASE + 1)
    (again,) = _claim(later)
    begun = _begin(again, later)
    assert begun is not None and (begun.regime, begun.regime_before) == ("CRISIS", "NORMAL")
    note_regime(begun=begun, regime="VOLATILE", now=later)
    note_regime(begun=dead, regime="CALM", now=later)
    assert Heartbeat.objects.get(golem=golem).regime == "VOLATILE"
    last = later + timedelta(seconds=LEASE + 1)
    (third,) = _claim(last)
    record = run_heartbeat_tick(claim=third, now=lambda: last)
    kept = Heartbeat.objects.get(golem=golem)
    assert record is not None and (kept.regime, kept.state.get("regime_before")) == (record.regime, None)


def test_a_dead_workers_golem_is_free_after_its_lease_and_its_tick_is_recorded(db: None) -> None:
    (golem,) = _make_golems(1)
    (claim,) = _claim()
    assert _begin(claim) is not None
    later = clock.now() + timedelta(seconds=LEASE + 1)
    (again,) = _claim(later)
    record = run_heartbeat_tick(claim=again, now=lambda: later)
    assert record is not None and record.heartbeat_tick == 2
    left = HeartbeatTick.objects.get(golem=golem, number=1)
    assert left.status == "ABANDONED" and left.decision.outcome == {"status": "ABANDONED"}
    assert DecisionCycleRecord.objects.filter(golem=golem).count() == 2


def test_a_worker_back_from_the_dead_writes_nothing(db: None) -> None:
    (golem,) = _make_golems(1)
    (claim,) = _claim()
    at = clock.now()

    def taken_over_while_reading() -> Callable[[], datetime]:
        calls = iter(range(1_000))

        def tell() -> datetime:
            # The second reading of the clock happens inside the tick: by then another tick began.
            if next(calls) == 1:
                (other,) = _claim(at + timedelta(seconds=LEASE + 1))
                assert _begin(other) is not None
            return at

        return tell

    assert run_heartbeat_tick(claim=claim, now=taken_over_while_reading()) is None
    running = HeartbeatTick.objects.get(golem=golem, status="RUNNING")
    assert running.number == 2
    assert not DecisionCycleRecord.objects.filter(tick__number=1).exists()


def test_a_heartbeat_turned_off_after_its_claim_does_not_tick(db: None) -> None:
    (golem,) = _make_golems(1)
    (claim,) = _claim()
    Heartbeat.objects.filter(pk=golem.pk).update(is_on=False)
    assert _begin(claim) is None
    golem.refresh_from_db()
    assert golem.heartbeat_tick == 0


def test_hours_of_outage_are_one_tick_and_counted(db: None) -> None:
    at = clock.now()
    (golem,) = _make_golems(1, next_tick_at=at - timedelta(hours=2))
    (claim,) = _claim(at)
    record = run_heartbeat_tick(claim=claim, now=lambda: at)
    assert record is not None
    tick = HeartbeatTick.objects.get(golem=golem)
    heartbeat = Heartbeat.objects.get(pk=golem.pk)
    assert tick.missed_before == 120 and 118 <= heartbeat.missed_ticks <= 121
    assert 0 < (heartbeat.next_tick_at - at).total_seconds() <= 63
    assert _claim(at) == []


@pytest.mark.parametrize("jump", [timedelta(hours=-3), timedelta(days=-400)])
def test_a_clock_that_went_back_stops_no_golem(db: None, jump: timedelta) -> None:
    (golem,) = _make_golems(1)
    (claim,) = _claim()
    assert run_heartbeat_tick(claim=claim) is not None
    back = clock.now() + jump
    (again,) = _claim(back)
    assert run_heartbeat_tick(claim=again, now=lambda: back) is not None
    heartbeat = Heartbeat.objects.get(pk=golem.pk)
    assert 0 < (heartbeat.next_tick_at - back).total_seconds() <= 63


def test_a_lease_of_a_clock_that_went_back_is_no_lease(db: None) -> None:
    _make_golems(1)
    (claim,) = _claim()
    assert _begin(claim) is not None
    back = clock.now() - timedelta(hours=1)
    assert [again.fence for again in _claim(back)] == [claim.fence + 1]


def test_a_clock_that_jumps_ahead_makes_every_golem_due_once(db: None) -> None:
    golems = _make_golems(20, next_tick_at=clock.now() + timedelta(seconds=30))
    ahead = clock.now() + timedelta(hours=5)
    claims = _claim(ahead)
    assert len(claims) == len(golems) and _claim(ahead) == []
    assert run_heartbeat_tick(claim=claims[0], now=lambda: ahead) is not None
    assert _claim(ahead) == []


def test_the_beat_hands_every_due_golem_to_a_worker(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    golems = _make_golems(3)
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr("golem_project.heartbeat.tasks.tick_golem_task.apply_async", lambda **given: sent.append(given))
    assert claim_heartbeats_task() == 3
    assert {row["kwargs"]["golem_id"] for row in sent} == {str(golem.pk) for golem in golems}
    assert {row["expires"] for row in sent} == {settings.GOLEM_HEARTBEAT_LEASE_SECONDS}
    assert claim_heartbeats_task() == 0
