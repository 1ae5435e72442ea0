"""Begins a trace with each request, where traces are asked for: its first step lasts until its answer begins.

What a caller says of a trace of its own is noted beside it and is not believed: two owners' agents could share one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

from golem_project.metrics.measured_requests import name_request
from golem_project.middleware.request_id import current_request_id
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
from tools_app.core import trace_spans
from tools_app.core.json_types import JsonObject

_SPAN: Final = "golem.span"
"""In a request's state: its first step."""
_QUIET: Final = ("/healthz", "/readyz", "/metrics", "/static/")
"""What machines ask all the time and nobody looks for."""
_OFFERED: Final = re.compile(rb"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


class TracedRequests:
    """An ASGI application around another."""

    def __init__(self, inner: App) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = read_request(scope)
        if asked is None or not trace_spans.is_kept() or asked.path.startswith(_QUIET):
            await self._inner(scope, receive, send)
            return
        span = trace_spans.begin("request", led_to_by=_read_offered(asked))
        state = scope.setdefault("state", {})
        state[_SPAN] = span
        has_begun = False

        async def pass_on(message: JsonObject) -> None:
            nonlocal has_begun
            begun = read_start(message)
            if begun is not None and span is not None and not has_begun:
                has_begun = True
                endpoint, method = name_request(scope, asked)
                span.rename(f"{method} {endpoint}")
                span.note(status=begun.status)
                span.end("" if begun.status < 500 else str(begun.status))
            await send(message)

        try:
            with trace_spans.carried(span):
                await self._inner(scope, receive, pass_on)
        finally:
            if span is not None and not has_begun:
                span.end("NO_ANSWER")


class CarriedSpans:
    """Middleware that makes what a thread does for a request part of its trace."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        scope = getattr(request, "scope", None)
        span: trace_spans.OpenStep | None = read_state(scope).get(_SPAN) if scope is not None else None
        if span is None:
            return self.get_response(request)
        span.note(request_id=current_request_id())
        with trace_spans.carried(span):
            return self.get_response(request)


def _read_offered(asked: AskedRequest) -> str | None:
    for name, value in asked.headers:
        if name == trace_spans.HEADER.encode() and _OFFERED.fullmatch(value):
            return str(value.decode("latin-1"))
    return None
