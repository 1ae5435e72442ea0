"""Opens, shows and cancels tasks for a caller. Another caller's task answers as if it did not exist."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from a2a.types import a2a_pb2 as wire
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q

from golem_project.a2a.advisory_lock import take_turn
from golem_project.a2a.callers import A2ACaller
from golem_project.a2a.errors import TaskNotCancelable, TaskTakesNoMessage, TaskUnknown, TooManyTasks
from golem_project.a2a.message_parsing import Ask
from golem_project.a2a.models import OPEN_STATES, Task, TaskState
from golem_project.a2a.permit_of_task import follow_task
from golem_project.a2a.public_queries import check_pace
from golem_project.a2a.task_messages import WIRE_STATES
from golem_project.a2a.task_states import move_task, tell_change
from golem_project.pi.internal_call import call_tool
from permits_app.models.permit import PermitStatus
from tools_app.core.errors import InvalidParams
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.enums import PiTool

LARGEST_PAGE = 100
_DEFAULT_PAGE = 50
_LONGEST_CONTEXT, _LONGEST_MESSAGE = 64, 128
_CANCELLABLE = (PermitStatus.CREATED, PermitStatus.AWAITING_APPROVAL, PermitStatus.ANNOUNCED)
_EPOCH, _TICK = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_REASON = "cancelled over A2A by the agent that asked for it"


@dataclass(frozen=True, slots=True)
class Page:
    """Some tasks of a caller, the last changed first; `next_token` continues."""

    rows: list[Task]
    next_token: str
    size: int
    total: int


def check_message(*, caller: A2ACaller, task_id: str, context_id: str, now: datetime) -> str:
    """The context of the task that a message names: one that is open, in the context the message says, if it says one.

    Raises TaskUnknown, InvalidParams, TaskTakesNoMessage.
    """
    row = find_task(caller=caller, task_id=task_id, now=now)
    if context_id and context_id != row.context_id:
        raise InvalidParams("the task is of another context", fields={"contextId": "not that of the task"})
    if row.state not in OPEN_STATES:
        raise TaskTakesNoMessage("it has ended; ask for another thing in a new task")
    return row.context_id


def open_task(*, caller: A2ACaller, message: wire.Message, ask: Ask, now: datetime) -> tuple[Task, bool]:
    """The task of a message, and whether it is new: the same message again is the same task.

    Raises TaskUnknown, TaskTakesNoMessage, TooManyTasks, InvalidParams.
    """
    if message.task_id:
        find_task(caller=caller, task_id=message.task_id, now=now)
        raise TaskTakesNoMessage("its owners or the chain decide how it goes on; ask for another thing in a new task")
    _check_ids(message)
    known = _find_same(caller, message, ask)
    if known is not None:
        return known, False
    row = Task(
        golem=caller.golem,
        api_key=caller.key,
        visitor=caller.visitor,
        context_id=message.context_id or str(uuid4()),
        message_id=message.message_id,
        asked_digest=ask.digest,
        skill=ask.skill,
        params=ask.params,
        lease_until=now + timedelta(seconds=settings.GOLEM_A2A_LEASE_SECONDS),
        created_at=now,
        updated_at=now,
    )
    try:
        _insert(row, caller, now)
    except IntegrityError:
        known = _find_same(caller, message, ask)
        if known is None:
            raise
        return known, False
    return row, True


@retry_aborted
def _insert(row: Task, caller: A2ACaller, now: datetime) -> None:
    most = settings.GOLEM_A2A_MOST_OPEN_TASKS
    with transaction.atomic():
        # Of two at once the second counts the first.
        take_turn(caller.name if caller.key is not None else f"visitors:{caller.golem.pk}")
        if caller.key is None:
            check_pace(golem=caller.golem, visitor=caller.visitor, now=now)
        elif _count_open(caller) >= most:
            raise TooManyTasks("this key has too many open tasks", limit=most)
        row.save(force_insert=True)
        tell_change(row, now=now)


def pay_task(*, caller: A2ACaller, task_id: str, payment: object, now: datetime) -> Task:
    """The task that waits to be paid for, with the payment that was handed in. Raises TaskUnknown,
    TaskTakesNoMessage.
    """
    row = find_task(caller=caller, task_id=task_id, now=now)
    asked = row.payment.get("required")
    if not asked or not move_task(
        task_id=row.pk,
        leaving=[TaskState.INPUT_REQUIRED],
        to=TaskState.SUBMITTED,
        now=now,
        payment={"status": "payment-submitted", "payload": payment, "asked": asked},
        lease_until=now + timedelta(seconds=settings.GOLEM_A2A_LEASE_SECONDS),
    ):
        raise TaskTakesNoMessage("it does not wait to be paid for; look at it again")
    return Task.objects.get(pk=row.pk)


def find_task(*, caller: A2ACaller, task_id: str, now: datetime) -> Task:
    """A task of the caller's, as it is now. Raises TaskUnknown."""
    row = Task.objects.filter(caller.match_theirs(), pk=_parse_id(task_id)).first()
    if row is None:
        raise TaskUnknown("you have no task with this id")
    return follow_task(task_id=row.pk, now=now)


