"""One connection without a token fills no disk and no memory, and holds nobody up: bodies, heads, silence, numbers."""

from __future__ import annotations

import gc
import resource
import threading
import time
from contextlib import ExitStack
from typing import Any

import pytest

from golem_project.asgi import front_door
from golem_project.front.connections import BoundedHttp
from tests.golem_project.front.conftest import Caller, Served, write_head

MEBIBYTE = 1_048_576
ANYWHERE = pytest.mark.parametrize(
    "path",
    ["/api/v1/pi/query_state", "/nothing/here", "/mcp", "/api/v1/events", "/admin/login/", "/a2a/x/", "/healthz"],
)


@ANYWHERE
def test_a_body_that_says_it_is_too_long_is_refused_before_any_of_it_is_read(served: Served, path: str) -> None:
    with served.call() as caller:
        caller.say(write_head(f"POST {path} HTTP/1.1", f"Content-Length: {100 * MEBIBYTE}"))
        answer = caller.hear()
        problem = answer.problem()
        assert (answer.status, problem["code"], problem["recovery"]) == (413, "BODY_TOO_LARGE", "FIX_PARAMS")
        assert problem["limit_bytes"] <= 262_144 and problem["instance"] == path


@ANYWHERE
def test_a_body_without_end_is_cut_off_at_its_limit_and_nothing_of_it_is_kept(served: Served, path: str) -> None:
    with served.call() as caller:
        caller.say(write_head(f"POST {path} HTTP/1.1", "Transfer-Encoding: chunked"))
        piece = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
        sent = 0
        while caller.say(piece) and sent < 64 * MEBIBYTE:
            sent += len(piece)
        assert sent < 16 * MEBIBYTE, "the server went on reading"
    deadline = time.monotonic() + 10
    while front_door.bodies.held_bytes and time.monotonic() < deadline:
        time.sleep(0.01)
    assert front_door.bodies.held_bytes == 0


def test_a_body_without_end_is_refused_in_words(served: Served) -> None:
    with served.call() as caller:
        caller.say(write_head("POST /nothing/here HTTP/1.1", "Transfer-Encoding: chunked"))
        for _ in range(4):
            caller.say(b"8000\r\n" + b"x" * 32_768 + b"\r\n")
        answer = caller.hear()
        assert (answer.status, answer.problem()["code"]) == (413, "BODY_TOO_LARGE")
        assert caller.is_hung_up_on(seconds=10)


def test_a_wrong_host_has_no_longer_body_than_the_right_one(served: Served) -> None:
    with served.call() as caller:
        caller.say(write_head("POST /admin/login/ HTTP/1.1", f"Content-Length: {MEBIBYTE}", host="elsewhere.example"))
        assert caller.hear().status == 413


def test_a_body_that_comes_slowly_is_ended_after_its_seconds(served: Served, settings: Any) -> None:
    settings.GOLEM_BODY_SECONDS = 0.5
    with served.call() as caller:
        caller.say(write_head("POST /nothing/here HTTP/1.1", "Content-Length: 1000"))
        is_over = threading.Event()
        threading.Thread(target=_drip, args=(caller, is_over), daemon=True).start()
        answer = caller.hear()
        assert (answer.status, answer.problem()["code"]) == (408, "REQUEST_TOO_SLOW")
        assert caller.is_hung_up_on(seconds=10)
        is_over.set()


def test_headers_that_are_too_large_are_refused_before_anybody_reads_them(served: Served) -> None:
    with served.call() as caller:
        caller.say(write_head("GET /healthz HTTP/1.1", "X-Long: " + "x" * 20_000))
        answer = caller.hear()
        problem = answer.problem()
        assert (answer.status, problem["code"], problem["recovery"]) == (431, "HEAD_TOO_LARGE", "FIX_PARAMS")


def test_too_many_headers_are_refused(served: Served) -> None:
    with served.call() as caller:
        caller.say(write_head("GET /healthz HTTP/1.1", *(f"X-{number}: 1" for number in range(200))))
        assert caller.hear().status == 431


@pytest.mark.parametrize("begin", [b"GET /", b"GET / HTTP/1.1\r\nX-Long: ", b"GET / HTTP/1.1\r\n"])
def test_a_head_without_end_is_cut_off_at_its_limit(served: Served, begin: bytes) -> None:
    with served.call() as caller:
        caller.say(begin)
        sent = 0
        piece = b"x" * 4_096 if not begin.endswith(b"\n") else b"X-A: 1\r\n" * 512
        while caller.say(piece) and sent < 32 * MEBIBYTE:
            sent += len(piece)
        assert sent < 16 * MEBIBYTE, "the server went on reading"


def test_a_head_that_comes_slowly_is_ended_after_its_seconds(served: Served, settings: Any) -> None:
    settings.GOLEM_HEAD_SECONDS = 0.5
    with served.call() as caller:
        caller.say(b"GET /healthz HTTP/1.1\r\n")
        is_over = threading.Event()
        threading.Thread(target=_drip, args=(caller, is_over), daemon=True).start()
        answer = caller.hear()
        assert (answer.status, answer.problem()["code"]) == (408, "REQUEST_TOO_SLOW")
        assert caller.is_hung_up_on(seconds=10)
        is_over.set()


