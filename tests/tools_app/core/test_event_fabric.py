"""The outbox, its order and its log: no event lost, none out of order, whoever dies and whichever server is down."""

from __future__ import annotations

import json
import threading
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from tools_app.core import clock, event_bus, event_log, event_publisher, event_ring
from tools_app.core.event_log import CursorUnknown, EventFilter
from tools_app.core.event_schemas import SCHEMAS, UndeclaredPayload
from tools_app.core.events import Event, EventType, LoggedEvent
from tools_app.core.models import EventHead, OutboxEvent

pytestmark = pytest.mark.django_db(transaction=True)

END = Event(EventType.TOOL_END, {"tool_name": "t", "success": True, "duration_ms": 1})


def emit(golem_id: uuid.UUID, count: int = 1) -> None:
    event_bus.emit_all(golem_id=golem_id, events=[END] * count, now=clock.now())


def read_all(wanted: EventFilter = event_log.EVERYTHING, *, limit: int = 500) -> list[LoggedEvent]:
    found, position = [], 0
    while True:
        head = event_log.read_head()
        page = event_log.read_after(position, head=head, wanted=wanted, limit=limit)
        found += page.events
        if page.reached >= head.position:
            return found
        position = page.reached


def read_ring(position: int, *, limit: int) -> list[LoggedEvent]:
    head = event_log.read_head()
    return event_ring.read_events(head.log_id, after=position, until=head.position, limit=limit)


def sequences(golem_id: uuid.UUID) -> list[int]:
    rows = OutboxEvent.objects.filter(golem_id=golem_id, position__isnull=False).order_by("position")
    return list(rows.values_list("sequence", flat=True))


def test_every_wire_name_has_a_schema_and_every_schema_is_json_schema() -> None:
    assert set(SCHEMAS) == set(EventType)
    for schema in SCHEMAS.values():
        document = schema.as_json_schema()
        assert document["additionalProperties"] is False
        assert set(document["required"]) <= set(document["properties"])


@pytest.mark.parametrize(
    "payload",
    [
        {"tool_name": "t", "success": True},
        {"tool_name": "t", "success": "yes", "duration_ms": 1},
        {"tool_name": "t", "success": True, "duration_ms": True},
        {"tool_name": "t", "success": True, "duration_ms": 1, "params": {"amount": "1"}},
    ],
)
def test_a_payload_that_its_schema_does_not_declare_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(UndeclaredPayload):
        event_bus.emit(golem_id=uuid.uuid4(), event=Event(EventType.TOOL_END, payload), now=clock.now())
    assert OutboxEvent.objects.count() == 0


def test_a_running_product_tells_nothing_that_no_schema_declares(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_bus, "_checks_payloads", False)
    golem_id = uuid.uuid4()
    told = Event(EventType.TOOL_END, {**END.payload, "private_key": "0xabc"})
    event_bus.emit(golem_id=golem_id, event=told, now=clock.now())
    assert OutboxEvent.objects.get(golem_id=golem_id).payload == END.payload
    assert "private_key" in caplog.text and "0xabc" not in caplog.text


def test_text_that_the_database_cannot_keep_does_not_undo_the_change_it_tells_of() -> None:
    golem_id = uuid.uuid4()
    words = "a\x00b \ud800 \U0001f600 \\u0000"
    event = Event(EventType.HALT_STARTED, {"reason": words})
    event_bus.emit(golem_id=golem_id, event=event, now=clock.now())
    assert OutboxEvent.objects.get().payload == {"reason": "a\ufffdb \ufffd \U0001f600 \\u0000"}
    assert json.loads(read_all()[0].body)["payload"] == OutboxEvent.objects.get().payload


def test_nothing_is_published_before_the_commit_and_nothing_of_a_rollback_ever() -> None:
    golem_id = uuid.uuid4()
    with transaction.atomic():
        emit(golem_id, 2)
        assert not OutboxEvent.objects.filter(position__isnull=False).exists()
    with pytest.raises(RuntimeError), transaction.atomic():
        emit(golem_id)
        raise RuntimeError("undone")
    emit(golem_id)
    assert sequences(golem_id) == [1, 2, 3]
    assert [event.position for event in read_all()] == [1, 2, 3]


