"""The SDK's request handler over our rows: every method runs in a thread, every refusal is one of the protocol's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NoReturn, TypeVar
from uuid import UUID, uuid4

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types import a2a_pb2 as wire
from a2a.utils import errors as protocol
from django.conf import settings

from golem_project.a2a import errors, notifications, task_requests
from golem_project.a2a.callers import A2ACaller
from golem_project.a2a.cards import make_card
from golem_project.a2a.message_parsing import Ask, read_ask, read_handed_in
from golem_project.a2a.models import OPEN_STATES, Task
from golem_project.a2a.skills import HOW_TO_ASK, describe_offer, list_for
from golem_project.a2a.task_execution import carry_out
from golem_project.a2a.task_messages import data_part, show_task
from golem_project.a2a.task_streams import TaskStreams
from golem_project.pi.exception_handler import as_golem_error
from golem_project.stream.in_thread import run_blocking
from tools_app.core import clock
from tools_app.core.errors import GolemError, InternalError, InvalidParams

logger = logging.getLogger(__name__)

T = TypeVar("T")
_ASKING_THREADS = 8
CALLER, IS_LEGACY, BASE_URL = "caller", "is_legacy", "base_url"
"""What the door leaves in a call's state."""

_PROTOCOL_ERRORS: dict[type[GolemError], type[protocol.A2AError]] = {
    errors.TaskUnknown: protocol.TaskNotFoundError,
    errors.TaskNotCancelable: protocol.TaskNotCancelableError,
    errors.PartNotTaken: protocol.ContentTypeNotSupportedError,
    errors.PushRefused: protocol.InvalidParamsError,
    errors.PushUnknown: protocol.InvalidParamsError,
    InvalidParams: protocol.InvalidParamsError,
}


