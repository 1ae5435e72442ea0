"""Carries out a task: for a key by the views of the agent API, for a stranger by an opened read alone."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings

from golem_project.a2a.errors import PaymentInWork, PaymentNeeded
from golem_project.a2a.models import OPEN_STATES, Task, TaskState
from golem_project.a2a.permit_of_task import STATE_OF, describe_permit
from golem_project.a2a.public_queries import answer_stranger
from golem_project.a2a.task_states import move_task
from golem_project.pi.exception_handler import describe_problem
from golem_project.pi.internal_call import ToolAnswer, call_tool
from golem_project.pi.problem_members import Problem
from tools_app.core import clock
from tools_app.core.json_types import JsonObject
from tools_app.core.taint import name_golem
from tools_app.toolkit.enums import PiTool


def carry_out(*, task_id: UUID, token: str) -> None:
    """Call the task's tool with the asker's token and keep what came of it. Nothing happens when it began before."""
    if not move_task(task_id=task_id, leaving=[TaskState.SUBMITTED], to=TaskState.WORKING, now=clock.now()):
        return
    task = Task.objects.select_related("golem__archetype").get(pk=task_id)
    name_golem(task.golem_id)
    if task.visitor:
        _serve_stranger(task)
    else:
        _finish(task, _answer(task, token))


def _serve_stranger(task: Task) -> None:
    try:
        answered = answer_stranger(task=task, read_clock=clock.now)
    except (PaymentNeeded, PaymentInWork) as refused:
        _wait_for_payment(task, refused)
    except Exception as error:  # noqa: BLE001  (kept as the task's refusal, like every error of the API)
        _finish(task, _describe(task, error))
    else:
        paid = {"status": "payment-completed", "receipts": [answered.receipt]} if answered.receipt else {}
        _finish(task, ToolAnswer(status=200, body=answered.answer), payment=paid)


def _wait_for_payment(task: Task, refused: PaymentNeeded | PaymentInWork) -> None:
    now = clock.now()
    asked = refused.data.get("x402") or {**task.payment["asked"], "error": refused.detail}
    move_task(
        task_id=task.pk,
        leaving=OPEN_STATES,
        to=TaskState.INPUT_REQUIRED,
        now=now,
        note=f"{refused.code}: {refused.detail}",
        payment={"status": "payment-required", "required": asked},
        lease_until=now + timedelta(seconds=settings.GOLEM_A2A_PAY_SECONDS),
    )


def _answer(task: Task, token: str) -> ToolAnswer:
    try:
        return call_tool(task.skill, task.params, token=token, idempotency_key=f"a2a-{task.pk}")
    except Exception as error:  # noqa: BLE001  (kept as the task's refusal, like every error of the API)
        return _describe(task, error)


def _describe(task: Task, error: Exception) -> ToolAnswer:
    problem, _ = describe_problem(error, instance=f"/a2a/{task.golem_id}")
    return ToolAnswer(status=int(Problem(problem).status), body=problem)


def _finish(task: Task, answer: ToolAnswer, **columns: object) -> None:
    now = clock.now()
    if answer.is_refusal:
        # What the golem would not do is rejected; what it could not do has failed.
        to = TaskState.REJECTED if answer.status < 500 else TaskState.FAILED
        refusal = Problem(answer.body)
        note = f"{refusal.code}: {refusal.detail}"
        move_task(task_id=task.pk, leaving=OPEN_STATES, to=to, now=now, note=note, problem=answer.body, payment={})
        return
    permit = _find_permit(task, answer.body)
    to = TaskState.COMPLETED if permit is None else STATE_OF[permit["status"]]
    move_task(
        task_id=task.pk,
        leaving=OPEN_STATES,
        to=to,
        now=now,
        note="" if permit is None else describe_permit(permit),
        answer=answer.body,
        permit_id=None if permit is None else UUID(permit["permit_id"]),
        lease_until=None,
        **columns,
    )


def _find_permit(task: Task, body: JsonObject) -> JsonObject | None:
    if task.skill == PiTool.PREVIEW_ACTION:
        return body
    if task.skill == PiTool.COMMIT_ACTION:
        permit: JsonObject = body["permit"]
        return permit
    return None
