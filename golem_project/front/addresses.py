"""Finds the client address of a connection: its other end, or what a trusted proxy says."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from functools import lru_cache

from django.conf import settings

from golem_project.runtime.asgi_types import Scope

UNKNOWN = "unknown"
_OWN_NETWORK_V6 = 64


def read_address(scope: Scope) -> str:
    """The network a request is counted under. A header counts only where a trusted proxy sent it."""
    client = scope.get("client")
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    return name_address(client[0] if client else "", forwarded=forwarded.decode("latin-1"))


def read_address_of(meta: Mapping[str, object]) -> str:
    """The same from a request's `META`."""
    return name_address(str(meta.get("REMOTE_ADDR") or ""), forwarded=str(meta.get("HTTP_X_FORWARDED_FOR") or ""))


def name_address(peer: str, *, forwarded: str = "") -> str:
    """`peer`, or the last of `forwarded` that is no proxy of ours, if `peer` is one. What is no address is UNKNOWN.

    Of IPv6 it is the network of 64 bits, which is what one customer has at the least.
    """
    named = peer
    if is_trusted(peer):
        said = [each.strip() for each in forwarded.split(",") if each.strip()]
        named = next((each for each in reversed(said) if not is_trusted(each)), peer)
    try:
        found = ipaddress.ip_address(named)
    except ValueError:
        return UNKNOWN
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        if not found.is_loopback:
            return str(ipaddress.ip_network((found, _OWN_NETWORK_V6), strict=False))
    return str(found)


def is_trusted(address: str) -> bool:
    """Whether the address is that of a proxy the operator named, or lies in a network they named."""
    named = settings.GOLEM_TRUSTED_PROXIES
    return address in named or _is_within(address, named)


@lru_cache(maxsize=4_096)
def _is_within(address: str, named: frozenset[str]) -> bool:
    networks = [ipaddress.ip_network(each) for each in named if "/" in each]
    if not networks:
        return False
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)
