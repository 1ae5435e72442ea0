"""Who is known goes first: strangers, and what nobody knows yet, share a few places by turns between addresses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path

from golem_project.urls import urlpatterns as served_urls
from tests.golem_project.front.conftest import Answer, Caller, Served, write_head
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tools_app.core import clock

QUESTION = b'{"query": "golem"}'


class Gate:
    """A page without a token that holds a connection to the database until it is let go."""

    def __init__(self) -> None:
        self.open, self.entered = threading.Event(), threading.Semaphore(0)
        self.inside, self.most, self._lock = 0, 0, threading.Lock()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            self.entered.release()
            self.open.wait(60)
        with self._lock:
            self.inside -= 1
        return HttpResponse(b"held")


gate = Gate()
urlpatterns = [path("held", lambda request: gate(request)), *served_urls]


@pytest.fixture
def held(settings: Any) -> Iterator[Gate]:
    global gate
    gate = Gate()
    settings.ROOT_URLCONF = __name__
    yield gate
    gate.open.set()


def ask_golem(served: Served, agent: Agent, *, from_address: str = "127.0.0.1") -> Answer:
    head = (
        "POST /api/v1/pi/query_state HTTP/1.1",
        "Content-Type: application/json",
        f"Content-Length: {len(QUESTION)}",
    )
    with served.call(from_address=from_address) as caller:
        caller.say(write_head(*head, f"Authorization: Bearer {agent.key.token}") + QUESTION)
        return caller.hear()


@contextmanager
def crowd(served: Served, count: int, *, from_address: str) -> Iterator[list[Caller]]:
    with ExitStack() as stack:
        callers = [stack.enter_context(served.call(from_address=from_address)) for _ in range(count)]
        for caller in callers:
            caller.say(write_head("GET /held HTTP/1.1"))
        yield callers


def test_a_crowd_of_strangers_takes_a_few_connections_and_an_agent_is_answered_beside_them(
    served: Served,
    held: Gate,
    make_agent: MakeAgent,
) -> None:
    agent = make_agent()
    with crowd(served, 20, from_address="127.0.0.2"), crowd(served, 20, from_address="127.0.0.3"):
        for _ in range(3):
            assert held.entered.acquire(timeout=20)
        assert ask_golem(served, agent).status == 200
        assert ask_golem(served, agent).status == 200
        assert held.most == 3
        held.open.set()


def test_a_stranger_beyond_those_who_may_wait_is_refused_at_once_with_when_to_come_back(
    served: Served, held: Gate, settings: Any
) -> None:
    with crowd(served, 40, from_address="127.0.0.2") as callers:
        refused = _answers_that_came(callers, least=6)
        assert {answer.status for answer in refused} == {429}
        problem = refused[0].problem()
        assert (problem["code"], problem["recovery"]) == ("TOO_MANY_WAITING_HERE", "WAIT")
        assert int(refused[0].headers["retry-after"]) > 0
        held.open.set()


def test_a_crowd_at_one_address_keeps_no_stranger_at_another_waiting(served: Served, held: Gate) -> None:
    with crowd(served, 30, from_address="127.0.0.2"):
        for _ in range(2):
            assert held.entered.acquire(timeout=20)
        # One place of three is never the crowd's.
        assert served.ask("GET /healthz HTTP/1.1", from_address="127.0.0.9").status == 200
        held.open.set()


def test_made_up_tokens_stand_in_a_line_of_their_own(
    served: Served,
    make_agent: MakeAgent,
    settings: Any,
) -> None:
    known, new = make_agent(), make_agent()
    assert ask_golem(served, known).status == 200
    stop = threading.Event()

    def guess(number: int) -> None:
        while not stop.is_set():
            token = f"golem_made_up_{number}_{'x' * 30}"
            served.ask(f"GET /api/v1/pi/manifest HTTP/1.1\r\nAuthorization: Bearer {token}", from_address="127.0.0.2")

    threads = [threading.Thread(target=guess, args=(number,), daemon=True) for number in range(20)]
    for thread in threads:
        thread.start()
    try:
        assert [ask_golem(served, known).status for _ in range(5)] == [200] * 5
        assert ask_golem(served, new, from_address="127.0.0.9").status == 200
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)


def test_requests_of_one_owner_are_bounded_before_they_take_a_thread_and_a_halt_is_not(
    served: Served,
    held: Gate,
    make_agent: MakeAgent,
    settings: Any,
) -> None:
    settings.GOLEM_REQUESTS_OF_ONE_AT_ONCE = 2
    crowded, other = make_agent(), make_agent()
    for agent in (crowded, other):
        assert ask_golem(served, agent).status == 200
    with ExitStack() as stack:
        for _ in range(2):
            caller = stack.enter_context(served.call())
            caller.say(write_head("GET /held HTTP/1.1", f"Authorization: Bearer {crowded.key.token}"))
            assert held.entered.acquire(timeout=20)
        refused = ask_golem(served, crowded)
        assert (refused.status, refused.problem()["code"]) == (429, "TOO_MANY_REQUESTS_AT_ONCE")
        assert refused.headers["retry-after"] == "1"
        assert ask_golem(served, other).status == 200
        body = b'{"reason": "somebody floods it"}'
        caller = stack.enter_context(served.call())
        caller.say(
            write_head(
                "POST /api/v1/pi/emergency_halt HTTP/1.1",
                "Content-Type: application/json",
                f"Content-Length: {len(body)}",
                f"Authorization: Bearer {crowded.key.token}",
            )
            + body
        )
        assert caller.hear().status == 200
        held.open.set()


@pytest.mark.parametrize("page", ["/api/v1/schema", "/llms-full.txt", "/llms.txt", "/support.json"])
def test_a_page_that_is_the_same_for_everybody_is_made_once_and_is_the_same(served: Served, page: str) -> None:
    answers = [served.ask(f"GET {page} HTTP/1.1") for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].body == answers[1].body and answers[0].body
    assert answers[0].headers["content-type"] == answers[1].headers["content-type"]


def test_the_schema_is_kept_in_each_form_it_is_asked_for(served: Served) -> None:
    as_yaml = served.ask("GET /api/v1/schema?format=yaml HTTP/1.1")
    as_json = served.ask("GET /api/v1/schema?format=json HTTP/1.1")
    assert as_yaml.body.startswith(b"openapi:") and as_json.body.startswith(b"{")


def test_who_reads_a_file_slowly_holds_no_thread(served: Served, settings: Any) -> None:
    settings.GOLEM_WRITE_SECONDS = 30
    asset = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
    with ExitStack() as stack:
        for number in range(12):
            caller = stack.enter_context(served.call(from_address=f"127.0.0.{2 + number % 3}"))
            caller.say(write_head(f"GET {asset} HTTP/1.1"))
            assert caller.line.recv(12) == b"HTTP/1.1 200"
        assert served.ask("GET /healthz HTTP/1.1", from_address="127.0.0.9").status == 200


def _answers_that_came(callers: list[Caller], *, least: int) -> list[Answer]:
    found: list[Answer] = []
    for caller in reversed(callers):
        if len(found) < least:
            try:
                found.append(caller.hear(seconds=10))
            except TimeoutError:
                continue
    return found


def test_a_connection_that_was_told_to_wait_is_not_read_from_for_a_moment(served: Served, settings: Any) -> None:
    settings.GOLEM_LOGINS_A_MINUTE_PER_ADDRESS, settings.GOLEM_PAUSE_SECONDS = 1, 0.5
    with served.call() as caller:
        for status in (403, 429):
            # What is slow here comes on top of the pause, which begins after this look at the clock.
            begun = clock.monotonic_ms()
            caller.say(write_head("POST /admin/login/ HTTP/1.1", "Content-Length: 0"))
            assert caller.hear().status == status
        caller.say(write_head("GET /healthz HTTP/1.1"))
        assert caller.hear().status == 200
        assert clock.monotonic_ms() - begun > 450
