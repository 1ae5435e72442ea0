"""Serves events as a resumable `text/event-stream`, without a thread or connection per client.

It stands in front of Django, because a response there keeps the thread and the database connection it began with.
What it does not serve goes on to Django, which answers the same path as JSON pages.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest

from golem_project.front.addresses import is_trusted, read_address
from golem_project.front.shutdown_responses import ENDS_WITH_SERVER
from golem_project.pi.errors import BadRequest
from golem_project.pi.exception_handler import PROBLEM_JSON, describe_problem
from golem_project.stream.callers import EventFollower, identify_caller
from golem_project.stream.errors import StreamLimitReached
from golem_project.stream.event_fanout import Client, EventHub, encode_frame
from golem_project.stream.in_thread import run_blocking
from golem_project.stream.parameters import EventQuestion, read_question
from tools_app.core import clock, event_log
from tools_app.core.errors import GolemError
from tools_app.core.event_log import CursorExpired

EVENTS_PATH = "/api/v1/events"
EVENT_STREAM = "text/event-stream"
SERVER_STOPPING = "server_stopping"
"""Why a stream ends with its server, in its last words."""
_PAGE = 500

Scope = MutableMapping[str, Any]  # Any: ASGI's messages are of no fixed type
Send = Callable[[dict[str, Any]], Awaitable[None]]  # Any: ASGI's messages are of no fixed type
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]  # Any: ASGI's messages are of no fixed type
App = Callable[[Any, Any, Any], Awaitable[None]]  # Any: ASGI's messages are of no fixed type


class EventStream:
    """An ASGI application around another: serves event streams itself and hands everything else on."""

    def __init__(self, inner: App) -> None:
        self._inner = inner
        self._hubs: dict[asyncio.AbstractEventLoop, EventHub] = {}
        self._open: Counter[str] = Counter()
        self._of: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == EVENTS_PATH and _wants_stream(scope):
            await self._serve(scope, receive, send)
        else:
            await self._inner(scope, receive, send)

    @property
    def open_streams(self) -> int:
        """How many streams are open in this process."""
        return self._open.total()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = uuid.uuid4().hex
        request = ASGIRequest(scope, BytesIO())
        try:
            caller, question = await run_blocking(partial(_admit, request))
            room = {"owner": caller.owner, "address": read_address(scope)}
            self.check_room(caller.name, **room)
        except Exception as error:  # noqa: BLE001  (rendered as every error of the API)
            await send_problem(error, send, request_id=request_id)
            return
        scope.setdefault("state", {})[ENDS_WITH_SERVER] = self.end_all
        with self.hold_room(caller.name, **room):
            await self._stream(request, caller, question, receive, send, request_id=request_id)

    def end_all(self) -> None:
        """The server stops: each stream says where it was left, and ends."""
        for hub in self._hubs.values():
            hub.end_all(SERVER_STOPPING)

    @contextmanager
    def hold_room(self, caller: str, *, owner: str, address: str = "") -> Iterator[None]:
        """One more stream of `caller` is open. Raises StreamLimitReached."""
        self.check_room(caller, owner=owner, address=address)
        self._open[caller] += 1
        held = [f"of {owner}", f"from {address}"]
        self._of.update(held)
        try:
            yield
        finally:
            self._open[caller] -= 1
            self._open += Counter()
            self._of.subtract(held)
            self._of += Counter()

    def check_room(self, caller: str, *, owner: str, address: str = "") -> None:
        """Raises StreamLimitReached where `caller`, their owner, their address or everybody has as many streams open as
        may be.
        """
        most, mine = settings.GOLEM_STREAM_MOST_CLIENTS, settings.GOLEM_STREAM_MOST_CLIENTS_PER_CALLER
        of_owner, from_there = settings.GOLEM_STREAM_MOST_CLIENTS_PER_OWNER, settings.GOLEM_STREAM_MOST_PER_ADDRESS
        if self._of[f"of {owner}"] >= of_owner:
            raise StreamLimitReached(
                f"{of_owner} event streams of this owner's tokens and pages are open here already; close one",
                limit=of_owner,
            )
        if address and not is_trusted(address) and self._of[f"from {address}"] >= from_there:
            raise StreamLimitReached(
                f"{from_there} event streams are open from your address already; close one", limit=from_there
            )
        if self._open[caller] >= mine:
            raise StreamLimitReached(f"you have {mine} event streams open here already; close one", limit=mine)
        if self._open.total() >= most:
            raise StreamLimitReached("this server holds as many event streams as it may", limit=most)

    async def _stream(
        self,
        request: ASGIRequest,
        caller: EventFollower,
        question: EventQuestion,
        receive: Receive,
        send: Send,
        *,
        request_id: str,
    ) -> None:
        hub = self.hub()
        hub.enter()
        try:
            await self._stream_from(hub, request, caller, question, receive, send, request_id=request_id)
        finally:
            hub.leave()

    async def _stream_from(
        self,
        hub: EventHub,
        request: ASGIRequest,
        caller: EventFollower,
        question: EventQuestion,
        receive: Receive,
        send: Send,
        *,
        request_id: str,
    ) -> None:
        try:
            head = await hub.ready()
            position = await run_blocking(lambda: question.start(head=head, default=head.position))
        except Exception as error:  # noqa: BLE001  (rendered as every error of the API)
            await send_problem(error, send, request_id=request_id)
            return
        client = Client(wanted=question.wanted, after=position, most=settings.GOLEM_STREAM_QUEUE_EVENTS)
        writer = asyncio.create_task(_Writer(hub, client, request, caller, question, send, request_id).write())
        listener = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait({writer, listener}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hub.detach(client)
            for task in (writer, listener):
                task.cancel()
            await asyncio.gather(writer, listener, return_exceptions=True)

    def hub(self) -> EventHub:
        """The reader of this event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._hubs:
            self._hubs = {loop: EventHub(redis_url=settings.REDIS_URL)}
        return self._hubs[loop]


