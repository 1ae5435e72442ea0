"""Sends one request to an address an owner or operator typed, and to no other.

The host is resolved once, every address is checked, and the connection goes to a checked one: a name that resolves
differently a moment later changes nothing. Redirects are answers, not instructions. The answer is read up to a few
kilobytes and the whole exchange ends by one deadline, however slowly the other side drips. So does the look for its
address: whoever owns a name has its servers answer as late as they like.
"""

from __future__ import annotations

import http.client
import ipaddress
import queue
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from urllib.parse import SplitResult, urlsplit

from tools_app.core import clock

MOST_ANSWER_BYTES = 4_096
WEB_PORTS = frozenset({443, 8443})
"""The ports of a public host that may be asked; a mail server or a database behind another never is."""

LOOK_UP_SECONDS = 5.0
"""How long a name is waited for; the resolver of the machine waits for as long as a minute."""
_MOST_LOOK_UPS = 64
"""So many threads wait for names that do not answer, in one process."""

_UNICAST = ipaddress.ip_network("2000::/3")
_DOCUMENTATION = ipaddress.ip_network("3fff::/20")
_OLD_RELAYS = ipaddress.ip_network("192.88.99.0/24")
_ISATAP = 0x0000_5EFE
_LONGEST_URL = 500
_look_ups = threading.BoundedSemaphore(_MOST_LOOK_UPS)
_LONGEST_DATE = 64

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressRefused(Exception):
    """The URL is malformed or leads where no request of ours may go. Its text is safe to show."""