def test_who_connects_and_says_nothing_is_hung_up_on(served: Served, settings: Any) -> None:
    settings.GOLEM_HEAD_SECONDS = 0.5
    with served.call() as caller:
        assert caller.is_hung_up_on(seconds=10)


def test_who_asks_again_slowly_on_a_kept_connection_is_hung_up_on(served: Served, settings: Any) -> None:
    settings.GOLEM_HEAD_SECONDS = 0.5
    with served.call() as caller:
        caller.say(write_head("GET /healthz HTTP/1.1"))
        assert caller.hear().status == 200
        caller.say(b"GET /healthz HT")
        assert caller.is_hung_up_on(seconds=10)


def test_who_takes_nothing_of_a_long_answer_is_hung_up_on(
    served: Served, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GOLEM_WRITE_SECONDS = 0.5
    hang_up, is_over = BoundedHttp._hang_up, threading.Event()

    def note(connection: BoundedHttp) -> None:
        hang_up(connection)
        is_over.set()

    monkeypatch.setattr(BoundedHttp, "_hang_up", note)
    with served.call() as caller:
        for _ in range(60):
            if not caller.say(write_head("GET /api/v1/schema HTTP/1.1")):
                break
        # Who reads meanwhile takes some of it.
        assert is_over.wait(60)
        assert caller.is_hung_up_on(seconds=20)


def test_one_address_has_so_many_connections_and_another_still_gets_in(served: Served, settings: Any) -> None:
    settings.GOLEM_MOST_CONNECTIONS_PER_ADDRESS = 3
    with ExitStack() as stack:
        for _ in range(3):
            open_one = stack.enter_context(served.call(from_address="127.0.0.2"))
            open_one.say(write_head("GET /healthz HTTP/1.1"))
            assert open_one.hear().status == 200
        with served.call(from_address="127.0.0.2") as caller:
            answer = caller.hear()
            assert (answer.status, answer.problem()["code"]) == (429, "TOO_MANY_CONNECTIONS")
            assert int(answer.headers["retry-after"]) > 0
            assert caller.is_hung_up_on(seconds=10)
        assert served.ask("GET /healthz HTTP/1.1", from_address="127.0.0.3").status == 200
    # Closed connections are counted no more.
    deadline = time.monotonic() + 10
    while served_refuses(served) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not served_refuses(served)


def served_refuses(served: Served) -> bool:
    try:
        return served.ask("GET /healthz HTTP/1.1", from_address="127.0.0.2").status != 200
    except ConnectionError:
        return True


def test_the_proxy_in_front_may_have_as_many_connections_as_it_needs(served: Served, settings: Any) -> None:
    settings.GOLEM_MOST_CONNECTIONS_PER_ADDRESS = 1
    with served.call() as first, served.call() as second:
        for caller in (first, second):
            caller.say(write_head("GET /healthz HTTP/1.1"))
            assert caller.hear().status == 200


def test_what_is_no_http_is_refused_as_everything_else(served: Served) -> None:
    with served.call() as caller:
        caller.say(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")
        answer = caller.hear()
        assert (answer.status, answer.problem()["code"]) == (400, "BAD_REQUEST")


def test_requests_one_after_another_on_one_connection_are_answered_in_order(served: Served) -> None:
    with served.call() as caller:
        caller.say(write_head("GET /healthz HTTP/1.1") * 3)
        assert [caller_status(caller) for _ in range(3)] == [200, 200, 200]


def caller_status(caller: Caller) -> int:
    """The status of the next answer, taken off byte by byte so that the one behind it stays."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += caller.line.recv(1)
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while length:
        length -= len(caller.line.recv(length))
    return int(head.split()[1])


def test_a_hundred_bodies_without_end_cost_less_than_fifty_megabytes(served: Served) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with ExitStack() as stack:
        callers = [stack.enter_context(served.call()) for _ in range(100)]
        for caller in callers:
            caller.say(write_head("POST /nothing/here HTTP/1.1", "Transfer-Encoding: chunked"))
        for _ in range(40):
            for caller in callers:
                caller.line.setblocking(False)
                caller.say(b"8000\r\n" + b"x" * 32_768 + b"\r\n")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 50, f"{grown:.0f} MB"


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(
            write_head("GET /healthz HTTP/1.1", *(f"X-{number}: 1" for number in range(200))), id="many lines"
        ),
        pytest.param(write_head("GET /healthz HTTP/1.1", "X-Long: " + "x" * 20_000), id="long line"),
        pytest.param(b"X-Long: " + b"x" * 30_000, id="no request"),
        pytest.param(write_head("POST /nothing HTTP/1.1", f"Content-Length: {100 * MEBIBYTE}"), id="long body"),
        pytest.param(write_head("GET /healthz HTTP/1.1"), id="answered"),
    ],
)
def test_nothing_of_a_connection_that_is_over_waits_for_a_collection_of_garbage(served: Served, said: bytes) -> None:
    """A flood of refused connections is over before garbage is next looked for: each holds what it was told."""
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            with served.call() as caller:
                caller.say(said)
                caller.hear()
        deadline = time.monotonic() + 10
        while (left := _count_connections()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left == 0
    finally:
        gc.enable()


def _count_connections() -> int:
    return sum(type(each) is BoundedHttp for each in gc.get_objects())


def _drip(caller: Caller, is_over: threading.Event) -> None:
    while not is_over.wait(0.1):
        if not caller.say(b"x"):
            return
