"""What the cockpit tells of a golem's events, and of the tools that run now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from archetypes_app.models import Golem
from golem_project.cockpit.live_feed import TELLING, describe_payload, list_feed
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


def test_the_feed_is_this_golems_newest_forty_events_newest_first(golem: Golem) -> None:
    other = factories.make_golem(owner=golem.owner, name="Boreas", archetype=golem.archetype)
    made = [make_event(golem, EventType.POLICY_VIOLATION, {"summary": f"<{number}>"}) for number in range(41)]
    make_event(other, EventType.POLICY_VIOLATION, {"summary": "another's"})
    feed = list_feed(golem, AddressBook({}))
    assert [line.event_id for line in feed] == [str(event.pk) for event in reversed(made[1:])]
    assert (feed[0].type, feed[0].words) == (str(EventType.POLICY_VIOLATION), "<40>")