class ExchangeFailed(Exception):
    """No answer came. Its text names the kind of failure only."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver said; `body` is its beginning, as far as was asked for.

    `dated_at` is when it was first said, by the clock of who said it and of whoever kept it on the way; None: untold.
    `headers` are those that were asked for, by their lower-case names.
    """

    status: int
    retry_after_seconds: int | None
    duration_ms: int
    body: bytes = b""
    dated_at: datetime | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL and the one address to connect to."""

    url: SplitResult
    host: str
    port: int
    address: str


def check_url(url: str, *, allows_private: bool, ports: frozenset[int] | None = WEB_PORTS) -> SplitResult:
    """The parts of a URL that may be asked; `ports` None takes any port. Raises AddressRefused."""
    if len(url) > _LONGEST_URL or not url.isascii() or any(c <= " " for c in url):
        raise AddressRefused("the URL must be short and plain ASCII without spaces")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("the URL is malformed") from None
    if parts.scheme not in ({"https", "http"} if allows_private else {"https"}):
        raise AddressRefused("the URL must begin with https://")
    if not parts.hostname or parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressRefused("the URL needs a host, and may hold no user, password or fragment")
    if not allows_private and ports is not None and port is not None and port not in ports:
        allowed = " and ".join(str(each) for each in sorted(ports))
        raise AddressRefused(f"port {port} is not one of the web; {allowed} are taken")
    return parts


def resolve(
    url: str,
    *,
    allows_private: bool,
    ports: frozenset[int] | None = WEB_PORTS,
    seconds: float = LOOK_UP_SECONDS,
) -> Target:
    """Resolve the host once, within `seconds`, and refuse it when any of its addresses is not public.

    Raises AddressRefused, and ExchangeFailed where the name has no address in that time.
    """
    parts = check_url(url, allows_private=allows_private, ports=ports)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = _look_up(host, port, seconds=seconds)
    if not allows_private:
        for address in addresses:
            if not is_public(ipaddress.ip_address(address.partition("%")[0])):
                raise AddressRefused("the host has an address that is not public")
    return Target(url=parts, host=host, port=port, address=addresses[0])


def _look_up(host: str, port: int, *, seconds: float) -> list[str]:
    """The addresses of a host. What the machine's resolver answers later is nobody's any more."""
    told: queue.SimpleQueue[list[str] | None] = queue.SimpleQueue()
    until_ms = clock.monotonic_ms() + seconds * 1000
    if not _look_ups.acquire(timeout=seconds):
        raise ExchangeFailed("too many host names are being looked up")

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            told.put([str(entry[4][0]) for entry in found])
        except (OSError, UnicodeError):
            told.put(None)
        finally:
            _look_ups.release()

    try:
        threading.Thread(target=ask, name="golem-look-up", daemon=True).start()
    except RuntimeError:
        _look_ups.release()
        raise ExchangeFailed("the host name could not be looked up") from None
    try:
        addresses = told.get(timeout=max(until_ms - clock.monotonic_ms(), 0) / 1000)
    except queue.Empty:
        raise ExchangeFailed("the host name was not resolved in time") from None
    if addresses is None:
        raise ExchangeFailed("the host name does not resolve")
    return addresses


def is_public(address: Address) -> bool:
    """Tells whether an address is one of the open internet, looking through every form that carries an IPv4 address."""
    if isinstance(address, ipaddress.IPv4Address):
        is_special = address.is_multicast or address.is_reserved or address.is_unspecified or address in _OLD_RELAYS
        return address.is_global and not is_special
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if not all(is_public(found) for found in _list_carried(address)):
        return False
    return address in _UNICAST and address.is_global and address not in _DOCUMENTATION


def _list_carried(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses to which a gateway on the way would hand packets on."""
    carried = [] if address.sixtofour is None else [address.sixtofour]
    if address.teredo is not None:
        carried += address.teredo
    if (int(address) >> 32) & 0xFDFF_FFFF == _ISATAP:
        carried.append(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
    return carried


def post(
    target: Target, *, headers: Mapping[str, str], body: bytes, seconds: float, most_bytes: int = MOST_ANSWER_BYTES
) -> Answer:
    """POST `body` and wait for the answer at most `seconds` in all; read `most_bytes` of it. Raises ExchangeFailed."""
    return exchange("POST", target, headers=headers, body=body, seconds=seconds, most_bytes=most_bytes)


def exchange(
    method: str,
    target: Target,
    *,
    headers: Mapping[str, str],
    body: bytes | None,
    seconds: float,
    most_bytes: int = MOST_ANSWER_BYTES,
    keeps: frozenset[str] = frozenset(),
) -> Answer:
    """One request and the beginning of its answer, within `seconds` in all; of its headers those that `keeps` names in
    lower case. Raises ExchangeFailed.
    """
    started = clock.monotonic_ms()
    connection = _connection(target, seconds)
    # Timeouts of a socket begin anew with every byte; this one does not.
    is_over = threading.Event()
    alarm = threading.Timer(seconds, _break_off, [connection, is_over])
    alarm.daemon = True
    alarm.start()
    path = target.url.path or "/"
    try:
        connection.request(method, f"{path}?{target.url.query}" if target.url.query else path, body, dict(headers))
        response = connection.getresponse()
        read = response.read(most_bytes)
        if is_over.is_set():
            # A connection cut in the middle of the headers reads like their end.
            raise TimeoutError
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ExchangeFailed(f"no answer: {type(error).__name__}") from None
    finally:
        alarm.cancel()
        connection.close()
    return Answer(
        status=response.status,
        retry_after_seconds=_read_seconds(response.headers.get("Retry-After")),
        duration_ms=int(clock.monotonic_ms() - started),
        body=read,
        dated_at=_read_date(response.headers.get("Date"), response.headers.get("Age")),
        headers={name: str(value) for name in sorted(keeps) if (value := response.headers.get(name)) is not None},
    )


class _PinnedConnection(http.client.HTTPConnection):
    """Connects to the checked address, while the Host header and the certificate are those of the name."""

    def __init__(self, target: Target, *, seconds: float) -> None:
        super().__init__(target.host, target.port, timeout=seconds)
        self._target = target

    def connect(self) -> None:
        plain = socket.create_connection((self._target.address, self._target.port), timeout=self.timeout)
        self.sock = plain
        if self._target.url.scheme == "https":
            self.sock = _trusted().wrap_socket(plain, server_hostname=self._target.host)


@cache
def _trusted() -> ssl.SSLContext:
    """The default checks; reading every root certificate takes longer than all else a request needs."""
    return ssl.create_default_context()


def _connection(target: Target, seconds: float) -> http.client.HTTPConnection:
    connection = _PinnedConnection(target, seconds=seconds)
    connection.default_port = 443 if target.url.scheme == "https" else 80
    return connection


def _break_off(connection: http.client.HTTPConnection, is_over: threading.Event) -> None:
    is_over.set()
    # Whoever asked may be done in this moment, and closes it.
    plain = connection.sock
    if plain is not None:
        try:
            plain.shutdown(socket.SHUT_RDWR)
        except OSError:
            plain.close()


def _read_seconds(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 6 else None


def _read_date(date: str | None, age: str | None) -> datetime | None:
    if not date or len(date) > _LONGEST_DATE:
        return None
    try:
        at = parsedate_to_datetime(date)
        kept = (
            timedelta(seconds=int(age)) if age and age.isascii() and age.isdecimal() and len(age) < 10 else timedelta()
        )
        return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).astimezone(UTC) - kept
    except (ValueError, OverflowError):
        return None
