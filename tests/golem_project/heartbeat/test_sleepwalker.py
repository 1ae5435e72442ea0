"""What an observer sees of its owner's golems: five domains, sure statements only, each with sources and a recipe."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.actions.sync_builtins import sync_builtins
from archetypes_app.models import AlertBatch, Archetype, Artifact, DecisionCycleRecord, Golem, Heartbeat, HeartbeatTick
from archetypes_app.models.artifact import LARGEST_PRICE_MICRO_USD, LEAST_PRICE_MICRO_USD, Domain
from archetypes_app.publishing import price_of
from golem_project.heartbeat.duties import sleepwalker
from golem_project.heartbeat.duties.alerting import floor_to_window
from golem_project.heartbeat.duties.observer_measures import MEASURES, Counted
from golem_project.heartbeat.duties.sleepwalker import OBSERVER, ObservedCount, check_artifact, walk_asleep
from memory_app.models import Episode
from permits_app.models.action_record import ActionRecord
from tests.factories.golems import make_golem, make_owner
from tests.factories.permits import make_permit
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent

POOL = "0x" + "Ab" * 20


@pytest.fixture
def watched(db: None) -> Golem:
    """A golem that is looked at."""
    sync_builtins()
    return make_golem(name="watched", owner=make_owner(name="walker"))


@pytest.fixture
def observer(watched: Golem) -> Golem:
    """Its owner's observer, switched on."""
    return make_observer(watched.owner)


def make_observer(owner: Any) -> Golem:
    observer = make_golem(name="sleepwalker", owner=owner)
    Golem.objects.filter(pk=observer.pk).update(archetype=Archetype.objects.get(name=OBSERVER))
    observer.refresh_from_db()
    Heartbeat.objects.create(golem=observer, is_on=True)
    return observer


def make_looks(golem: Golem, *deviations: int, at: datetime | None = None) -> None:
    """Ticks that saw the pool this far from its feeds."""
    at = at or clock.now()
    first = HeartbeatTick.objects.filter(golem=golem).count() + 1
    for number, deviation in enumerate(deviations, start=first):
        row = HeartbeatTick.objects.create(
            golem=golem, number=number, fence=number, status="COMPLETE", scheduled_at=at, started_at=at, ended_at=at
        )
        DecisionCycleRecord.objects.create(
            tick=row,
            golem=golem,
            heartbeat_tick=number,
            decided_at=at,
            is_live=False,
            phase="THRIVING",
            probes={"pool": POOL, "deviation_bps": deviation},
        )


def make_ends(golem: Golem, *states: str) -> None:
    """Actions that ended so."""
    make_looks(golem, 0)
    newest = HeartbeatTick.objects.filter(golem=golem).latest("number")
    for position, state in enumerate(states):
        ActionRecord.objects.create(
            tick=newest,
            golem=golem,
            position=position,
            action_type="swap",
            state=state,
            permit=make_permit(golem=golem) if state == "EXECUTED" else None,
        )


def test_what_is_sure_is_published_with_sources_a_recipe_and_a_price(watched: Golem, observer: Golem) -> None:
    make_looks(watched, 5, 10, 20, 200, 201, 3)
    assert walk_asleep(now=clock.now()) == 1
    artifact = Artifact.objects.get(golem=observer)
    assert (artifact.domain, artifact.subject) == (Domain.LIQUIDITY, POOL)
    assert artifact.statement == f"The price of pool {POOL} was within 200 bps of its feeds in 5 of 6 looks."
    assert (artifact.support, artifact.total, artifact.confidence_percent) == (5, 6, 75)
    (source,) = artifact.episode_sources
    assert Episode.objects.get(pk=source).golem_id == observer.pk
    recipe = artifact.validation_recipe
    assert len(recipe["rows"]) == 6 and recipe["expect"] == {"support": 5, "total": 6} and "200" in recipe["rule"]
    assert artifact.price_micro_usd == 218_750
    event = OutboxEvent.objects.get(golem_id=observer.pk, type="grimoire:artifact")
    assert event.payload["artifact_id"] == str(artifact.pk) and event.payload["confidence_percent"] == 75
    assert AuditEntry.objects.filter(golem_id=observer.pk, event="ArtifactPublished").count() == 1
    assert not AlertBatch.objects.filter(golem=observer).exists()


def test_the_recipe_counts_the_same_again_and_notices_a_row_that_changed_or_went(
    watched: Golem, observer: Golem
) -> None:
    make_looks(watched, *[10] * 8)
    walk_asleep(now=clock.now())
    artifact = Artifact.objects.get(golem=observer)
    assert check_artifact(artifact) is True
    changed = DecisionCycleRecord.objects.filter(golem=watched)[0]
    DecisionCycleRecord.objects.filter(pk=changed.pk).update(probes={"pool": POOL, "deviation_bps": 900})
    assert check_artifact(artifact) is False
    HeartbeatTick.objects.filter(pk=changed.tick_id).delete()
    assert check_artifact(artifact) is None


@pytest.mark.parametrize(
    ("holds", "fails", "is_published"), [(4, 0, False), (5, 0, True), (3, 3, False), (4, 3, False)]
)
def test_below_sixty_percent_or_five_rows_nothing_is_published(
    watched: Golem, observer: Golem, holds: int, fails: int, is_published: bool
) -> None:
    make_looks(watched, *[10] * holds, *[900] * fails)
    assert walk_asleep(now=clock.now()) == int(is_published)


