"""Processes take turns at placing events: one takes along what the others committed, and nothing is left behind."""

from __future__ import annotations

import threading
import uuid

import pytest

from tests.tools_app.core.test_event_fabric import emit, sequences
from tools_app.core import clock, event_bus, event_publisher, event_ring

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_another_process_is_about_to_place_is_left_to_it_unless_somebody_waits_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    golem_id, asked = uuid.uuid4(), threading.Event()
    take_turn = event_ring.take_turn

    def take_turn_and_tell() -> bool:
        has_turn = take_turn()
        asked.set()
        return has_turn

    event_ring.end_turn()
    assert take_turn()
    monkeypatch.setattr(event_ring, "take_turn", take_turn_and_tell)
    with monkeypatch.context() as patch:
        patch.setattr(event_bus, "_after_commit", event_publisher.ask_to_publish)
        emit(golem_id, 2)
        assert asked.wait(10)
        assert sequences(golem_id) == []
    assert event_publisher.PUBLISHER.wait(seconds=10)
    assert sequences(golem_id) == [1, 2]
    event_ring.end_turn()
    assert take_turn()
    event_ring.end_turn()


def test_processes_without_a_ring_publish_each_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    golem_id = uuid.uuid4()
    event_ring.end_turn()
    assert event_ring.take_turn()
    with monkeypatch.context() as patch:
        patch.setattr(event_ring, "open_ring", lambda: None)
        patch.setattr(event_bus, "_after_commit", event_publisher.ask_to_publish)
        emit(golem_id, 2)
        deadline = clock.Deadline.after_ms(10_000)
        while sequences(golem_id) != [1, 2] and not deadline.is_over:
            threading.Event().wait(0.01)
        assert sequences(golem_id) == [1, 2]
    event_ring.end_turn()
