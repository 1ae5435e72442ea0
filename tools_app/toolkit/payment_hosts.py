"""Hosts that an owner lets a golem pay: whom each is paid at, and what is left of its caps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit
from uuid import UUID

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class HostTerms:
    """One host, such as https://api.example. Amounts are base units of `token`.

    `payee` is empty while the host was never asked whom it is paid at. `left` is what may still be signed for it now.
    """

    origin: str
    token: str
    payee: str
    most: int
    left: int


class PaymentHosts(Protocol):
    """Finds what an owner allowed of the host of an address."""

    def __call__(self, *, golem_id: UUID, chain_id: int, url: str, now: datetime) -> HostTerms | None:
        """None for a host that is not on the golem's list."""


def read_origin(url: str) -> str:
    """Scheme, host and port of an address, in one spelling. Empty for what names no host of the web."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    host = (parts.hostname or "").rstrip(".")
    if parts.scheme not in _PORTS or not host or not host.isascii() or parts.username is not None:
        return ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, _PORTS[parts.scheme]) else "")