def test_events_that_travel_with_a_change_are_those_of_emit_and_need_its_transaction() -> None:
    golem_id = uuid.uuid4()
    with pytest.raises(transaction.TransactionManagementError):
        event_bus.fill_events(golem_id=golem_id, events=[END], now=clock.now())
    emit(golem_id)
    with transaction.atomic():
        event_bus.fill_events(golem_id=golem_id, events=[END, END], now=clock.now()).fetch()
    assert sequences(golem_id) == [1, 2, 3]


def test_held_events_are_written_before_the_next_ones_of_their_golem_and_the_rest_at_the_end() -> None:
    golem_id, other, now = uuid.uuid4(), uuid.uuid4(), clock.now()
    start = Event(EventType.TOOL_START, {"tool_name": "t", "params_hash": "0x00"})

    def kinds(of: uuid.UUID) -> list[str]:
        return list(OutboxEvent.objects.filter(golem_id=of).order_by("sequence").values_list("type", flat=True))

    event_bus.hold(golem_id=golem_id, events=[start], now=now)
    assert kinds(golem_id) == ["tool:start"]
    with pytest.raises(LookupError), event_bus.holding(golem_id=golem_id, now=now):
        event_bus.hold(golem_id=golem_id, events=[start], now=now)
        event_bus.hold(golem_id=other, events=[END], now=now)
        assert (len(kinds(golem_id)), len(kinds(other))) == (1, 1)
        emit(golem_id)
        event_bus.hold(golem_id=golem_id, events=[start, END], now=now)
        assert kinds(golem_id) == ["tool:start", "tool:start", "tool:end"]
        raise LookupError
    assert kinds(golem_id) == ["tool:start", "tool:start", "tool:end", "tool:start", "tool:end"]
    emit(golem_id)
    assert len(kinds(golem_id)) == 6


def test_an_event_of_an_undone_savepoint_does_not_swallow_the_publication_of_the_next() -> None:
    golem_id = uuid.uuid4()
    with transaction.atomic():
        with pytest.raises(RuntimeError), transaction.atomic():
            emit(golem_id)
            raise RuntimeError("undone")
        emit(golem_id)
        emit(golem_id)
    assert sequences(golem_id) == [1, 2]


def test_concurrent_emitters_never_break_the_order_of_a_golem_nor_leave_a_hole_in_the_log() -> None:
    golems = [uuid.uuid4() for _ in range(3)]

    def work() -> None:
        try:
            for turn in range(15):
                with transaction.atomic():
                    emit(golems[turn % 3], 4)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for golem_id in golems:
        assert sequences(golem_id) == list(range(1, 121))
    assert [event.position for event in read_all(limit=70)] == list(range(1, 361))


def test_what_a_process_left_between_commit_and_publication_comes_before_what_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    golem_id = uuid.uuid4()
    with monkeypatch.context() as patch:
        patch.setattr(event_bus, "_after_commit", lambda: None)
        emit(golem_id, 2)
    assert read_all() == []
    emit(golem_id)
    assert sequences(golem_id) == [1, 2, 3]
    with monkeypatch.context() as patch:
        patch.setattr(event_bus, "_after_commit", lambda: None)
        emit(golem_id)
    assert event_publisher.publish_pending(now=clock.now()) == 1
    assert [event.position for event in read_all()] == [1, 2, 3, 4]


def test_a_ring_that_was_away_is_filled_from_the_log_by_the_next_to_publish(monkeypatch: pytest.MonkeyPatch) -> None:
    golem_id = uuid.uuid4()
    emit(golem_id, 2)
    with monkeypatch.context() as patch:
        patch.setattr(event_ring, "open_ring", lambda: None)
        emit(golem_id, 3)
        assert [event.position for event in read_all()] == list(range(1, 6))
    assert [event.position for event in read_ring(0, limit=9)] == [1, 2]
    emit(golem_id, 2)
    assert [event.position for event in read_ring(0, limit=9)] == list(range(1, 8))
    from_ring = read_ring(0, limit=9)
    monkeypatch.setattr(event_ring, "open_ring", lambda: None)
    assert read_all() == from_ring


def test_a_ring_that_lacks_too_much_goes_on_behind_a_hole_that_the_log_fills(monkeypatch: pytest.MonkeyPatch) -> None:
    golem_id = uuid.uuid4()
    monkeypatch.setattr(event_publisher, "_MOST_FILLED", 2)
    emit(golem_id, 2)
    with monkeypatch.context() as patch:
        patch.setattr(event_ring, "open_ring", lambda: None)
        emit(golem_id, 3)
    emit(golem_id, 2)
    assert [event.position for event in read_ring(0, limit=9)] == [1, 2]
    assert [event.position for event in read_ring(5, limit=9)] == [6, 7]
    assert read_ring(2, limit=9) == []
    assert [event.position for event in read_all()] == list(range(1, 8))