class _Writer:
    """Writes one client's stream: what it missed, then what comes, with comments while nothing does."""

    def __init__(
        self,
        hub: EventHub,
        client: Client,
        request: ASGIRequest,
        caller: EventFollower,
        question: EventQuestion,
        send: Send,
        request_id: str,
    ) -> None:
        self._hub, self._client, self._request, self._caller = hub, client, request, caller
        self._question, self._send, self._request_id = question, send, request_id
        self._checked_ms = clock.monotonic_ms()

    async def write(self) -> None:
        """Until the client leaves, is cut off, or loses its right to listen."""
        headers = {
            "Content-Type": f"{EVENT_STREAM}; charset=utf-8",
            "Cache-Control": "no-store, no-transform",
            "X-Accel-Buffering": "no",
            "X-Content-Type-Options": "nosniff",
            "X-Request-Id": self._request_id,
        }
        await self._send({"type": "http.response.start", "status": 200, "headers": _encode_headers(headers)})
        await self._put(f"retry: {settings.GOLEM_STREAM_RETRY_MS}\n\n".encode())
        try:
            if not await self._catch_up():
                await self._say_goodbye("not_allowed")
                return
        except CursorExpired as error:
            # It reads slower than events are forgotten.
            await self._say_goodbye("cursor_expired", place=str(error.data["oldest_cursor"]))
            return
        while True:
            taken = await self._client.take(seconds=settings.GOLEM_STREAM_HEARTBEAT_SECONDS)
            # Before anything more is told: who may no longer listen hears nothing that came since the last look.
            if not await self._may_stay():
                await self._say_goodbye("not_allowed")
                return
            if taken:
                await self._put(b"".join(frame for _, frame in taken))
                self._client.after = taken[-1][0]
            if self._client.cut_off:
                await self._say_goodbye(self._client.cut_off)
                return
            if not taken:
                # Everything the hub has read so far was offered, so a quiet client's place moves with it.
                self._client.after = max(self._client.after, self._hub.position)
                await self._put(f"id: {self._place()}\n: heartbeat\n\n".encode())

    async def _catch_up(self) -> bool:
        """Read the log up to where the hub is, then join it without a gap: no await lies between the two.

        False where the reader may not listen any more: a slow one catches up for long.
        """
        client = self._client
        while True:
            head = await run_blocking(event_log.read_head)
            read = partial(event_log.read_after, client.after, head=head, wanted=client.wanted, limit=_PAGE)
            page = await run_blocking(read)
            if not await self._may_stay():
                return False
            if page.events:
                await self._put(b"".join(encode_frame(event, head=head) for event in page.events))
            client.after = page.reached
            if client.after >= self._hub.position:
                self._hub.attach(client)
                return True

    async def _put(self, body: bytes) -> None:
        message = {"type": "http.response.body", "body": body, "more_body": True}
        async with asyncio.timeout(settings.GOLEM_STREAM_SEND_TIMEOUT_SECONDS):
            await self._send(message)

    async def _say_goodbye(self, reason: str, *, place: str = "") -> None:
        data = json.dumps({"reason": reason, "last_event_id": place or self._place()})
        await self._put(f"event: stream:resume\ndata: {data}\n\n".encode())
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _place(self) -> str:
        head = self._hub.head
        return head.cursor(self._client.after) if head is not None else ""

    async def _may_stay(self) -> bool:
        """Look the caller up again from time to time: a revoked token and a sold golem end the stream."""
        if clock.monotonic_ms() - self._checked_ms < settings.GOLEM_STREAM_RECHECK_SECONDS * 1000:
            return True
        self._checked_ms = clock.monotonic_ms()
        try:
            caller, question = await run_blocking(partial(_admit, self._request))
        except GolemError:
            return False
        return caller == self._caller and question.wanted == self._question.wanted


def _admit(request: ASGIRequest) -> tuple[EventFollower, EventQuestion]:
    try:
        request.get_host()
    except DisallowedHost:
        raise BadRequest("this host name is not served here") from None
    engine = import_module(settings.SESSION_ENGINE)
    request.session = engine.SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    caller = identify_caller(request, now=clock.now())
    query = {name: ",".join(request.GET.getlist(name)) for name in request.GET}
    return caller, read_question(query, caller=caller, last_event_id=request.headers.get("Last-Event-ID"))


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _wants_stream(scope: Scope) -> bool:
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    return scope["method"] == "GET" and EVENT_STREAM in accepted.decode("latin-1").lower()


async def send_problem(error: Exception, send: Send, *, request_id: str, instance: str = EVENTS_PATH) -> None:
    """Answer `error` at the path `instance` as every error of the API."""
    problem, headers = describe_problem(error, instance=instance)
    problem["request_id"] = request_id
    body = json.dumps(problem).encode()
    headers = {
        **headers,
        "Content-Type": PROBLEM_JSON,
        "Content-Length": str(len(body)),
        "X-Request-Id": request_id,
        "Cache-Control": "no-store",
    }
    await send({"type": "http.response.start", "status": problem["status"], "headers": _encode_headers(headers)})
    await send({"type": "http.response.body", "body": body})


def _encode_headers(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
