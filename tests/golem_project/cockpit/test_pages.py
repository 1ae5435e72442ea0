"""The cockpit and the fleet: what they show, to whom, and at what cost."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from archetypes_app.models import DecisionCycleRecord, Golem, Heartbeat, HeartbeatTick
from archetypes_app.models.tick import TickStatus
from permits_app.limits import ledger
from permits_app.models import OutcomeRecord, SpendEntry
from permits_app.models.spending import SpendState
from tests import factories
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType
from tools_app.models import SpeculationRecord

pytestmark = pytest.mark.django_db

CALL = "00000000-0000-4000-8000-000000000001"


class People:
    """Two owners with a golem each, and an operator."""

    def __init__(self) -> None:
        self.ana, self.ben = factories.make_owner(name="ana"), factories.make_owner(name="ben")
        self.golem = factories.make_golem(owner=self.ana, name="Golem of Ana")
        self.other = factories.make_golem(owner=self.ben, name="Golem of Ben")
        self.a, self.root = log_in(self.ana), log_in(factories.make_operator())


def log_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def cockpit(golem: Golem, parts: bool = False) -> str:
    return reverse("cockpit_parts" if parts else "cockpit", args=[golem.pk])


def tick(golem: Golem, number: int, *, vitality: int | None, minutes_ago: int) -> None:
    at = clock.now() - timedelta(minutes=minutes_ago)
    row = HeartbeatTick.objects.create(
        golem=golem,
        number=number,
        fence=number,
        scheduled_at=at,
        started_at=at,
        status=TickStatus.COMPLETE,
        ended_at=at,
    )
    DecisionCycleRecord.objects.create(
        tick=row,
        golem=golem,
        heartbeat_tick=number,
        decided_at=at,
        is_live=False,
        tier="T1",
        vitality=vitality,
        gating_reason=f"price moved at tick {number}",
        phase=golem.phase,
    )


@pytest.fixture
def people() -> People:
    return People()


def test_a_golem_that_never_ticked_has_a_page_with_next_steps(people: People) -> None:
    text = people.a.get(cockpit(people.golem)).content.decode()
    assert "It has not ticked yet" in text
    assert "Turn its heartbeat on" in text
    assert "not measured yet" in text
    assert "No tool runs at this moment." in text
    assert "Nothing happened yet" in text
    assert text.count('<svg class="gx-plot"') == 0


def test_what_a_golem_did_is_on_its_page(people: People) -> None:
    golem = people.golem
    Heartbeat.objects.create(golem=golem, is_on=True, next_tick_at=clock.now() + timedelta(seconds=50))
    for number, vitality in enumerate((900_000, 800_000, 650_000), start=1):
        tick(golem, number, vitality=vitality, minutes_ago=10 - number)
    text = people.a.get(cockpit(golem)).content.decode()
    assert "price moved at tick 3" in text and "rehearsed" in text
    assert "65% now" in text and 'role="img" aria-label="Vitality: 65% now' in text
    assert re.search(r"in (4\d|50) s", text)
    assert "Spent and reserved in 24 h" in text and "Writes in the last hour" in text


def test_a_golems_page_counts_the_requests_that_wait_for_its_own_owner_alone(people: People) -> None:
    waits = "wait for an owner."
    factories.make_change_request(golem=people.other)
    assert waits not in people.a.get(cockpit(people.golem)).content.decode()
    factories.make_change_request(golem=people.golem)
    text = people.a.get(cockpit(people.golem)).content.decode()
    assert "1 request waits for an owner." in " ".join(text.replace("</a>", "").split())


def test_profit_and_gas_are_drawn_from_outcomes(people: People) -> None:
    for minutes in (20, 10):
        permit = factories.make_permit(golem=people.golem, now=clock.now() - timedelta(minutes=minutes))
        factories.make_outcome(permit=permit, pnl_micro_usd=-9_000_000, taken_back_at=clock.now())
        factories.make_outcome(permit=permit, pnl_micro_usd=-1_500_000)
    text = people.a.get(cockpit(people.golem)).content.decode()
    assert "-$3.00 now" in text
    assert "Gas paid, added up" in text and "ETH now" in text


def test_charts_go_as_far_back_as_their_reader_says_also_when_they_renew_themselves(people: People) -> None:
    for days in (40, 5, 3, 0):
        at = clock.now() - timedelta(days=days)
        permit = factories.make_permit(golem=people.golem, now=at)
        outcome = factories.make_outcome(permit=permit, pnl_micro_usd=-1_000_000)
        OutcomeRecord.objects.filter(pk=outcome.pk).update(created_at=at)
    for span, told in (("", "-$4.00 now"), ("month", "-$3.00 now"), ("week", "-$3.00 now"), ("no such", "-$4.00 now")):
        assert told in people.a.get(cockpit(people.golem), {"span": span} if span else {}).content.decode()
    text = people.a.get(cockpit(people.golem), {"span": "day"}).content.decode()
    assert "that could be priced within 24 h." in text and "-$1.00 now" not in text
    [parts] = re.findall(r'data-parts="([^"]+)"', text)
    assert parts.endswith("?span=day") and "within 24 h." in people.a.get(parts).content.decode()
    assert re.search(r'<strong aria-current="true">24 h</strong>', text) and "?span=week#charts" in text


def test_a_running_tool_shows_its_step_until_it_ends(people: People) -> None:
    def emit(kind: EventType, **payload: Any) -> None:
        event_bus.emit(
            golem_id=people.golem.pk,
            now=clock.now(),
            event=Event(kind, {"tool_name": "uniswap_get_quote", "call_id": CALL, **payload}),
        )

    emit(EventType.TOOL_START, params_hash="0xab", sprite_trigger="THINKING", budget_ms=5_000)
    emit(EventType.TOOL_UPDATE, step_name="Asking pools", step_index=1, total_steps=4)
    text = people.a.get(cockpit(people.golem, parts=True)).content.decode()
    assert "Asking pools" in text and 'aria-valuenow="25"' in text
    assert "<small>thinking, at most 5 s</small>" in text
    emit(EventType.TOOL_END, success=True, duration_ms=12)
    text = people.a.get(cockpit(people.golem, parts=True)).content.decode()
    assert "Asking pools" not in text and "No tool runs at this moment." in text


def test_text_of_an_event_is_shown_as_text(people: People) -> None:
    event = Event(
        EventType.TOOL_ERROR, {"tool_name": "<script>alert(1)</script>", "error_code": "X", "error_message": "y"}
    )
    event_bus.emit(golem_id=people.golem.pk, event=event, now=clock.now())
    text = people.a.get(cockpit(people.golem)).content.decode()
    assert "<script>alert(1)" not in text
    assert "&lt;script&gt;alert(1)" in text


@pytest.mark.parametrize("parts", [False, True])
def test_somebody_elses_golem_answers_like_one_that_does_not_exist(people: People, parts: bool) -> None:
    assert people.a.get(cockpit(people.other, parts)).status_code == 404
    assert people.a.get(cockpit(people.golem, parts)).status_code == 200
    assert people.root.get(cockpit(people.other, parts)).status_code == 200


@pytest.mark.parametrize("name", ["fleet", "fleet_parts"])
def test_the_fleet_holds_ones_own_golems_alone(people: People, name: str) -> None:
    mine = people.a.get(reverse(name)).content.decode()
    every = people.root.get(reverse(name)).content.decode()
    assert "Golem of Ana" in mine and "Golem of Ben" not in mine
    assert "Golem of Ana" in every and "Golem of Ben" in every
    Golem.objects.filter(pk=people.golem.pk).update(retired_at=clock.now())
    assert "Golem of Ana" not in people.a.get(reverse(name)).content.decode(), "what is retired is in no fleet"


@pytest.mark.parametrize("path", ["fleet", "fleet_parts"])
def test_without_a_login_there_is_only_the_login_page(path: str) -> None:
    answer = Client().get(reverse(path))
    assert answer.status_code == 302 and "/admin/login/" in answer.headers["Location"]


def test_the_fleet_asks_the_database_as_often_for_twenty_golems_as_for_one(people: People) -> None:
    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert people.a.get(reverse("fleet_parts")).status_code == 200
        return len(queries)

    count()
    before = count()
    for number in range(20):
        golem = factories.make_golem(owner=people.ana, name=f"Golem {number}")
        Heartbeat.objects.create(golem=golem, is_on=True)
        factories.make_event(golem=golem)
    assert count() == before <= 16


def test_a_cockpit_costs_at_most_thirty_two_queries(people: People) -> None:
    for number in range(12):
        tick(people.golem, number + 1, vitality=700_000, minutes_ago=30 - number)
    people.a.get(cockpit(people.golem, parts=True))
    with CaptureQueriesContext(connection) as queries:
        people.a.get(cockpit(people.golem, parts=True))
    assert len(queries) <= 32


@pytest.mark.parametrize(
    ("used", "wasted", "is_on", "switch", "says"),
    [
        (0, 0, True, True, "Nothing was read ahead yet"),
        (30, 10, True, True, "75% used"),
        (10, 30, False, True, "Off by itself: more than 50% was wasted"),
        (30, 10, True, False, "Switched off for this server by GOLEM_SPECULATION_IS_ON"),
    ],
)
def test_how_often_reading_ahead_paid_is_on_the_page(
    people: People, settings: Any, used: int, wasted: int, is_on: bool, switch: bool, says: str
) -> None:
    settings.GOLEM_SPECULATION_IS_ON = switch
    SpeculationRecord.objects.create(archetype=people.golem.archetype.name, used=used, wasted=wasted, is_on=is_on)
    body = people.a.get(cockpit(people.golem)).content.decode()
    assert says in body
    assert (f"{used} used, {wasted} wasted" in body) == bool(used + wasted)


def test_the_fleet_adds_up_the_day_as_the_limiter_does(people: People) -> None:
    now = clock.now()
    spent = factories.make_permit(golem=people.golem)
    factories.make_spend_entry(permit=spent, settled_micro_usd=7_000_000)
    reserved = factories.make_permit(golem=people.golem)
    factories.make_spend_entry(permit=reserved)
    released = factories.make_spend_entry(permit=factories.make_permit(golem=people.golem))
    SpendEntry.objects.filter(pk=released.pk).update(state=SpendState.RELEASED)
    usage = ledger.read_usage(golem_id=people.golem.pk, api_key_id=None, heartbeat_tick=0, now=now)
    assert usage.day_micro_usd == 7_000_000 + reserved.value_micro_usd
    assert ledger.sum_days(golem_ids=[people.golem.pk, people.other.pk], now=now) == {
        people.golem.pk: usage.day_micro_usd
    }
