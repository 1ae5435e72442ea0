"""Runs Django's synchronous chain behind ASGI with one hop into a kept thread for a whole request.

Django's own handler makes a new thread for every request, which then has none of what is kept by thread (connections
to the broker, the cache and the queue), and hops to it several times. Here the body is read first, so that a slow
caller holds no thread; then one kept thread does everything from the request's begin to its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import FileResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from golem_project.runtime.asgi_types import Receive, Scope, Send

Message = dict[str, Any]  # Any: ASGI leaves the values of a message to its sender


class ThreadedHandler(ASGIHandler):
    """An ASGI application that runs the whole middleware chain in one of `GOLEM_WEB_THREADS` threads.

    A thread that waits for a worker holds no database connection; it is freed by the answer, not by the caller's leave.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(settings.GOLEM_WEB_THREADS, thread_name_prefix="request")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        """Answer one request. Raises ValueError for what is not HTTP."""
        if scope["type"] != "http":
            raise ValueError(f"this server answers HTTP, not {scope['type']}")
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        loop = asyncio.get_running_loop()
        # In the thread's own context: what a library keeps by context lasts as long as the thread.
        left = await loop.run_in_executor(self._threads, self._answer, scope, body, send, loop)
        try:
            for message in left:
                await send(message)
        finally:
            left.close()

    def _answer(
        self, scope: Scope, body: IO[bytes], send: Send, loop: asyncio.AbstractEventLoop
    ) -> Generator[Message, None, None]:
        """The messages that are still to be sent; a streamed answer is sent from here, piece by piece. A file is not:
        who reads it slowly would keep the thread.
        """
        with body:
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=self.__class__, scope=scope)
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else self.get_response(request)  # Any: with Django's own marks
            response._handler_class = self.__class__
            try:
                start = {"type": "http.response.start", "status": response.status_code, "headers": _headers(response)}
                if not response.streaming:
                    return _give([start, {"type": "http.response.body", "body": response.content}], [])
                file: Any = response if isinstance(response, FileResponse) else None  # Any: with Django's own marks
                if file is not None:
                    file.block_size = self.chunk_size
                    closers, file._resource_closers = file._resource_closers, []
                    return _give(_stream(response, start), closers)
                for message in _stream(response, start):
                    asyncio.run_coroutine_threadsafe(_send(send, message), loop).result()
                return _give([], [])
            finally:
                # Ends the request: its database connection goes back to the pool.
                response.close()


async def _send(send: Send, message: dict[str, object]) -> None:
    await send(message)


def _give(messages: Iterable[Message], closers: list[Callable[[], None]]) -> Generator[Message, None, None]:
    """The messages, and at the end, however it comes, what is to be closed."""
    try:
        yield from messages
    finally:
        for close in closers:
            close()


def _stream(response: Iterable[bytes], start: Message) -> Iterator[Message]:
    yield start
    for piece in response:
        yield {"type": "http.response.body", "body": piece, "more_body": True}
    yield {"type": "http.response.body"}


def _headers(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    cookies = (cookie.output(header="").strip().encode("ascii") for cookie in response.cookies.values())
    return [*headers, *((b"Set-Cookie", cookie) for cookie in cookies)]
