"""Ticks that break off are told to people: with the third in a row, once, and once when one goes through again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from archetypes_app.models import AlertBatch, Golem
from golem_project.alerts.topics import find_topic, tell_event
from golem_project.heartbeat import cycle
from golem_project.heartbeat.broken_ticks import GOES_ON, MOST_IN_A_ROW, SOURCE
from golem_project.heartbeat.tick_claims import begin_tick
from tests.golem_project.heartbeat.pulses import claim_one, make_due, tick, turn_on
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.models import OutboxEvent

Break = Callable[[bool], None]


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Lets ticks break off, or go through."""
    whole = cycle.retrieve

    def set_broken(is_broken: bool) -> None:
        def fail(state: Any) -> None:
            raise ZeroDivisionError("of our own making")

        monkeypatch.setattr(cycle, "retrieve", fail if is_broken else whole)

    return set_broken


def told(golem: Golem) -> list[str]:
    batches = AlertBatch.objects.filter(golem=golem, source=SOURCE).order_by("window_start")
    return [each.alerts[0]["observed"] for each in batches]


def test_people_are_told_of_the_third_broken_tick_once_and_once_when_one_goes_through(
    live_golem: LiveGolem, breaks: Break
) -> None:
    turn_on(live_golem.golem)
    breaks(True)
    counts = []
    for _ in range(MOST_IN_A_ROW + 2):
        assert tick(live_golem.golem).tick.status == "FAILED"
        counts.append(len(told(live_golem.golem)))
    assert counts == [0, 0, 1, 1, 1]
    breaks(False)
    for _ in range(2):
        assert tick(live_golem.golem).tick.status == "COMPLETE"
    assert told(live_golem.golem) == ["3 ticks in a row, the last with INTERNAL_ERROR", GOES_ON]
    event = OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, payload__source=SOURCE).earliest("sequence")
    assert find_topic(event.type, event.payload) == "danger"
    sentence, is_urgent = tell_event(event.type, event.payload, golem=live_golem.golem.name)
    assert "three ticks in a row broke off" in sentence and is_urgent


def test_a_tick_that_goes_through_begins_the_row_anew(live_golem: LiveGolem, breaks: Break) -> None:
    turn_on(live_golem.golem)
    for is_broken in (True, True, False, True, True):
        breaks(is_broken)
        tick(live_golem.golem)
    assert told(live_golem.golem) == []


def test_a_tick_whose_worker_stopped_counts_among_the_broken(live_golem: LiveGolem, breaks: Break) -> None:
    turn_on(live_golem.golem)
    breaks(True)
    tick(live_golem.golem)
    make_due(live_golem.golem)
    claim = claim_one(live_golem.golem)
    with transaction.atomic():
        assert begin_tick(claim=claim, lease_seconds=-1, now=clock.now()) is not None
    tick(live_golem.golem)
    assert told(live_golem.golem) == ["3 ticks in a row, the last with INTERNAL_ERROR"]
