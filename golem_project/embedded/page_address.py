"""Chooses the address under which people open the pages: `localhost` where that leads to this server alone.

Browsers keep passkeys for a name and never for a number. Agents keep the number, which needs no resolver.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from golem_project.embedded.product_process_plans import WEB_HOST, answers_ok

_NAME = "localhost"
_CONNECT_SECONDS = 0.2


def find_page_url(web_url: str) -> str:
    """`web_url`, an address of 127.0.0.1 that is served, by its name; as it is where the name does not do."""
    port = urlsplit(web_url).port
    if port is None or not _leads_here_alone(port):
        return web_url
    named = f"http://{_NAME}:{port}"
    # The server may have been told to answer to other names only.
    return named if answers_ok(f"{named}/readyz") else web_url


def _leads_here_alone(port: int) -> bool:
    """Whether the name has this server's address, and no other that somebody could be met at."""
    try:
        found = {str(each[4][0]) for each in socket.getaddrinfo(_NAME, port, type=socket.SOCK_STREAM)}
    except OSError:
        return False
    others = found - {WEB_HOST}
    if others == found or not all(ipaddress.ip_address(each).is_loopback for each in others):
        return False
    return not any(_answers(each, port) for each in others)


def _answers(host: str, port: int) -> bool:
    """Whether a server listens there: a browser may ask that one first."""
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except OSError:
        return False
    return True
