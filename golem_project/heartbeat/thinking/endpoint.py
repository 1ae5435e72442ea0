"""Checks by address where a request to a language model may go, and bounds the size of its answer.

The name is resolved here and the checked address is the one connected to, so a name that changes its mind between
check and connection gains nothing. What is public is said once, for every outgoing call. No framework, no setting.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from golem_project.heartbeat.thinking.errors import ModelEndpointRefused
from tools_app.core.guarded_http import is_public

DEFAULT_PORTS: Final = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked address of a model: scheme, host and port; whether it may be inside our own network."""

    url: str
    scheme: str
    host: str
    port: int
    allow_local: bool


def parse_endpoint(url: str, *, allow_local: bool) -> Endpoint:
    """The endpoint in `url`, by its words alone. Raises ModelEndpointRefused, which never repeats a secret."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ModelEndpointRefused("the model's endpoint is not an address") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ModelEndpointRefused("the model's endpoint must begin with https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ModelEndpointRefused("the model's endpoint carries a user name; a key belongs in GOLEM_MODEL_API_KEY")
    if parts.query or parts.fragment:
        raise ModelEndpointRefused("the model's endpoint carries a query; only a path is taken")
    if parts.scheme == "http" and not allow_local:
        raise ModelEndpointRefused("plain http is for a local endpoint only: set GOLEM_MODEL_ALLOW_LOCAL=1 for one")
    return Endpoint(url, parts.scheme, parts.hostname, port or DEFAULT_PORTS[parts.scheme], allow_local)


def check_address(endpoint: Endpoint, address: str) -> None:
    """Whether `address` may be connected to for `endpoint`. Raises ModelEndpointRefused."""
    found = ipaddress.ip_address(address.split("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    if is_public(found):
        if endpoint.scheme == "http":
            raise ModelEndpointRefused(f"{endpoint.host} is outside this network, and plain http is not taken there")
        return
    # Link-local is where clouds answer with credentials; nobody runs a model there.
    is_inside = (found.is_loopback or found.is_private) and not found.is_link_local and not found.is_unspecified
    if not (endpoint.allow_local and is_inside):
        raise ModelEndpointRefused(
            f"{endpoint.host} leads to {found}, which is not a public address; an operator allows a local endpoint"
            " with GOLEM_MODEL_ALLOW_LOCAL=1"
        )


def is_local(endpoint: Endpoint) -> bool:
    """Whether every address of the endpoint is inside our own network. Raises ModelEndpointRefused, OSError."""
    found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    return all(not ipaddress.ip_address(str(info[4][0]).split("%")[0]).is_global for info in found)


async def choose_address(endpoint: Endpoint) -> str:
    """The address to connect to; every address of the name must be allowed. Raises ModelEndpointRefused, OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    addresses = [str(info[4][0]) for info in found]
    for address in addresses:
        check_address(endpoint, address)
    return addresses[0]
