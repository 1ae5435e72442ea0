"""Requests to addresses an owner typed: never inside, never redirected by a name, never held up by the other side."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.receiver import Receiver
from tests.silent_names import SilentNames
from tests.silent_names import silent_names as silent_names
from tools_app.core import clock, guarded_http
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "2002:7f00:1::",
        "2002:a00:1::",
        "64:ff9b::7f00:1",
        "192.0.2.1",
        "2001:db8::1",
        "2001:0:7f00:1::",
        "fec0::1",
        "::10.0.0.1",
        "64:ff9b:1::1",
        "64:ff9b::101:101",
        "100::1",
        "2001:2::1",
        "3fff::1",
        "5f00::1",
        "4000::1",
        "192.88.99.1",
        "198.18.0.1",
        "2a00:1450::5efe:a00:1",
        "2a00:1450::200:5efe:a00:1",
    ],
)
def test_an_address_that_is_not_public_is_refused_in_every_disguise(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not guarded_http.is_public(ipaddress.ip_address(address))
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_o: [(family, socket.SOCK_STREAM, 6, "", (address, 443))])
    with pytest.raises(AddressRefused):
        guarded_http.resolve("https://hooks.example.org/x", allows_private=False)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "2a00:1450::5efe:101:101"])
def test_a_public_address_is_let_through(address: str) -> None:
    assert guarded_http.is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("port", "passes"), [("", True), (":443", True), (":8443", True), (":25", False), (":6379", False), (":442", False)]
)
def test_only_ports_of_the_web_are_asked_of_public_hosts(port: str, passes: bool) -> None:
    url = f"https://hooks.example.org{port}/x"
    if passes:
        assert guarded_http.check_url(url, allows_private=False).hostname == "hooks.example.org"
    else:
        with pytest.raises(AddressRefused, match=r"not one of the web; 443 and 8443"):
            guarded_http.check_url(url, allows_private=False)
    assert guarded_http.check_url(url, allows_private=True).hostname == "hooks.example.org"


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("1.1.1.1", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_o: found)
    with pytest.raises(AddressRefused):
        guarded_http.resolve("https://hooks.example.org/x", allows_private=False)


def test_a_name_that_resolves_differently_a_moment_later_changes_nothing(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = receiver.server.server_address[1]
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_o: resolve("127.0.0.1", port, type=socket.SOCK_STREAM))
    target = guarded_http.resolve(f"http://rebinding.example:{port}/hook", allows_private=True)

    def rebound(host: str, *args: Any, **options: Any) -> Any:
        assert host == "127.0.0.1", "the name was looked up a second time"
        return resolve(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    assert guarded_http.post(target, headers={}, body=b"{}", seconds=5).status == 200
    assert receiver.got[0][0]["host"] == f"rebinding.example:{port}"


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/",
        "ftp://hooks.example.org/",
        "https://",
        "https://user@hooks.example.org/",
        "https://a:b@hooks.example.org/",
        "https://hooks.example.org:99999/",
        "https://hooks.example.org/\r\nX: y",
        "https://hooks.exämple.org/",
        "https://hooks.example.org/" + "x" * 500,
        "file:///etc/passwd",
        "",
    ],
)
def test_a_url_no_webhook_may_have_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        guarded_http.check_url(url, allows_private=False)


def serve_raw(answer: Callable[[socket.socket], None]) -> str:
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        # Who asks leaves when it has enough.
        with contextlib.suppress(OSError), listener:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                answer(connection)

    threading.Thread(target=run, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/"


def _drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X-A: b\r\n")
        threading.Event().wait(0.05)


def _flood(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65_536)


def _babble(connection: socket.socket) -> None:
    connection.sendall(b"\x00\xff not http at all\r\n\r\n")


@pytest.mark.parametrize(("answer", "is_fine"), [(_drip, False), (_flood, True), (_babble, False)])
def test_a_hostile_receiver_costs_little_time_and_memory(
    answer: Callable[[socket.socket], None], is_fine: bool
) -> None:
    target = guarded_http.resolve(serve_raw(answer), allows_private=True)
    started = clock.monotonic_ms()
    if is_fine:
        assert guarded_http.post(target, headers={}, body=b"{}", seconds=1).status == 200
    else:
        with pytest.raises(ExchangeFailed):
            guarded_http.post(target, headers={}, body=b"{}", seconds=1)
    assert clock.monotonic_ms() - started < 20_000


def test_an_exchange_that_ends_as_its_time_does_is_broken_off_without_an_error() -> None:
    ours, theirs = socket.socketpair()

    class Closed:
        """Whoever asked is done between two looks at it."""

        _looks = iter((ours, None, None))
        sock = property(lambda self: next(self._looks))

    with ours, theirs:
        guarded_http._break_off(Closed(), threading.Event())  # type: ignore[arg-type]


def test_a_name_whose_servers_are_silent_is_waited_for_no_longer_than_is_said(silent_names: SilentNames) -> None:
    with pytest.raises(ExchangeFailed, match="not resolved in time"):
        guarded_http.resolve("https://hooks.silent/", allows_private=False, seconds=0.3)
    assert silent_names.ended == 0
    # The seconds of a request, and those of a name that nobody limits.
    assert guarded_http.LOOK_UP_SECONDS <= 5


def test_names_that_are_silent_take_so_many_threads_and_no_more_and_give_them_back(silent_names: SilentNames) -> None:
    before = threading.active_count()
    for _ in range(guarded_http._MOST_LOOK_UPS + 8):
        with pytest.raises(ExchangeFailed):
            guarded_http.resolve("https://hooks.silent/", allows_private=False, seconds=0.01)
    assert threading.active_count() - before <= guarded_http._MOST_LOOK_UPS
    silent_names.is_over.set()
    target = guarded_http.resolve("http://127.0.0.1:9/", allows_private=True, seconds=5)
    assert target.address == "127.0.0.1"
