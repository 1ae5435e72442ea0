"""Calls one of the eight tools inside this process, exactly as its HTTP request would: one way in for every door.

The same view does it, so token, scopes, strict parsing, idempotency, limits, result filter and refusals are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import quote

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.urls import resolve

from golem_project.middleware.request_id import NO_REQUEST, RequestIdMiddleware, current_request_id
from golem_project.pi.views import UnknownToolView
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.enums import PiTool

_TOOLS = frozenset(str(tool) for tool in PiTool)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The HTTP status and the JSON body."""

    status: int
    body: JsonObject

    @property
    def is_refusal(self) -> bool:
        """Whether the body is a problem (RFC 9457)."""
        return self.status >= 400


def call_tool(name: str, body: Mapping[str, object], *, token: str, idempotency_key: str = "") -> ToolAnswer:
    """Call the tool `name` for the holder of `token`. Never raises for what the tool refuses: that is the answer."""
    path = f"/api/v1/pi/{quote(name, safe='')}"
    raw = json.dumps(body).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(raw)).encode()),
        (b"authorization", f"Bearer {token}".encode()),
    ]
    if current_request_id() != NO_REQUEST:
        headers.append((b"x-request-id", current_request_id().encode()))
    if idempotency_key:
        headers.append((b"idempotency-key", idempotency_key.encode()))
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    request = ASGIRequest(scope, BytesIO(raw))

    def answer(asked: HttpRequest) -> Any:  # Any: the framework's answer, which has no common type once rendered
        if name in _TOOLS:
            return resolve(path).func(asked).render()
        # The other paths beside the tools are no tools.
        return UnknownToolView.as_view()(asked, name=name).render()

    response = RequestIdMiddleware(answer)(request)
    return ToolAnswer(status=response.status_code, body=json.loads(response.content))
