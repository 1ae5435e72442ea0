"""Loads the A2A interface on the first request to it: the SDK behind it is a tenth of what a start would load."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from golem_project.runtime.asgi_types import read_request
from golem_project.stream.in_thread import run_blocking
from golem_project.stream.sse import EventStream
from tools_app.core.json_types import JsonObject

if TYPE_CHECKING:
    from golem_project.a2a.door import A2ADoor

PREFIX = "/a2a/"
App = Callable[[Any, Any, Any], Awaitable[None]]  # Any: ASGI's messages are of no fixed type


class LateDoor:
    """An ASGI application around another: what begins with `/a2a/` waits for the door, the rest goes on at once."""

    def __init__(self, inner: App, *, events: EventStream) -> None:
        self._inner, self._events = inner, events
        self._door: A2ADoor | None = None
        self._opening = asyncio.Lock()

    async def __call__(
        self,
        scope: MutableMapping[str, Any],  # Any: JSON of a request or answer
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],  # Any: JSON of a request or answer
        send: Callable[[JsonObject], Awaitable[None]],
    ) -> None:
        asked = read_request(scope)
        if asked is None or not asked.path.startswith(PREFIX):
            await self._inner(scope, receive, send)
            return
        door = self._door or await self._find()
        await door(scope, receive, send)

    async def _find(self) -> A2ADoor:
        async with self._opening:
            if self._door is None:
                # Loading takes a third of a second, in which the loop serves everybody else.
                self._door = await run_blocking(self._open)
            return self._door

    def _open(self) -> A2ADoor:
        from golem_project.a2a.door import A2ADoor

        return A2ADoor(self._inner, events=self._events)
