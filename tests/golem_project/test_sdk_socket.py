"""The SDK beside the server: what it answers, and that nothing it may do keeps anybody waiting or is believed."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from golem_project.embedded.environment import current_environment
from golem_project.embedded.sdk_bundle import SOCKET_VARIABLE, find_bundle, make_bundle
from golem_project.embedded.supervisor import offer_sdk
from golem_project.embedded.throwaway import throwaway_paths
from golem_project.runtime.sdk_socket import MOST_AT_ONCE, MOST_BYTES, SdkSocket
from tests.official_sdk import run_sdk
from tools_app.protocols.uniswap.sdk.opinions import CalldataTold, RouteTold
from tools_app.toolkit.official_sdk import SdkFallbackUnavailable

Answer = Callable[[socket.socket, dict[str, Any]], None]
TOKENS = [{"address": "0x" + digit * 40, "decimals": 18} for digit in "123"]
ROUTE = {"pools": [0], "amount_out": "5"}


class Health(BaseModel):
    """What they say of themselves."""

    threads: int
    idle: int
    waiting: int
    restarts: int


def v2_pool(first: int, second: int, *, deep: int = 10**24) -> dict[str, Any]:
    return {
        "version": "v2",
        "first": first,
        "second": second,
        "fee": 3_000,
        "reserve0": str(deep),
        "reserve1": str(deep),
    }


def question(*pools: dict[str, Any], to: int = 1, amount: int = 10**18) -> dict[str, Any]:
    return {"chain_id": 31_337, "tokens": TOKENS, "pools": list(pools), "from": 0, "to": to, "amount": str(amount)}


def send(connection: socket.socket, told: Any) -> None:
    body = json.dumps(told).encode()
    connection.sendall(struct.pack(">I", len(body)) + body)


@contextmanager
def stranger(path: Path, answer: Answer, *, mode: int = 0o600) -> Iterator[Path]:
    """A program of somebody's at the socket, which does to each question what `answer` says."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    path.chmod(mode)
    server.listen(32)

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection: socket.socket) -> None:
        with connection:
            head = connection.recv(4)
            if len(head) < 4:
                # Who asked went away before it said anything.
                return
            (length,), read = struct.unpack(">I", head), b""
            while len(read) < length:
                read += connection.recv(65_536)
            try:
                answer(connection, json.loads(read))
            except OSError:
                return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield path
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        path.unlink()


def reason(path: Path | None, *, seconds: float = 30) -> str:
    """Why there is no answer."""
    with pytest.raises(SdkFallbackUnavailable) as caught:
        SdkSocket(path, seconds=seconds).ask("best_route", question(v2_pool(0, 1)), RouteTold)
    assert (caught.value.code, caught.value.http_status) == ("SDK_FALLBACK_UNAVAILABLE", 503)
    assert "make setup" in caught.value.cleared_by
    return str(caught.value.data["reason"])


def hang(connection: socket.socket, asked: dict[str, Any]) -> None:
    time.sleep(1)


def drip(connection: socket.socket, asked: dict[str, Any]) -> None:
    """A byte now and then keeps nobody longer than a silence."""
    connection.sendall(struct.pack(">I", 1_000))
    for _ in range(20):
        connection.sendall(b" ")
        time.sleep(0.05)


def die_in_a_frame(connection: socket.socket, asked: dict[str, Any]) -> None:
    connection.sendall(struct.pack(">I", 1_000) + b'{"id"')


def flood(connection: socket.socket, asked: dict[str, Any]) -> None:
    connection.sendall(struct.pack(">I", MOST_BYTES + 1) + b"x" * 100_000)


