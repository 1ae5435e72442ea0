"""Server-sent events over a real server: own events, in order, exactly once, whoever reconnects or falls behind."""

from __future__ import annotations

import random
import socket
import threading
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client

from archetypes_app.models import ApiKey
from golem_project.asgi import event_stream
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.stream.conftest import PATH, EventSource, Received, emit, numbers_of
from tools_app.core import clock, event_bus, event_log, event_ring
from tools_app.core.events import Event, EventType
from tools_app.core.taint import Secret

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_agent_follows_its_own_golem_in_order_and_nobody_elses(web_port: int, make_agent: MakeAgent) -> None:
    mine, other = make_agent(), make_agent()
    source = EventSource(web_port, token=mine.key.token)
    source.wait_until_live()
    emit(other.golem.pk, 90, 91)
    for number in range(10):
        emit(mine.golem.pk, number)
        emit(other.golem.pk, 99)
    received = source.take(10)
    source.close()
    assert numbers_of(received) == list(range(10))
    assert [event.data["sequence"] for event in received] == list(range(1, 11))
    assert {event.data["golem_id"] for event in received} == {str(mine.golem.pk)}
    assert {event.event for event in received} == {"tool:end"}
    assert source.response.headers["Content-Type"] == "text/event-stream; charset=utf-8"


def test_a_client_that_comes_back_gets_what_it_missed_and_then_what_comes(web_port: int, make_agent: MakeAgent) -> None:
    agent = make_agent()
    emit(agent.golem.pk, *range(10))
    source = EventSource(web_port, token=agent.key.token, query="?since=2020-01-01T00:00:00Z")
    received = source.take(4)
    source.close()
    emit(agent.golem.pk, 10, 11)
    again = EventSource(web_port, token=agent.key.token, last_id=source.last_id)
    received += again.take(8)
    emit(agent.golem.pk, 12)
    received += again.take(1)
    again.close()
    assert numbers_of(received) == list(range(13))


def test_types_and_families_filter_the_stream(web_port: int, make_agent: MakeAgent) -> None:
    agent = make_agent()
    source = EventSource(web_port, token=agent.key.token, query="?types=halt:*,tool:error")
    source.wait_until_live()
    emit(agent.golem.pk, 1)
    halt = Event(EventType.HALT_STARTED, {"reason": "storm"})
    event_bus.emit(golem_id=agent.golem.pk, event=halt, now=clock.now())
    received = source.take(1)
    source.close()
    assert [event.event for event in received] == ["halt:started"]


def test_an_owner_follows_their_golems_and_an_operator_all(web_port: int, make_agent: MakeAgent) -> None:
    first, second = make_agent(), make_agent()
    owner = first.golem.owner
    owner.is_staff = True
    owner.save()
    operator = get_user_model().objects.create(username="operator", is_staff=True, is_superuser=True)
    sources = []
    for user in (owner, operator):
        client = Client()
        client.force_login(user)
        cookie = f"sessionid={client.cookies['sessionid'].value}"
        source = EventSource(web_port, Cookie=cookie)
        source.wait_until_live()
        sources.append(source)
    emit(second.golem.pk, 1)
    emit(first.golem.pk, 2)
    assert numbers_of(sources[0].take(1)) == [2]
    assert numbers_of(sources[1].take(2)) == [1, 2]
    for source in sources:
        source.close()


