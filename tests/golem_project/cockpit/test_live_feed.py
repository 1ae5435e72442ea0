"""What the cockpit tells of a golem's events, and of the tools that run now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from archetypes_app.models import Golem
from golem_project.cockpit.live_feed import TELLING, RunningCall, describe_payload, list_feed, list_running
from permits_app.words.address_book import AddressBook
from tests import factories
from tools_app.core.events import EventType
from tools_app.core.models import OutboxEvent


def test_a_payload_is_told_by_what_a_person_reads_first_in_that_order() -> None:
    payload = {name: f"<{number}>" for number, name in enumerate(TELLING)}
    # The fields of their own by hand: an event without one of these would be told as nothing.
    assert {
        *("tool_name", "step_name", "action_type", "error_code", "code", "from", "to", "tier", "reason"),
        *("gating_reason", "status", "document", "title", "venue", "alert", "event", "price", "summary"),
        *("statement", "risk_tier", "regime"),
    } == set(TELLING)
    told = describe_payload(dict(reversed(payload.items())))
    assert told.startswith("<0> · <1> · <2>")
    assert describe_payload({"tool_name": "swap", "unheard": "of", "code": "", "to": None, "reason": 7}) == "swap · 7"
    assert describe_payload({"title": {"value": "from outside", "origin": "x"}, "venue": {}, "price": [1]}) == (
        "from outside"
    )


@pytest.mark.parametrize(("letters", "told"), [(160, "x" * 160), (161, "x" * 159 + "…")])
def test_a_line_has_a_hundred_and_sixty_letters_at_most(letters: int, told: str) -> None:
    assert describe_payload({"summary": "x" * letters}) == told


NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)


def make_event(golem: Golem, kind: EventType, payload: Mapping[str, Any], *, seconds_ago: float = 1) -> OutboxEvent:
    event = factories.make_event(golem=golem)
    OutboxEvent.objects.filter(pk=event.pk).update(
        type=str(kind), payload=dict(payload), occurred_at=NOW - timedelta(seconds=seconds_ago)
    )
    return event


@pytest.fixture
def golem(db: None) -> Golem:
    return factories.make_golem(owner=factories.make_owner())


def test_a_tool_runs_from_its_start_to_its_end_and_is_shown_as_far_as_it_came(golem: Golem) -> None:
    begin = {"tool_name": "swap", "sprite_trigger": "THINKING", "budget_ms": 2_500}
    for call_id in ("ended", "failed", "two", "one"):
        make_event(golem, EventType.TOOL_START, {**begin, "call_id": call_id}, seconds_ago=9)
    for call_id, reached, steps in (("two", 1, 3), ("one", 9, 4)):
        update = {"call_id": call_id, "step_index": reached, "total_steps": steps, "step_name": "quote"}
        make_event(golem, EventType.TOOL_UPDATE, update)
    make_event(golem, EventType.TOOL_END, {"call_id": "ended"})
    make_event(golem, EventType.TOOL_ERROR, {"call_id": "failed"})
    # What ended or never began is not begun by a step of it, and what has no name is no call.
    make_event(golem, EventType.TOOL_UPDATE, {"call_id": "ended", "step_index": 1})
    make_event(golem, EventType.TOOL_END, {"call_id": "unheard"})
    make_event(golem, EventType.TOOL_START, {**begin, "call_id": ""})
    make_event(golem, EventType.TOOL_START, {"call_id": "begun"})
    hint = "thinking, at most 2.5 s"
    assert list_running(golem, now=NOW) == (
        RunningCall("two", "swap", hint, "quote", 33),
        RunningCall("one", "swap", hint, "quote", 100),
        RunningCall("begun", "", "", "starting", 0),
    )


def test_a_call_that_began_a_minute_ago_was_cut_off_and_another_golems_is_not_shown(golem: Golem) -> None:
    other = factories.make_golem(owner=golem.owner, name="Boreas", archetype=golem.archetype)
    ages = {"young": 59.999, "old": 60.0}
    for call_id, age in ages.items():
        make_event(golem, EventType.TOOL_START, {"call_id": call_id}, seconds_ago=age)
    make_event(other, EventType.TOOL_START, {"call_id": "another's"})
    make_event(golem, EventType.POLICY_VIOLATION, {"call_id": "young"})
    assert [call.call_id for call in list_running(golem, now=NOW)] == ["young"]


def test_the_feed_is_this_golems_newest_forty_events_newest_first(golem: Golem) -> None:
    other = factories.make_golem(owner=golem.owner, name="Boreas", archetype=golem.archetype)
    made = [make_event(golem, EventType.POLICY_VIOLATION, {"summary": f"<{number}>"}) for number in range(41)]
    make_event(other, EventType.POLICY_VIOLATION, {"summary": "another's"})
    feed = list_feed(golem, AddressBook({}))
    assert [line.event_id for line in feed] == [str(event.pk) for event in reversed(made[1:])]
    assert (feed[0].type, feed[0].words) == (str(EventType.POLICY_VIOLATION), "<40>")
