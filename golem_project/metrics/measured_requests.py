"""Measures every request from its first byte to the first byte of its answer, whichever door answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

from golem_project.metrics.counting import TALLY
from golem_project.metrics.measures import REQUESTS
from golem_project.runtime.asgi_types import (
    App,
    AskedRequest,
    Receive,
    Scope,
    Send,
    read_request,
    read_start,
    read_state,
)
from tools_app.core import clock

_ENDPOINT: Final = "golem.endpoint"
"""In a request's state: the route that answered it."""
_DOORS: Final = ("/mcp", "/a2a", "/.well-known", "/api/v1/events", "/static")
"""What is answered before Django's routes are looked at."""
_UNKNOWN: Final = "none"
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class MeasuredRequests:
    """An ASGI application around another."""

    def __init__(self, inner: App) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = read_request(scope)
        if asked is None:
            await self._inner(scope, receive, send)
            return
        scope.setdefault("state", {})
        begun_ms = clock.monotonic_ms()

        async def pass_on(message: dict[str, object]) -> None:
            begun = read_start(message)
            if begun is not None:
                seconds = (clock.monotonic_ms() - begun_ms) / 1_000
                endpoint, method = name_request(scope, asked)
                TALLY.time(REQUESTS, seconds, endpoint, method, str(begun.status))
            await send(message)

        await self._inner(scope, receive, pass_on)


class NamedEndpoints:
    """Middleware that tells the measure above which route answered: paths hold ids, of which there is no end."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        scope = getattr(request, "scope", None)
        if scope is not None and request.resolver_match is not None:
            scope.setdefault("state", {})[_ENDPOINT] = f"/{request.resolver_match.route}"
        return response


def name_request(scope: Scope, asked: AskedRequest) -> tuple[str, str]:
    """The route that answered, as soon as one did, and the method: both of few values, whatever is asked for."""
    endpoint = read_state(scope).get(_ENDPOINT) or _name_door(asked.path)
    return str(endpoint), asked.method if asked.method in _METHODS else _UNKNOWN


def _name_door(path: str) -> str:
    return next((door for door in _DOORS if path == door or path.startswith(f"{door}/")), _UNKNOWN)
