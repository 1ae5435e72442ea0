"""Lets a server start only when its start conditions hold; who only imports the application asks nothing."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured

from golem_project.runtime.asgi_types import App, Receive, Scope, Send


class CheckedStart:
    """An ASGI application around another: `check` runs once, when the server starts, and what it raises ends it; then
    `on_start` does.
    """

    def __init__(self, inner: App, *, check: Callable[[], None], on_start: Callable[[], None]) -> None:
        self._inner = inner
        self._check, self._on_start = check, on_start

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._inner(scope, receive, send)
            return
        while (await receive())["type"] == "lifespan.startup":
            try:
                self._check()
            except ImproperlyConfigured as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            self._on_start()
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