def test_two_publishers_may_add_the_same_events_in_any_order_and_each_is_there_once() -> None:
    golem_id = uuid.uuid4()
    emit(golem_id, 6)
    log_id, events = event_log.read_head().log_id, read_all()
    assert event_ring.add_events(log_id, events[3:]) is None
    assert event_ring.add_events(log_id, events[1:4]) is None
    assert read_ring(0, limit=9) == events


def test_a_commit_does_not_wait_for_its_publication_and_a_process_publishes_before_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    golem_id, may_go_on = uuid.uuid4(), threading.Event()
    publish = event_publisher.publish_pending

    def publish_later(**options: Any) -> int:
        may_go_on.wait(10)
        return publish(**options)

    monkeypatch.setattr(event_bus, "_after_commit", event_publisher.ask_to_publish)
    monkeypatch.setattr(event_publisher, "publish_pending", publish_later)
    for _ in range(5):
        emit(golem_id, 2)
    assert sequences(golem_id) == []
    may_go_on.set()
    event_publisher.PUBLISHER.leave()
    assert sequences(golem_id) == list(range(1, 11))


def test_a_database_that_does_not_answer_delays_the_publication_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    golem_id, failures = uuid.uuid4(), iter([OperationalError("gone"), OperationalError("still gone")])
    publish = event_publisher.publish_pending

    def publish_at_last(**options: Any) -> int:
        failure = next(failures, None)
        if failure is not None:
            raise failure
        return publish(**options)

    monkeypatch.setattr(event_publisher, "_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(event_publisher, "publish_pending", publish_at_last)
    emit(golem_id, 3)
    assert sequences(golem_id) == [1, 2, 3]
    assert next(failures, None) is None


def test_ring_and_table_give_the_same_bytes_so_the_seam_cannot_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    golem_id, other = uuid.uuid4(), uuid.uuid4()
    for owner in (golem_id, other, golem_id):
        emit(owner, 5)
    wanted = EventFilter(golem_ids=frozenset({str(golem_id)}), types=frozenset({"tool:*"}))
    from_ring = read_all(wanted, limit=4)
    with monkeypatch.context() as patch:
        patch.setattr(event_ring, "open_ring", lambda: None)
        from_table = read_all(wanted, limit=4)
    assert from_ring == from_table
    assert len(from_ring) == 10
    assert read_all(EventFilter(types=frozenset({"permit:*"}))) == []


def test_events_older_than_the_ring_come_from_the_table_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_ring, "STREAM_LENGTH", 100)
    golem_id = uuid.uuid4()
    for _ in range(10):
        emit(golem_id, 100)
    assert read_ring(0, limit=5) == []
    assert len(read_ring(950, limit=5)) == 5
    assert [event.position for event in read_all(limit=130)] == list(range(1, 1001))


def test_a_cursor_of_another_log_or_of_the_future_is_refused() -> None:
    emit(uuid.uuid4(), 3)
    head = event_log.read_head()
    assert head.parse_cursor(head.cursor(2)) == 2
    for text in (head.cursor(4), "00000000-1", "abc", "-1", f"{head.log_id.hex[:8]}--1"):
        with pytest.raises(CursorUnknown):
            head.parse_cursor(text)


def test_a_time_finds_the_place_just_before_its_first_event() -> None:
    golem_id, start = uuid.uuid4(), datetime(2026, 1, 1, tzinfo=UTC)
    for minute in range(4):
        event_bus.emit(golem_id=golem_id, event=END, now=start + timedelta(minutes=minute))
    head = event_log.read_head()
    assert event_log.find_position(start + timedelta(minutes=2), head=head) == 2
    assert event_log.find_position(start + timedelta(days=1), head=head) == 4


def test_the_log_has_one_head_and_the_database_refuses_a_second() -> None:
    event_log.read_head()
    assert EventHead.objects.count() == 1
    with pytest.raises(Exception, match="event_head_is_one_row"), transaction.atomic():
        EventHead.objects.create(id=2)