def test_what_speaks_against_what_should_hold_is_published_and_an_alert_of_the_window(
    watched: Golem, observer: Golem
) -> None:
    now = floor_to_window(clock.now()) + timedelta(seconds=5)
    make_ends(watched, *["BLOCKED"] * 7, "EXECUTED")
    assert walk_asleep(now=now) == 1
    artifact = Artifact.objects.get(golem=observer)
    assert artifact.is_adverse and artifact.domain == Domain.AGENT_ANALYTICS
    assert artifact.statement.startswith("1 of 8 actions that golems of kind ")
    batch = AlertBatch.objects.get(golem=observer, source=OBSERVER)
    assert [alert["rule"] for alert in batch.alerts] == ["actions_executed"]
    event = OutboxEvent.objects.get(golem_id=observer.pk, type="heartbeat:alert")
    assert event.payload["source"] == OBSERVER


def test_it_looks_once_in_five_minutes_and_says_nothing_twice(watched: Golem, observer: Golem) -> None:
    now = floor_to_window(clock.now()) + timedelta(seconds=5)
    make_looks(watched, *[10] * 10)
    assert walk_asleep(now=now) == 1
    make_looks(watched, *[900] * 9)
    assert walk_asleep(now=now + timedelta(seconds=120)) == 0, "the window is not over"
    assert walk_asleep(now=now + timedelta(seconds=300)) == 0, "not sure enough"
    make_looks(watched, *[10] * 20)
    assert walk_asleep(now=now + timedelta(seconds=600)) == 1, "another confidence"
    assert walk_asleep(now=now + timedelta(seconds=900)) == 0, "nothing new"
    assert walk_asleep(now=now + timedelta(hours=23)) == 0


def test_at_most_a_hundred_an_hour(watched: Golem, observer: Golem, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = MEASURES["price_near_feeds"]
    rows = tuple(Counted(str(number), "", True, uuid4()) for number in range(9))
    many = [ObservedCount(measure, f"pool {number}", rows) for number in range(130)]
    monkeypatch.setattr(sleepwalker, "find_all", lambda golem, now: many)
    monkeypatch.setattr(sleepwalker, "_keep", lambda golem, finding, now: uuid4())
    now = floor_to_window(clock.now())
    assert walk_asleep(now=now) == 100
    assert walk_asleep(now=now + timedelta(minutes=30)) == 0
    assert walk_asleep(now=now + timedelta(minutes=65)) == 30


def test_it_sees_its_owners_golems_only_and_none_of_its_own_rows(watched: Golem, observer: Golem) -> None:
    make_looks(make_golem(name="stranger", owner=make_owner(name="somebody-else")), *[10] * 9)
    make_looks(observer, *[10] * 9)
    assert walk_asleep(now=clock.now()) == 0


@pytest.mark.parametrize("change", [{"is_on": False}, {"halted": True}, {"archetype": "trade-executor"}])
def test_only_an_observer_that_is_on_and_not_halted_looks(
    watched: Golem, observer: Golem, change: dict[str, Any]
) -> None:
    make_looks(watched, *[10] * 9)
    if "is_on" in change:
        Heartbeat.objects.filter(pk=observer.pk).update(is_on=False)
    elif "halted" in change:
        Golem.objects.filter(pk=observer.pk).update(halted_at=clock.now())
    else:
        Golem.objects.filter(pk=observer.pk).update(archetype=Archetype.objects.get(name=change["archetype"]))
    assert walk_asleep(now=clock.now()) == 0


@pytest.mark.parametrize(
    "wrong",
    [{"confidence_percent": 59}, {"price_micro_usd": 49_999}, {"price_micro_usd": 500_001}, {"episode_sources": []}],
)
def test_the_database_refuses_what_may_not_be_published(observer: Golem, wrong: dict[str, Any]) -> None:
    columns: dict[str, Any] = {
        "golem": observer,
        "domain": Domain.MEV,
        "subject": "x",
        "statement": "x",
        "support": 5,
        "total": 5,
        "confidence_percent": 80,
        "episode_sources": [uuid4()],
        "validation_recipe": {},
        "price_micro_usd": 100_000,
        "published_at": clock.now(),
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        Artifact.objects.create(**{**columns, **wrong})


@given(st.integers(60, 100))
def test_a_price_lies_between_five_and_fifty_cents_and_rises_with_confidence(percent: int) -> None:
    assert LEAST_PRICE_MICRO_USD <= price_of(percent) <= LARGEST_PRICE_MICRO_USD
    assert percent == 60 or price_of(percent) > price_of(percent - 1)
    assert (price_of(60), price_of(100)) == (50_000, 500_000)


def test_what_a_golem_really_did_is_seen_in_its_domains(live_golem: LiveGolem) -> None:
    observer = make_observer(live_golem.owner)
    turn_on(live_golem.golem, rule={})
    for number in range(5):
        live_golem.commit(live_golem.preview(amount=str(50_000_000 + number))["permit_id"])
        tick(live_golem.golem)
    assert walk_asleep(now=clock.now()) == 2
    found = {row.domain: row for row in Artifact.objects.filter(golem=observer)}
    assert found[Domain.PROTOCOL_SAFETY].statement == "5 of 5 actions at uniswap did no more than they were allowed."
    assert found[Domain.MEV].statement.startswith("5 of 5 swaps at uniswap came out within 10 bps")
    assert all(check_artifact(row) for row in found.values())


@pytest.mark.parametrize("jump", [timedelta(hours=2), timedelta(days=1)], ids=["two hours", "a day"])
def test_what_it_said_in_a_future_that_did_not_come_silences_it_not_and_is_said_once(
    watched: Golem, observer: Golem, jump: timedelta
) -> None:
    now = floor_to_window(clock.now()) + timedelta(seconds=5)
    make_looks(watched, *[10] * 10)
    assert walk_asleep(now=now + jump) == 1
    Heartbeat.objects.update(observed_at=None)
    assert [walk_asleep(now=now + timedelta(seconds=300 * each)) for each in range(3)] == [1, 0, 0]