def test_a_consumer_that_reconnects_five_hundred_times_sees_each_event_once_in_order(
    web_port: int, make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 8. Publishers die between commit and publication and the ring is away now and then, all the while."""
    agent, chance = make_agent(), random.Random(8)
    total, done = 2_000, threading.Event()
    publish, open_ring = vars(event_bus)["_after_commit"], event_ring.open_ring

    def publish_or_die() -> None:
        if chance.random() >= 0.05:
            publish()

    def ring_or_none() -> Any:
        return None if chance.random() < 0.1 else open_ring()

    def produce() -> None:
        number = 0
        while number < total:
            count = min(chance.randint(1, 9), total - number)
            emit(agent.golem.pk, *range(number, number + count))
            number += count
            done.wait(0.002)
        publish()
        connection.close()
        done.set()

    emit(agent.golem.pk, -1)
    monkeypatch.setattr(event_bus, "_after_commit", publish_or_die)
    monkeypatch.setattr(event_ring, "open_ring", ring_or_none)
    producer = threading.Thread(target=produce)
    received: list[Received] = []
    connections, last_id = 0, event_log.read_head().cursor()
    producer.start()
    while len(received) < total:
        source = EventSource(web_port, token=agent.key.token, last_id=last_id)
        assert source.status == 200
        connections += 1
        left = total - len(received)
        # All of the last connection is read; the others are torn at a random place.
        received += source.take(left if connections > 500 else min(left - 1, chance.randint(0, 7)) or 1)
        last_id = received[-1].id
        source.close()
    producer.join()
    assert connections > 500 or len(received) == total
    assert numbers_of(received) == list(range(total))
    assert len({event.id for event in received}) == len({event.data["event_id"] for event in received}) == total


@pytest.mark.parametrize(
    ("query", "last_id", "status", "code"),
    [
        ("?types=nonsense", "", 422, "INVALID_PARAMS"),
        ("?golem=x", "", 422, "INVALID_PARAMS"),
        ("?golem=00000000-0000-4000-8000-000000000000", "", 404, "GOLEM_UNKNOWN"),
        ("?since=yesterday", "", 422, "INVALID_PARAMS"),
        ("?colour=red", "", 422, "INVALID_PARAMS"),
        ("", "00000000-5", 409, "CURSOR_UNKNOWN"),
        ("", "x" * 900, 409, "CURSOR_UNKNOWN"),
    ],
)
def test_a_question_that_makes_no_sense_is_answered_as_a_problem(
    web_port: int, make_agent: MakeAgent, query: str, last_id: str, status: int, code: str
) -> None:
    source = EventSource(web_port, token=make_agent().key.token, query=query, last_id=last_id)
    problem = source.problem()
    assert (source.status, problem["code"]) == (status, code)
    assert source.response.headers["Content-Type"] == "application/problem+json"
    assert problem["request_id"] == source.response.headers["X-Request-Id"]


def test_who_may_not_listen_is_told_why(web_port: int, make_agent: MakeAgent) -> None:
    blind = make_agent(scopes=["read"])
    plain = get_user_model().objects.create(username="plain")
    client = Client()
    client.force_login(plain)
    for source, status, code in (
        (EventSource(web_port), 401, "API_KEY_MISSING"),
        (EventSource(web_port, token="golem_nonsense"), 401, "API_KEY_INVALID"),
        (EventSource(web_port, token=blind.key.token), 403, "SCOPE_MISSING"),
        (EventSource(web_port, Cookie=f"sessionid={client.cookies['sessionid'].value}"), 403, "FORBIDDEN"),
        (EventSource(web_port, token=make_agent().key.token, Host="evil.example"), 400, "BAD_REQUEST"),
    ):
        assert (source.status, source.problem()["code"]) == (status, code)


def test_a_caller_has_only_so_many_streams_and_closing_one_makes_room(
    web_port: int, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_STREAM_MOST_CLIENTS_PER_CALLER = 2
    agent, other = make_agent(), make_agent()
    sources = [EventSource(web_port, token=agent.key.token) for _ in range(2)]
    for source in sources:
        source.wait_until_live()
    refused = EventSource(web_port, token=agent.key.token)
    assert (refused.status, refused.problem()["code"]) == (429, "STREAM_LIMIT_REACHED")
    someone_else = EventSource(web_port, token=other.key.token)
    assert someone_else.status == 200
    sources[0].close()
    for _ in range(100):
        again = EventSource(web_port, token=agent.key.token)
        if again.status == 200:
            break
        again.problem()
    assert again.status == 200
    for source in (sources[1], someone_else, again):
        source.close()


def test_a_revoked_token_ends_its_stream(web_port: int, make_agent: MakeAgent, settings: Any) -> None:
    # Some time, not none: a look that comes a thousand times too late ends no stream before this test is given up.
    settings.GOLEM_STREAM_RECHECK_SECONDS = 0.2
    settings.GOLEM_STREAM_HEARTBEAT_SECONDS = 0.05
    agent = make_agent()
    source = EventSource(web_port, token=agent.key.token)
    source.wait_until_live()
    ApiKey.objects.filter(pk=agent.key.key.pk).update(revoked_at=clock.now())
    received = list(source)
    assert [event.event for event in received] == ["stream:resume"]
    assert received[0].data["reason"] == "not_allowed"


def test_a_quiet_stream_sends_comments_and_moves_the_place(web_port: int, make_agent: MakeAgent, settings: Any) -> None:
    settings.GOLEM_STREAM_HEARTBEAT_SECONDS = 0.05
    agent, other = make_agent(), make_agent()
    source = EventSource(web_port, token=agent.key.token)
    source.wait_until_live()
    emit(other.golem.pk, 1, 2, 3)
    head = event_log.read_head().cursor()
    for line in iter(source.response.readline, b""):
        if line == f"id: {head}\n".encode():
            break
    assert source.response.readline() == b": heartbeat\n"
    source.close()


def test_a_client_that_reads_nothing_is_cut_off_and_holds_nobody(
    web_port: int, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_STREAM_QUEUE_EVENTS = 50
    settings.GOLEM_STREAM_SEND_TIMEOUT_SECONDS = 1.0
    agent = make_agent()
    stuck = socket.create_connection(("127.0.0.1", web_port))
    request = f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer "
    stuck.sendall(f"{request}{agent.key.token}\r\n\r\n".encode())
    assert stuck.recv(12) == b"HTTP/1.1 200"
    good = EventSource(web_port, token=agent.key.token)
    good.wait_until_live()
    wide, done = "x" * 60_000, threading.Event()
    received = []
    for number in range(100):
        event = Event(EventType.TOOL_END, {"tool_name": wide, "success": True, "duration_ms": number})
        event_bus.emit(golem_id=agent.golem.pk, event=event, now=clock.now())
        received += good.take(1)
    assert [event.event for event in received] == ["tool:end"] * 100, received[-1]
    assert numbers_of(received) == list(range(100))
    deadline = clock.Deadline.after_ms(10_000)
    while event_stream.open_streams > 1 and not deadline.is_over:
        done.wait(0.05)
    # Nothing was read from its socket, and yet the server is rid of it.
    assert event_stream.open_streams == 1
    stuck.close()
    good.close()


def test_a_slow_client_is_told_where_to_resume(make_agent: MakeAgent, web_port: int, settings: Any) -> None:
    settings.GOLEM_STREAM_QUEUE_EVENTS = 3
    agent = make_agent()
    settings.GOLEM_STREAM_HEARTBEAT_SECONDS = 0.05
    source = EventSource(web_port, token=agent.key.token)
    source.wait_until_followed()
    emit(agent.golem.pk, *range(400))
    received = list(source)
    assert received[-1].event == "stream:resume"
    assert received[-1].data["reason"] == "slow_client"
    resumed = EventSource(web_port, token=agent.key.token, last_id=received[-1].data["last_event_id"])
    received[-1:] = resumed.take(400 - len(received) + 1)
    resumed.close()
    assert numbers_of(received) == list(range(400))


def test_fifty_clients_hold_no_thread_and_no_database_connection_each(
    web_port: int, make_agent: MakeAgent, settings: Any
) -> None:
    settings.GOLEM_STREAM_MOST_CLIENTS_PER_CALLER = 60
    agent = make_agent()
    first = EventSource(web_port, token=agent.key.token)
    first.wait_until_live()
    before = threading.active_count()
    sources = [EventSource(web_port, token=agent.key.token) for _ in range(50)]
    for source in sources:
        source.wait_until_live()
    emit(agent.golem.pk, 7)
    for source in [first, *sources]:
        assert numbers_of(source.take(1)) == [7]
        source.close()
    assert threading.active_count() <= before + 4


def test_no_secret_reaches_the_stream(web_port: int, make_agent: MakeAgent) -> None:
    agent, passphrase = make_agent(), Secret("canary-passphrase-on-the-stream")
    source = EventSource(web_port, token=agent.key.token)
    source.wait_until_live()
    payload = {"alerts": [{"note": f"see {passphrase.reveal()} and {agent.key.token}", "private_key": "0xabc"}]}
    event_bus.emit(golem_id=agent.golem.pk, event=Event(EventType.HEARTBEAT_ALERT, payload), now=clock.now())
    text = str(source.take(1)[0].data)
    source.close()
    assert text.count("[removed]") == 3
    assert passphrase.reveal() not in text
    assert agent.key.token not in text