def list_tasks(*, caller: A2ACaller, request: wire.ListTasksRequest) -> Page:
    """The caller's tasks, by the moment of their status, the last first. Raises InvalidParams."""
    rows = Task.objects.filter(caller.match_theirs())
    if request.context_id:
        rows = rows.filter(context_id=request.context_id)
    if request.status:
        states = [state for state, number in WIRE_STATES.items() if number == request.status]
        rows = rows.filter(state__in=states)
    if request.HasField("status_timestamp_after"):
        rows = rows.filter(updated_at__gt=request.status_timestamp_after.ToDatetime(tzinfo=UTC))
    total = rows.count()
    size = request.page_size if request.HasField("page_size") else _DEFAULT_PAGE
    if not 1 <= size <= LARGEST_PAGE:
        raise InvalidParams(f"a page is 1 to {LARGEST_PAGE} tasks", fields={"pageSize": "out of range"})
    if request.page_token:
        changed_at, task_id = _parse_token(request.page_token)
        anchor = Task.objects.filter(caller.match_theirs(), pk=task_id).first()
        if anchor is None:
            raise InvalidParams("the page token is none of ours", fields={"pageToken": "unknown"})
        older = Q(created_at__lt=anchor.created_at) | Q(created_at=anchor.created_at, pk__lt=anchor.pk)
        rows = rows.filter(Q(updated_at__lt=changed_at) | (Q(updated_at=changed_at) & older))
    page = list(rows.order_by("-updated_at", "-created_at", "-id")[: size + 1])
    next_token = _make_token(page[size - 1]) if len(page) > size else ""
    return Page(rows=page[:size], next_token=next_token, size=size, total=total)


def cancel_task(*, caller: A2ACaller, task_id: str, now: datetime) -> Task:
    """Cancel a task and the permit it holds, by the agent API's own cancel_action.

    Raises TaskUnknown, TaskNotCancelable.
    """
    row = find_task(caller=caller, task_id=task_id, now=now)
    if row.state not in OPEN_STATES:
        raise TaskNotCancelable(f"it is {row.get_state_display()}", state=row.get_state_display())
    if row.permit is None or row.permit.status not in _CANCELLABLE:
        raise TaskNotCancelable("it is being worked on and cannot be taken back; look at it again")
    answer = call_tool(PiTool.CANCEL_ACTION, {"permit_id": str(row.permit_id), "reason": _REASON}, token=caller.token)
    if answer.is_refusal:
        raise TaskNotCancelable(str(answer.body["detail"]), refused_with=str(answer.body["code"]))
    move_task(task_id=row.pk, leaving=OPEN_STATES, to=TaskState.CANCELED, now=now, note=_REASON, answer=answer.body)
    return Task.objects.get(pk=row.pk)


def _count_open(caller: A2ACaller) -> int:
    return Task.objects.filter(caller.match_theirs(), state__in=[str(state) for state in OPEN_STATES]).count()


def _find_same(caller: A2ACaller, message: wire.Message, ask: Ask) -> Task | None:
    row = Task.objects.filter(caller.match_theirs(), message_id=message.message_id).first()
    if row is not None and row.asked_digest != ask.digest:
        raise InvalidParams("this message id came with another question before", fields={"messageId": "used"})
    return row


def _check_ids(message: wire.Message) -> None:
    for name, text, longest in (
        ("messageId", message.message_id, _LONGEST_MESSAGE),
        ("contextId", message.context_id, _LONGEST_CONTEXT),
    ):
        if len(text) > longest or not text.isascii() or not text.isprintable():
            raise InvalidParams(f"{name} is printable ASCII of at most {longest}", fields={name: "malformed"})
    if not message.message_id:
        raise InvalidParams("a message needs an id of your own", fields={"messageId": "missing"})


def _parse_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise TaskUnknown("you have no task with this id") from None


def _make_token(row: Task) -> str:
    # With the moment it was listed under: a task that changes meanwhile moves to the front and takes no page with it.
    return f"{(row.updated_at - _EPOCH) // _TICK}.{row.pk}"


def _parse_token(text: str) -> tuple[datetime, UUID]:
    try:
        ticks, task_id = text.split(".")
        return _EPOCH + int(ticks) * _TICK, UUID(task_id)
    except (ValueError, OverflowError):
        raise InvalidParams("the page token is none of ours", fields={"pageToken": "malformed"}) from None
