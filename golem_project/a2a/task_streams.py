"""Follows a task on any server process: its rows say where it is, the event log says when to look again."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings

from golem_project.a2a.callers import A2ACaller
from golem_project.a2a.models import OPEN_STATES, Task, Visit
from golem_project.a2a.permit_of_task import follow_task
from golem_project.a2a.task_messages import show_answer, show_change, show_task
from golem_project.pi.authentication import identify
from golem_project.stream.event_fanout import Client
from golem_project.stream.in_thread import run_blocking
from golem_project.stream.sse import EventStream
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.event_log import EventFilter

_TELLING = frozenset({"a2a:task", "permit:*", "approval:*"})


class TaskStreams:
    """Task streams beside the event streams of one server process; they share their limits."""

    def __init__(self, events: EventStream) -> None:
        self._events = events

    def check_room(self, caller: A2ACaller) -> None:
        """Raises StreamLimitReached."""
        self._events.check_room(caller.name, owner=caller.owner)

    async def follow(
        self,
        *,
        caller: A2ACaller,
        task_id: UUID,
    ) -> AsyncGenerator[Any, None]:  # Any: nothing is sent into it
        """The task, then each change of it until it has ended, the caller may not listen any more, or is too slow."""
        hub = self._events.hub()
        with self._events.hold_room(caller.name, owner=caller.owner):
            hub.enter()
            try:
                await hub.ready()
                wanted = EventFilter(golem_ids=frozenset({str(caller.golem.pk)}), types=_TELLING)
                client = Client(wanted=wanted, after=hub.position, most=settings.GOLEM_STREAM_QUEUE_EVENTS)
                hub.attach(client)
                try:
                    async for event in self._tell(client, caller, task_id):
                        yield event
                finally:
                    hub.detach(client)
            finally:
                hub.leave()

    async def _tell(
        self,
        client: Client,
        caller: A2ACaller,
        task_id: UUID,
    ) -> AsyncGenerator[Any, None]:  # Any: nothing is sent into it
        row = await run_blocking(partial(_look, task_id))
        yield show_task(row)
        version, has_answer, checked_ms = row.version, bool(row.answer), clock.monotonic_ms()
        while row.state in OPEN_STATES and not client.cut_off:
            await client.take(seconds=settings.GOLEM_STREAM_HEARTBEAT_SECONDS)
            if clock.monotonic_ms() - checked_ms >= settings.GOLEM_STREAM_RECHECK_SECONDS * 1000:
                checked_ms = clock.monotonic_ms()
                if not await run_blocking(partial(_may_stay, caller)):
                    return
            row = await run_blocking(partial(_look, task_id))
            if row.version == version:
                continue
            if row.answer and (not has_answer or row.state not in OPEN_STATES):
                has_answer = True
                yield show_answer(row)
            version = row.version
            yield show_change(row)


def _look(task_id: UUID) -> Task:
    return follow_task(task_id=task_id, now=clock.now())


def _may_stay(caller: A2ACaller) -> bool:
    if caller.key is None:
        return Visit.objects.filter(golem=caller.golem, address=caller.visitor, expires_at__gt=clock.now()).exists()
    try:
        return identify(caller.token, now=clock.now()).golem_id == caller.golem.pk
    except GolemError:
        return False
