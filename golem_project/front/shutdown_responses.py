"""Answers who still waits when a server's time to stop is over, where the library says 500 and nothing more.

A server that is asked to stop takes no new connection and has some seconds for what it took. What it began goes on in
its thread or on a worker, so whoever asked is told to ask again: an act that is asked for twice is done once.
"""

from __future__ import annotations

import asyncio
from typing import Final

from golem_project.front.errors import ServerStopping
from golem_project.front.raw_error_responses import write_refusal
from golem_project.runtime.asgi_types import App, Receive, Scope, Send

ENDS_WITH_SERVER: Final = "golem.ends_with_server"
"""In a request's state: what ends its answer, which has no end of its own; its reader goes on where it was left."""
_RETRY_AFTER_SECONDS: Final = 2


class LastAnswers:
    """An ASGI application around another."""

    def __init__(self, inner: App) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        has_begun = is_over = False

        async def note(message: dict[str, object]) -> None:
            nonlocal has_begun
            if not is_over:
                has_begun = True
                await send(message)

        # A task of its own: what is slow to let go of its own tasks, as a library may be, keeps nobody from the answer.
        work = asyncio.ensure_future(self._inner(scope, receive, note))
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            # Only the end of the server cancels a request.
            work.cancel()
            if has_begun:
                raise
            is_over = True
            await _refuse(scope, send)
        else:
            work.result()


async def _refuse(scope: Scope, send: Send) -> None:
    error = ServerStopping(
        "this server stops, and what you asked for may go on; ask again, with the same Idempotency-Key if you sent one",
        retry_after_seconds=_RETRY_AFTER_SECONDS,
    )
    refusal = write_refusal(error, instance=scope["path"])
    await send({"type": "http.response.start", "status": refusal.status, "headers": list(refusal.headers)})
    await send({"type": "http.response.body", "body": refusal.body})