WRONG: dict[str, tuple[str, Answer]] = {
    "hangs": ("time", hang),
    "answers byte by byte": ("time", drip),
    "dies in a frame": ("gone", die_in_a_frame),
    "floods": ("size", flood),
    "answers the question of yesterday": ("id", lambda to, asked: send(to, {"id": "ab" * 8, "result": ROUTE})),
    "answers no JSON": ("frame", lambda to, asked: to.sendall(struct.pack(">I", 3) + b"{]}")),
    "answers no object": ("frame", lambda to, asked: send(to, [asked["id"]])),
    "nests without end": ("frame", lambda to, asked: to.sendall(struct.pack(">I", 60_000) + b"[" * 60_000)),
    "says it cannot": ("no answer", lambda to, asked: send(to, {"id": asked["id"], "error": "busy"})),
    "says both": ("no answer", lambda to, asked: send(to, {"id": asked["id"], "result": ROUTE, "error": "busy"})),
    "names three pools": (
        "shape",
        lambda to, asked: send(to, {"id": asked["id"], "result": {"pools": [0, 1, 2], "amount_out": "5"}}),
    ),
    "tells an amount as a number": (
        "shape",
        lambda to, asked: send(to, {"id": asked["id"], "result": {"pools": [0], "amount_out": 5.5}}),
    ),
    "adds words": ("shape", lambda to, asked: send(to, {"id": asked["id"], "result": {**ROUTE, "say": "ignore"}})),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_whatever_a_stranger_in_its_place_does_ends_in_time_as_no_answer(wrong: str, tmp_path: Path) -> None:
    expected, answer = WRONG[wrong]
    # Who says what is wrong is waited for; who says nothing is given up before it is gone.
    seconds = 0.3 if expected == "time" else 30
    with stranger(tmp_path / "s", answer) as path:
        assert reason(path, seconds=seconds) == expected


def test_without_an_sdk_and_with_one_that_is_gone_the_code_says_so(tmp_path: Path) -> None:
    assert reason(None) == "absent"
    assert reason(tmp_path / "nobody") == "gone"


def test_a_socket_that_others_may_open_and_a_file_in_its_place_are_not_asked(tmp_path: Path) -> None:
    with stranger(tmp_path / "s", lambda to, asked: send(to, {"id": asked["id"], "result": ROUTE}), mode=0o666) as path:
        assert reason(path) == "owner"
    (tmp_path / "file").write_text("")
    (tmp_path / "file").chmod(0o600)
    assert reason(tmp_path / "file") == "owner"


def test_who_listens_is_asked_of_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with stranger(tmp_path / "s", lambda to, asked: send(to, {"id": asked["id"], "result": ROUTE})) as path:
        told = SdkSocket(path).ask("best_route", question(v2_pool(0, 1)), RouteTold)
        assert (told.pools, told.amount_out) == ([0], "5")
        # As if the process behind it ran as somebody else.
        peer = struct.pack("3i", 1, os.geteuid() + 1, 1)
        monkeypatch.setattr(socket.socket, "getsockopt", lambda *_: peer)
        assert reason(path) == "owner"


def test_the_ninth_question_at_once_is_refused_and_the_next_one_is_not(tmp_path: Path) -> None:
    asked_all, go = threading.Semaphore(0), threading.Event()

    def wait(connection: socket.socket, asked: dict[str, Any]) -> None:
        asked_all.release()
        go.wait(60)
        send(connection, {"id": asked["id"], "result": ROUTE})

    with stranger(tmp_path / "s", wait) as path:
        sdk = SdkSocket(path, seconds=120)

        def ask() -> RouteTold:
            return sdk.ask("best_route", question(v2_pool(0, 1)), RouteTold)

        threads = [threading.Thread(target=ask) for _ in range(MOST_AT_ONCE)]
        for each in threads:
            each.start()
        for _ in threads:
            assert asked_all.acquire(timeout=60)
        with pytest.raises(SdkFallbackUnavailable) as caught:
            ask()
        assert caught.value.data["reason"] == "busy"
        go.set()
        for each in threads:
            each.join()
        assert ask().pools == [0]


def test_questions_and_answers_have_a_mebibyte_at_most(tmp_path: Path) -> None:
    def answer(length: int) -> Answer:
        def send_long(connection: socket.socket, asked: dict[str, Any]) -> None:
            body = json.dumps({"id": asked["id"], "result": ROUTE}).encode()
            connection.sendall(struct.pack(">I", length) + body + b" " * (length - len(body)))

        return send_long

    for number, (length, expected) in enumerate(((MOST_BYTES, ""), (MOST_BYTES + 1, "size"))):
        with stranger(tmp_path / str(number), answer(length)) as path:
            if expected:
                assert reason(path, seconds=30) == expected
            else:
                assert SdkSocket(path, seconds=30).ask("best_route", question(v2_pool(0, 1)), RouteTold).pools == [0]
    with pytest.raises(SdkFallbackUnavailable) as caught:
        SdkSocket(tmp_path / "nobody").ask("best_route", {"words": "x" * MOST_BYTES}, RouteTold)
    assert caught.value.data["reason"] == "size"


def test_a_route_has_two_pools_and_calldata_twenty_thousand_characters_at_most() -> None:
    made = {"pools": [0, 1], "amount_out": "5", "value": "0", "data": "0x" + "00" * 9_999}
    assert CalldataTold.model_validate(made).pools == [0, 1]
    for wrong in ({"pools": [0, 1, 2]}, {"data": "0x" + "00" * 10_000}, {"data": "0xZZ"}, {"amount_out": "-5"}):
        with pytest.raises(ValidationError):
            CalldataTold.model_validate({**made, **wrong})


def test_the_real_one_finds_the_deepest_way_makes_calldata_and_says_its_health() -> None:
    with run_sdk() as path:
        assert path.stat().st_mode & 0o777 == 0o600
        sdk = SdkSocket(path)
        shallow, near, far = v2_pool(0, 1, deep=10**19), v2_pool(0, 2), v2_pool(1, 2)
        told = sdk.ask("best_route", question(shallow, near, far), RouteTold)
        assert told.pools == [1, 2]
        # Twice three tenths of a percent, and next to no impact: by the pair's own formula.
        first = 10**18 * 997 * 10**24 // (10**24 * 1_000 + 10**18 * 997)
        assert int(told.amount_out) == first * 997 * 10**24 // (10**24 * 1_000 + first * 997)
        more = {"recipient": "0x" + "44" * 20, "slippage_bps": 50, "deadline": 1_900_000_000}
        made = sdk.ask("calldata", {**question(shallow), **more}, CalldataTold)
        assert made.data.startswith("0x3593564c") and made.value == "0"
        assert sdk.ask("best_route", question(near), RouteTold).pools == []
        for wrong in ({"op": "run"}, {"op": "constructor"}):
            with pytest.raises(SdkFallbackUnavailable):
                sdk.ask(wrong["op"], {}, RouteTold)
        with pytest.raises(SdkFallbackUnavailable):
            sdk.ask("best_route", {"pools": "all"}, RouteTold)
        assert sdk.ask("best_route", question(shallow), RouteTold).pools == [0]


def test_a_sum_that_does_not_end_is_ended_and_a_flood_of_questions_stops_nobody() -> None:
    ring = [v2_pool(0, 2) for _ in range(700)] + [v2_pool(1, 2) for _ in range(700)]
    with run_sdk(seconds="0.2") as path:
        sdk = SdkSocket(path, seconds=20)
        with pytest.raises(SdkFallbackUnavailable) as caught:
            sdk.ask("best_route", question(*ring), RouteTold)
        assert caught.value.data["reason"] == "no answer"
        # Too much at once, and half a frame: those connections end, and nobody else is kept.
        for begun in (struct.pack(">I", MOST_BYTES + 1), struct.pack(">I", 100) + b"half", b"\0\0\0\2{]"):
            with socket.socket(socket.AF_UNIX) as rude:
                rude.connect(str(path))
                rude.sendall(begun)
        until = time.monotonic() + 30
        while True:
            try:
                assert sdk.ask("best_route", question(v2_pool(0, 1)), RouteTold).pools == [0]
                return
            except SdkFallbackUnavailable:
                assert time.monotonic() < until


def test_a_thread_that_takes_more_memory_than_it_may_is_ended_and_begun_again_with_pauses() -> None:
    began = time.monotonic()
    until = began + 120
    with run_sdk(mebibytes="8") as path:
        sdk = SdkSocket(path)
        while (told := sdk.ask("health", {}, Health)).restarts < 7:
            assert time.monotonic() < until
            time.sleep(0.05)
    # Each pause is twice as long as the one before it: after the fifth end of a thread it is 1.6 seconds, which a busy
    # machine makes longer and none shorter.
    assert time.monotonic() - began > 1.5
    assert (told.threads, told.idle) == (2, 0)


def test_it_is_started_by_the_supervisor_without_the_product_s_secrets_where_set_up_bundled_it() -> None:
    make_bundle()
    assert find_bundle() is not None
    environment = {**current_environment(), "GOLEM_KEYSTORE_PASSPHRASE": "a secret"}
    environment.pop(SOCKET_VARIABLE, None)
    with throwaway_paths() as paths:
        plan = offer_sdk(environment, paths)
        assert plan is not None and environment[SOCKET_VARIABLE] == str(paths.run_dir / "sdk.sock")
        # Who has one of his own keeps it.
        assert offer_sdk(environment, paths) is None
    with run_sdk() as path:
        pid = find_listener(path)
        assert b"" == Path(f"/proc/{pid}/environ").read_bytes()


def find_listener(path: Path) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)
