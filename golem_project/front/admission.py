"""Admits requests to the application: bounds each body, and lets a request in when it is its turn."""

from __future__ import annotations

import json
import uuid
from functools import cached_property, lru_cache
from typing import Any, Final

from django.conf import settings

from golem_project.front.request_bodies import Bodies, CallerLeft, has_body, replay
from golem_project.front.request_queues import Lanes, PlaceInLine
from golem_project.pi.exception_handler import PROBLEM_JSON, describe_problem
from golem_project.pi.mcp_door import ENVELOPE_BYTES, MCP_PATH
from golem_project.pi.parsers import MAX_BODY_BYTES
from golem_project.pi.problem_members import Members
from golem_project.runtime.asgi_types import App, Receive, Scope, Send
from permits_app.safety.hooks.result_filter import filter_result
from tools_app.core.errors import GolemError
from tools_app.core.fair_queue_places import WaitingTurn
from tools_app.sandbox.module_size import most_module_bytes

_PAGES: Final = ("/admin/", "/join")
_WAIT: Final = 429
TOLD_TO_WAIT: Final = "golem.told_to_wait"
"""In a request's state: its caller was told to come back later."""


class FrontDoor:
    """An ASGI application around another."""

    def __init__(self, inner: App) -> None:
        self._inner = inner
        self.bodies = Bodies()

    @cached_property
    def lanes(self) -> Lanes:
        """The lines of this process, as the settings are when the first comes."""
        return Lanes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        try:
            await self._let_in(scope, receive, send)
        except CallerLeft:
            return

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = _AnswerBegun(send)
        try:
            standing = self.lanes.place(scope)
            with self.bodies.hold() as body:
                if has_body(scope):
                    raw = await body.read(scope, receive, most=most_body_bytes(scope, is_known=standing.is_known))
                    receive = replay(raw, receive)
                async with self.lanes.hold(standing) as turn:
                    await self._inner(scope, receive, told.until_begun(scope, standing, turn))
        except GolemError as error:
            if told.has_begun:
                raise
            await _refuse(error, scope, told.note(scope))


class _AnswerBegun:
    """Whether an answer has begun. From then on it needs its place no longer."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    def note(self, scope: Scope) -> Send:
        """Sends, and notes at the request that its caller was told to wait: the server reads nothing for a moment."""

        async def pass_on(message: dict[str, object]) -> None:
            if message.get("status") == _WAIT:
                scope.setdefault("state", {})[TOLD_TO_WAIT] = True
            await self._send(message)

        return pass_on

    def until_begun(self, scope: Scope, standing: PlaceInLine, turn: WaitingTurn | None) -> Send:
        send = self.note(scope)

        async def pass_on(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start":
                self.has_begun = True
                # The work is done: who reads its answer slowly keeps nobody waiting.
                if turn is not None and standing.line is not None:
                    standing.line.leave(turn)
            await send(message)

        return pass_on


async def _refuse(error: GolemError, scope: Scope, send: Send) -> None:
    """Answer `error` as every error of the API; what it says is made once, for a crowd is refused in the same words."""
    kind: object = type(error)  # to mypy a class of ours is not hashable, since its instances are exceptions
    told, headers = _describe(kind, error.detail, tuple(sorted(error.data.items())))
    request_id = uuid.uuid4().hex
    body = json.dumps({**told, "instance": filter_result(scope["path"]), "request_id": request_id}).encode()
    lines = [*headers, (b"content-length", str(len(body)).encode()), (b"x-request-id", request_id.encode())]
    await send({"type": "http.response.start", "status": told["status"], "headers": lines})
    await send({"type": "http.response.body", "body": body})


@lru_cache(maxsize=64)
def _describe(
    kind: type[GolemError],
    detail: str,
    data: tuple[tuple[str, Any], ...],  # Any: each error's own facts
) -> tuple[Members, list[tuple[bytes, bytes]]]:
    problem, headers = describe_problem(kind(detail, **dict(data)), instance="")
    headers = {**headers, "content-type": PROBLEM_JSON, "cache-control": "no-store"}
    return problem, [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def most_body_bytes(scope: Scope, *, is_known: bool) -> int:
    """How long a body may be here: a call's, a form's, or of somebody who is signed in a module's."""
    if scope["path"].rstrip("/") == MCP_PATH:
        return MAX_BODY_BYTES + ENVELOPE_BYTES
    if not scope["path"].startswith(_PAGES):
        return MAX_BODY_BYTES
    form = int(settings.GOLEM_MOST_FORM_BYTES)
    return form + most_module_bytes() if is_known else form