class GolemRequestHandler(RequestHandler):
    """Answers the protocol's methods for any golem; the call's state says which, and who asks."""

    def __init__(self, streams: TaskStreams) -> None:
        self._streams = streams
        self._threads = ThreadPoolExecutor(_ASKING_THREADS, thread_name_prefix="a2a")
        # Apart, so that who looks at a task waits for nobody's preview.
        self._workers = ThreadPoolExecutor(settings.GOLEM_A2A_THREADS, thread_name_prefix="a2a-work")
        self._running: set[asyncio.Future[None]] = set()

    async def on_message_send(
        self, params: wire.SendMessageRequest, context: ServerCallContext
    ) -> wire.Task | wire.Message:
        """Carry the message's ask out, and wait for it unless the caller does not want to."""
        opened = await self._open(params, context)
        if isinstance(opened, wire.Message):
            return opened
        row, work = opened
        if work is not None and not params.configuration.return_immediately:
            # Who goes away meanwhile stops nothing.
            await asyncio.shield(work)
        return await self._show(row, params.configuration, context)

    async def on_message_send_stream(
        self, params: wire.SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Any, None]:  # Any: nothing is sent into it
        """The same, told as it goes."""
        caller = _caller(context)
        opened = await self._open(params, context, is_stream=True)
        if isinstance(opened, wire.Message):
            yield opened
            return
        async for event in self._follow(caller, opened[0].pk):
            yield event

    async def on_subscribe_to_task(
        self, params: wire.SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Any, None]:  # Any: nothing is sent into it
        """Follow a task of the caller's that another request, or another process, began."""
        caller = _caller(context)
        row = await self._run(partial(_find, caller, params.id))
        if row.state not in OPEN_STATES:
            raise protocol.UnsupportedOperationError(message="the task has ended; get it instead")
        async for event in self._follow(caller, row.pk):
            yield event

    async def on_get_task(self, params: wire.GetTaskRequest, context: ServerCallContext) -> wire.Task | None:
        """One of the caller's tasks."""
        _check_length(params.history_length)
        row = await self._run(partial(_find, _caller(context), params.id))
        return show_task(row, history_length=params.history_length if params.HasField("history_length") else None)

    async def on_list_tasks(self, params: wire.ListTasksRequest, context: ServerCallContext) -> wire.ListTasksResponse:
        """The caller's tasks, the last changed first."""
        _check_length(params.history_length)
        page = await self._run(partial(task_requests.list_tasks, caller=_caller(context), request=params))
        return wire.ListTasksResponse(
            tasks=[
                show_task(row, history_length=params.history_length, has_artifacts=params.include_artifacts)
                for row in page.rows
            ],
            next_page_token=page.next_token,
            page_size=page.size,
            total_size=page.total,
        )

    async def on_cancel_task(self, params: wire.CancelTaskRequest, context: ServerCallContext) -> wire.Task | None:
        """Cancel it and its permit."""
        caller = _caller(context)
        return show_task(
            await self._run(lambda: task_requests.cancel_task(caller=caller, task_id=params.id, now=clock.now()))
        )

    async def on_create_task_push_notification_config(
        self, params: wire.TaskPushNotificationConfig, context: ServerCallContext
    ) -> wire.TaskPushNotificationConfig:
        """Name an address that is told of a task."""
        caller, is_legacy = _caller(context), bool(context.state[IS_LEGACY])
        return await self._run(partial(_add_config, caller, params.task_id, params, is_legacy))

    async def on_get_task_push_notification_config(
        self, params: wire.GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> wire.TaskPushNotificationConfig:
        """One address of a task."""
        caller = _caller(context)

        def get() -> wire.TaskPushNotificationConfig:
            task = _find(caller, params.task_id)
            return notifications.show_config(notifications.get_config(task=task, name=params.id))

        return await self._run(get)

    async def on_list_task_push_notification_configs(
        self, params: wire.ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> wire.ListTaskPushNotificationConfigsResponse:
        """All addresses of a task; never more than one page."""
        caller = _caller(context)

        def list_all() -> list[wire.TaskPushNotificationConfig]:
            rows = notifications.list_configs(task=_find(caller, params.task_id))
            return [notifications.show_config(row) for row in rows]

        return wire.ListTaskPushNotificationConfigsResponse(configs=await self._run(list_all))

    async def on_delete_task_push_notification_config(
        self, params: wire.DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Forget an address of a task."""
        caller = _caller(context)
        await self._run(lambda: notifications.delete_config(task=_find(caller, params.task_id), name=params.id))

    async def on_get_extended_agent_card(
        self, params: wire.GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> wire.AgentCard:
        """The card with every skill of this caller."""
        caller, base_url = _caller(context), str(context.state[BASE_URL])
        return await self._run(lambda: make_card(golem=caller.golem, base_url=base_url, skills=list_for(caller)))

    async def _open(
        self, params: wire.SendMessageRequest, context: ServerCallContext, *, is_stream: bool = False
    ) -> wire.Message | tuple[Task, asyncio.Future[None] | None]:
        """The task of a message and the work on it, or what is answered to a message that asks for nothing."""
        _check_length(params.configuration.history_length)
        caller, is_legacy = _caller(context), bool(context.state[IS_LEGACY])
        if is_stream:
            self._check_room(caller)
        opened = await self._run(partial(_open, caller, params, is_legacy))
        if isinstance(opened, wire.Message):
            return opened
        row, is_new = opened
        return row, self._start(row, caller) if is_new else None

    def _start(self, row: Task, caller: A2ACaller) -> asyncio.Future[None]:
        work = asyncio.ensure_future(
            run_blocking(partial(carry_out, task_id=row.pk, token=caller.token), threads=self._workers)
        )
        # Held here, because nobody else may be waiting for it.
        self._running.add(work)
        work.add_done_callback(self._running.discard)
        return work

    async def _follow(
        self,
        caller: A2ACaller,
        task_id: UUID,
    ) -> AsyncGenerator[Any, None]:  # Any: nothing is sent into it
        self._check_room(caller)
        try:
            async for event in self._streams.follow(caller=caller, task_id=task_id):
                yield event
        except Exception as error:  # noqa: BLE001  (rendered as every error of the API)
            raise_protocol_error(error)

    def _check_room(self, caller: A2ACaller) -> None:
        try:
            self._streams.check_room(caller)
        except GolemError as error:
            raise_protocol_error(error)

    async def _show(self, row: Task, wanted: wire.SendMessageConfiguration, context: ServerCallContext) -> wire.Task:
        found = await self._run(partial(_find, _caller(context), str(row.pk)))
        return show_task(found, history_length=wanted.history_length if wanted.HasField("history_length") else None)

    async def _run(self, function: Callable[[], T]) -> T:
        try:
            return await run_blocking(function, threads=self._threads)
        except Exception as error:  # noqa: BLE001  (rendered as every error of the API)
            raise_protocol_error(error)


def raise_protocol_error(error: Exception) -> NoReturn:
    """Raise what the protocol calls `error`, with our code and next step as its data."""
    known = as_golem_error(error)
    if isinstance(known, InternalError) and known is not error:
        logger.error("unexpected failure of A2A", exc_info=error)
    kind = _PROTOCOL_ERRORS.get(type(known))
    if kind is None:
        kind = protocol.UnsupportedOperationError if known.http_status < 500 else protocol.InternalError
    problem = known.as_problem()
    # The protocol's error details hold text alone.
    data = {name: value if isinstance(value, str) else str(value) for name, value in problem.items()}
    raise kind(message=f"{known.code}: {problem['detail']}", data=data) from None


def _check_length(history_length: int) -> None:
    if history_length < 0:
        raise protocol.InvalidParamsError(message="historyLength is 0 or more")


def _caller(context: ServerCallContext) -> A2ACaller:
    caller: A2ACaller = context.state[CALLER]
    return caller


def _find(caller: A2ACaller, task_id: str) -> Task:
    return task_requests.find_task(caller=caller, task_id=task_id, now=clock.now())


def _open(caller: A2ACaller, params: wire.SendMessageRequest, is_legacy: bool) -> wire.Message | tuple[Task, bool]:
    payment, task_id = read_handed_in(params.message), params.message.task_id
    if payment is not None and task_id:
        return task_requests.pay_task(caller=caller, task_id=task_id, payment=payment, now=clock.now()), True
    if task_id:
        # Whoever names a task means it: text to one that is not there, or is over, is no new question.
        context_id = task_requests.check_message(
            caller=caller, task_id=task_id, context_id=params.message.context_id, now=clock.now()
        )
        params.message.context_id = context_id
    ask: Ask | None = read_ask(params.message)
    if ask is None:
        return _offer(caller, params.message)
    row, is_new = task_requests.open_task(caller=caller, message=params.message, ask=ask, now=clock.now())
    if params.configuration.HasField("task_push_notification_config"):
        _add_config(caller, str(row.pk), params.configuration.task_push_notification_config, is_legacy)
    return row, is_new


def _offer(caller: A2ACaller, message: wire.Message) -> wire.Message:
    """What is said to text: how to ask, and for what."""
    return wire.Message(
        message_id=str(uuid4()),
        context_id=message.context_id or str(uuid4()),
        task_id=message.task_id,
        role=wire.ROLE_AGENT,
        parts=[wire.Part(text=HOW_TO_ASK), data_part(describe_offer(list_for(caller)))],
    )


def _add_config(
    caller: A2ACaller, task_id: str, config: wire.TaskPushNotificationConfig, is_legacy: bool
) -> wire.TaskPushNotificationConfig:
    if caller.key is None:
        raise errors.NotForStrangers("only agents with a key of this golem are notified")
    task = _find(caller, task_id)
    row = notifications.add_config(task=task, config=config, is_legacy=is_legacy, now=clock.now())
    return notifications.show_config(row)
