"""Refuses WebSockets in words, before an application that knows none sees one."""

from __future__ import annotations

import json
import uuid

from golem_project.pi.errors import UpgradeNotServed
from golem_project.pi.exception_handler import PROBLEM_JSON, describe_problem
from golem_project.runtime.asgi_types import App, Receive, Scope, Send

_ANSWER = "websocket.http.response"
_UNSUPPORTED = 1003
"""The WebSocket close code for a server that does not speak what was sent."""


class PlainHttp:
    """An ASGI application around another, which only sees HTTP and the server's own start and stop."""

    def __init__(self, inner: App) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await _refuse(scope, send)
        else:
            await self._inner(scope, receive, send)


async def _refuse(scope: Scope, send: Send) -> None:
    if _ANSWER not in scope.get("extensions", {}):
        # The server answers 403 by itself then.
        await send({"type": "websocket.close", "code": _UNSUPPORTED})
        return
    request_id = uuid.uuid4().hex
    error = UpgradeNotServed("ask again without Upgrade; events come as text/event-stream from /api/v1/events")
    problem, _ = describe_problem(error, instance=scope["path"])
    problem["request_id"] = request_id
    body = json.dumps(problem).encode()
    headers = [
        (b"content-type", PROBLEM_JSON.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id.encode()),
    ]
    await send({"type": f"{_ANSWER}.start", "status": problem["status"], "headers": headers})
    await send({"type": f"{_ANSWER}.body", "body": body})
