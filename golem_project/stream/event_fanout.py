"""Hands every event from one reader per process to all clients of that process.

The reader waits on the ring and takes from the log what the ring lacks: a hole, a restart of the broker, an outage.
Each client has a bounded queue; who falls behind is cut off with the place to resume from, and holds nobody up.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import Error as DatabaseError
from redis.exceptions import RedisError

from golem_project.stream.in_thread import run_blocking
from tools_app.core import broker, event_log, event_ring
from tools_app.core.event_log import EventFilter, LogHead
from tools_app.core.events import LoggedEvent

logger = logging.getLogger(__name__)

_WAIT_MS = 1_000
_PAGE = 500
_PAUSE_SECONDS = 0.25
# Every client costs a wake-up and a write for each hand-out: the more there are, the more events go out together.
_GATHER_SECONDS_PER_CLIENT = 0.0002
_LONGEST_GATHER_SECONDS = 0.05


@dataclass(eq=False)
class Client:
    """One subscriber: what it wants, what waits for it, and whether it was cut off."""

    wanted: EventFilter
    after: int
    most: int
    waiting: deque[tuple[int, bytes]] = field(default_factory=deque)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    cut_off: str = ""

    def offer(self, position: int, frame: bytes) -> None:
        """Queue a frame, or cut the client off when its queue is full."""
        if position <= self.after or self.cut_off:
            return
        if len(self.waiting) >= self.most:
            self.end("slow_client")
            return
        self.waiting.append((position, frame))
        self.news.set()

    def end(self, reason: str) -> None:
        """Cut the client off; what is queued already is still sent."""
        self.cut_off = self.cut_off or reason
        self.news.set()

    async def take(self, *, seconds: float) -> list[tuple[int, bytes]]:
        """Everything that waits, after waiting for it at most `seconds`."""
        if not self.waiting and not self.cut_off:
            self.news.clear()
            # Not `wait_for`: on 3.11 it loses a cancellation that comes together with the news.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.news.wait()
        taken = list(self.waiting)
        self.waiting.clear()
        return taken


class EventHub:
    """The reader and its clients. Lives in one event loop; started by its first client, stopped with its last."""

    def __init__(self, *, redis_url: str, read_head: Callable[[], LogHead] = event_log.read_head) -> None:
        self._redis_url = redis_url
        self._read_head = read_head
        self._clients: set[Client] = set()
        self._by_golem: dict[str, set[Client]] = {}
        self._of_all: set[Client] = set()
        self._reader: asyncio.Task[None] | None = None
        self._listeners = 0
        self._ending = ""
        # A cancelled reader may still be waiting for an answer when the next one starts; only the newest hands out.
        self._generation = 0
        self.head: LogHead | None = None
        self.position = 0

    def enter(self) -> None:
        """Somebody is about to listen; the reader stays until they `leave`."""
        self._listeners += 1

    def leave(self) -> None:
        """They are gone; with the last one the reader stops."""
        self._listeners -= 1
        if not self._listeners and self._reader is not None:
            self._generation += 1
            self._reader.cancel()
            self._reader = None

    async def ready(self) -> LogHead:
        """The head of the log, with the reader running. Raises what the log raises when it cannot be read."""
        head = await run_blocking(self._read_head)
        if self._reader is None:
            self.head, self.position = head, head.position
            self._generation += 1
            self._reader = asyncio.create_task(self._read_for_ever(self._generation), name="event-hub")
            self._reader.add_done_callback(self._reader_ended)
        return head

    def attach(self, client: Client) -> None:
        """From now on the client gets what follows its place. It must have read the log up to `position`."""
        self._clients.add(client)
        if self._ending:
            client.end(self._ending)
        if client.wanted.golem_ids is None:
            self._of_all.add(client)
        else:
            for golem_id in client.wanted.golem_ids:
                self._by_golem.setdefault(golem_id, set()).add(client)

    def end_all(self, reason: str) -> None:
        """Cut everybody off who listens, and who comes yet."""
        self._ending = reason
        for client in self._clients:
            client.end(reason)

    def detach(self, client: Client) -> None:
        """Forget the client."""
        self._clients.discard(client)
        self._of_all.discard(client)
        for golem_id in client.wanted.golem_ids or ():
            mates = self._by_golem.get(golem_id)
            if mates is not None:
                mates.discard(client)
                if not mates:
                    del self._by_golem[golem_id]

    def _reader_ended(self, reader: asyncio.Task[None]) -> None:
        if reader is self._reader:
            self._reader = None
        if not reader.cancelled() and reader.exception() is not None:
            logger.error("the reader of events failed", exc_info=reader.exception())
            for client in list(self._clients):
                client.end("reader_failed")

    async def _read_for_ever(self, generation: int) -> None:
        ring: Any  # Any: redis-py's answers have no types
        ring = broker.open_client_of_loop(self._redis_url, silence_seconds=_WAIT_MS / 1000 + 2, connect_seconds=1)
        try:
            while generation == self._generation:
                try:
                    position = self.position
                    await self._read_once(ring, generation)
                    if self.position != position:
                        gather = len(self._clients) * _GATHER_SECONDS_PER_CLIENT
                        await asyncio.sleep(min(gather, _LONGEST_GATHER_SECONDS))
                except (DatabaseError, OSError) as error:
                    logger.warning("the event log does not answer: %s", type(error).__name__)
                    await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            with contextlib.suppress(RedisError, OSError):
                await ring.aclose()

    async def _read_once(self, ring: Any, generation: int) -> None:  # Any: redis-py's answers have no types
        assert self.head is not None
        entries: list[Any] = []  # Any: JSON of an event
        key = event_ring.ring_key(self.head.log_id)
        try:
            answer = await ring.xread({key: f"{self.position}-0"}, count=_PAGE, block=_WAIT_MS)
            if answer:
                entries = answer[0][1] if isinstance(answer, list) else next(iter(answer.values()))[0]
        except (RedisError, OSError) as error:
            logger.debug("the event ring does not answer: %s", type(error).__name__)
            await asyncio.sleep(_PAUSE_SECONDS)
        if generation != self._generation:
            return
        events = event_ring.follow(self.position, entries)
        if events:
            self._hand_out(events)
        else:
            await self._read_log(generation)

    async def _read_log(self, generation: int) -> None:
        """Nothing new in the ring, or a hole in it: the log knows."""
        head = await run_blocking(self._read_head)
        if generation != self._generation:
            return
        if self.head is None or head.log_id != self.head.log_id or head.position < self.position:
            self.head, self.position = head, head.position
            for client in list(self._clients):
                client.end("log_replaced")
            return
        if head.position > self.position:
            position = self.position
            page = await run_blocking(lambda: event_log.read_after(position, head=head, limit=_PAGE))
            if generation == self._generation:
                self._hand_out(page.events)

    def _hand_out(self, events: list[LoggedEvent]) -> None:
        assert self.head is not None
        for event in events:
            takers = self._by_golem.get(event.golem_id, set()) | self._of_all
            if takers:
                frame = encode_frame(event, head=self.head)
                for client in takers:
                    if client.wanted.accepts(event):
                        client.offer(event.position, frame)
            self.position = event.position


def encode_frame(event: LoggedEvent, *, head: LogHead) -> bytes:
    """The event as a server-sent event; its JSON has no line breaks."""
    return f"id: {head.cursor(event.position)}\nevent: {event.type}\ndata: {event.body}\n\n".encode()
