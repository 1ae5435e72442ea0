"""Tasks as the protocol's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2a.types import a2a_pb2 as wire
from google.protobuf.json_format import ParseDict

from golem_project.a2a.models import Task, TaskState
from tools_app.core.exact_numbers import LARGEST_EXACT

JSON = "application/json"
TEXT = "text/plain"
_TOLD = ("status", "required", "receipts")
"""Of a payment."""

WIRE_STATES: Mapping[str, wire.TaskState] = {
    TaskState.SUBMITTED: wire.TASK_STATE_SUBMITTED,
    TaskState.WORKING: wire.TASK_STATE_WORKING,
    TaskState.INPUT_REQUIRED: wire.TASK_STATE_INPUT_REQUIRED,
    TaskState.COMPLETED: wire.TASK_STATE_COMPLETED,
    TaskState.FAILED: wire.TASK_STATE_FAILED,
    TaskState.CANCELED: wire.TASK_STATE_CANCELED,
    TaskState.REJECTED: wire.TASK_STATE_REJECTED,
}


def show_task(row: Task, *, history_length: int | None = None, has_artifacts: bool = True) -> wire.Task:
    """The whole task. Its history is the one message that asked for it, left out where `history_length` is 0.

    The metadata of a completed one names the golem's ERC-8004 agent, where it has one: `agentId`, `agentRegistry`.
    """
    shown = wire.Task(id=str(row.pk), context_id=row.context_id, status=show_status(row), metadata=row.done_by or None)
    if history_length != 0:
        asked = data_part({"skill": row.skill, "params": row.params})
        shown.history.append(
            wire.Message(
                message_id=row.message_id,
                context_id=row.context_id,
                task_id=str(row.pk),
                role=wire.ROLE_USER,
                parts=[asked],
            )
        )
    if has_artifacts and row.answer:
        shown.artifacts.append(show_artifact(row))
    return shown


def show_status(row: Task) -> wire.TaskStatus:
    """State, since when, and why: in words, and a refusal as data too."""
    status = wire.TaskStatus(state=WIRE_STATES[row.state])
    status.timestamp.FromDatetime(row.updated_at)
    parts = [wire.Part(text=row.note, media_type=TEXT)] if row.note else []
    if row.problem:
        parts.append(data_part(row.problem))
    if parts or row.payment:
        status.message.CopyFrom(
            wire.Message(
                message_id=f"{row.pk}-{row.version}",
                context_id=row.context_id,
                task_id=str(row.pk),
                role=wire.ROLE_AGENT,
                parts=parts,
                metadata=_tell_payment(row),
            )
        )
    return status


def _tell_payment(row: Task) -> dict[str, object] | None:
    """As the x402 extension words it. What was handed in is told to nobody."""
    told = {f"x402.payment.{name}": value for name, value in row.payment.items() if name in _TOLD}
    return _exact(told) or None


def show_artifact(row: Task) -> wire.Artifact:
    """What the tool answered."""
    return wire.Artifact(artifact_id=f"{row.pk}-answer", name=row.skill, parts=[data_part(row.answer)])


def show_change(row: Task) -> wire.TaskStatusUpdateEvent:
    """The state alone, as streams and notifications tell it."""
    return wire.TaskStatusUpdateEvent(
        task_id=str(row.pk), context_id=row.context_id, status=show_status(row), metadata=row.done_by or None
    )


def show_answer(row: Task) -> wire.TaskArtifactUpdateEvent:
    """The answer, as streams tell it: whole, and in place of an earlier one."""
    return wire.TaskArtifactUpdateEvent(
        task_id=str(row.pk), context_id=row.context_id, artifact=show_artifact(row), last_chunk=True
    )


def data_part(value: Mapping[str, object]) -> wire.Part:
    """`value` as a data part. An integer that a double cannot hold goes as text."""
    return ParseDict({"data": _exact(value), "mediaType": JSON}, wire.Part())


def _exact(value: Any) -> Any:  # Any: the A2A and x402 libraries leave it untyped
    if isinstance(value, Mapping):
        return {str(name): _exact(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(member) for member in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST_EXACT:
        return str(value)
    return value
