"""Reads the address of a broker that Sentinels watch, which the library takes in parts and not as an address.

`redis+sentinel://:PASSWORD@one:26379,two:26379,three:26379/SERVICE/0`; `rediss+sentinel://` speaks TLS with them all.
After `?` may stand `sentinel_password` and, for TLS, `ssl_ca_certs`, a file of authorities. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

_SUFFIX: Final = "+sentinel"
_PORT: Final = 26_379


@dataclass(frozen=True, slots=True)
class WatchedBroker:
    """What the address says. `watchers` are hosts and ports of the Sentinels, `service` what they call the broker."""

    watchers: tuple[tuple[str, int], ...]
    service: str
    database: int
    username: str
    password: str
    watchers_password: str
    is_encrypted: bool
    authorities: str

    @property
    def encryption(self) -> dict[str, Any]:  # Any: redis-py's answers have no types
        """What the library takes for TLS, nothing without."""
        if not self.is_encrypted:
            return {}
        return {"ssl": True, **({"ssl_ca_certs": self.authorities} if self.authorities else {})}

    @property
    def credentials(self) -> dict[str, Any]:  # Any: redis-py's answers have no types
        """For the broker itself."""
        named = {"username": self.username, "password": self.password}
        return {"db": self.database, **{name: value for name, value in named.items() if value}}

    @property
    def watchers_credentials(self) -> dict[str, object]:
        """For those who watch it."""
        return {"password": self.watchers_password} if self.watchers_password else {}

    @property
    def queue_address(self) -> str:
        """The address as the library of queues wants it: one of each Sentinel."""
        user = f"{quote(self.username, safe='')}:{quote(self.password, safe='')}@" if self.password else ""
        return ";".join(f"sentinel://{user}{host}:{port}/{self.database}" for host, port in self.watchers)


def read_watched(url: str) -> WatchedBroker | None:
    """None for the address of one server. Raises ValueError for one that names no service or no Sentinel."""
    scheme, _, rest = url.partition("://")
    if not scheme.endswith(_SUFFIX):
        return None
    place, _, query = rest.partition("?")
    where, _, path = place.partition("/")
    credentials, _, hosts = where.rpartition("@")
    username, _, password = credentials.partition(":")
    service, _, database = path.partition("/")
    watchers = tuple(_read_place(each) for each in hosts.split(",") if each)
    if not watchers or not service:
        raise ValueError("the address of a watched broker is redis+sentinel://HOST:PORT,HOST:PORT/SERVICE/0")
    asked = {name: values[-1] for name, values in parse_qs(query).items()}
    return WatchedBroker(
        watchers=watchers,
        service=service,
        database=int(database or 0),
        username=unquote(username),
        password=unquote(password),
        watchers_password=asked.get("sentinel_password", ""),
        is_encrypted=scheme.startswith("rediss"),
        authorities=asked.get("ssl_ca_certs", ""),
    )


def _read_place(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    return parts.hostname or "", parts.port or _PORT
