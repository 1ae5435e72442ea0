"""A worker answers one message: the steps become rows as they happen, and its owner may stop it from the page."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection

from archetypes_app.models import ChatStep, ChatTurn
from archetypes_app.models.chat import ChatStepKind
from golem_project.chat.converse import converse, get_client
from golem_project.chat.turn_states import begin_turn, end_turn, is_to_end, read_history, tell
from golem_project.heartbeat.thinking.loop_values import Happening, HappeningKind
from tools_app.core.errors import GolemError
from tools_app.core.storable_text import make_plain_value

_LONGEST_ARGUMENTS: Final = 2_000
_LONGEST_ANSWER: Final = 4_000
_LOOK_SECONDS: Final = 0.5


def answer_turn(*, turn_id: UUID, read_now: Callable[[], datetime]) -> None:
    """Answer the message once; delivered again it does nothing. An error of ours ends it as refused, and is raised."""
    turn = begin_turn(turn_id, now=read_now())
    if turn is None:
        return
    recorder = StepRecorder(turn, read_now)
    report, stopped_by = None, "INTERNAL_ERROR"
    try:
        with _watch(turn_id) as is_cancelled:
            report = converse(
                client=get_client(),
                golem=turn.golem,
                words=turn.words,
                history=read_history(turn),
                actor=f"owner:{turn.owner_id}",
                listen=recorder.hear,
                is_cancelled=is_cancelled,
                now=read_now(),
            )
        stopped_by = report.transcript.stopped_by
    except GolemError as error:
        stopped_by = error.code
    finally:
        end_turn(turn=turn, report=report, stopped_by=stopped_by, now=read_now())


class StepRecorder:
    """Keeps each step of an answer as a row, and what was paid so far."""

    def __init__(self, turn: ChatTurn, read_now: Callable[[], datetime]) -> None:
        self._turn = turn
        self._read_now = read_now
        self._calls: dict[str, int] = {}

    def hear(self, happening: Happening) -> None:
        """One step of the loop."""
        kind, call = happening.kind, happening.call
        if kind is HappeningKind.SAID:
            ChatStep.objects.create(turn=self._turn, kind=ChatStepKind.SAID, answer=_show(happening.words))
        elif kind is HappeningKind.RETRIED:
            ChatStep.objects.create(turn=self._turn, kind=ChatStepKind.RETRY, code=happening.words[:64])
        elif kind is HappeningKind.CALLED and call is not None:
            step = ChatStep.objects.create(
                turn=self._turn,
                kind=ChatStepKind.CALL,
                name=make_plain_value(call.name)[:64],
                arguments=_show(call.arguments)[:_LONGEST_ARGUMENTS],
            )
            self._calls[call.id] = step.pk
        elif kind is HappeningKind.ANSWERED and call is not None:
            self._keep_answer(happening, self._calls.pop(call.id))
        if happening.spent_micro_usd != self._turn.spent_micro_usd:
            self._turn.spent_micro_usd = happening.spent_micro_usd
            ChatTurn.objects.filter(pk=self._turn.pk).update(spent_micro_usd=happening.spent_micro_usd)
        tell(
            self._turn,
            str(kind),
            now=self._read_now(),
            tool_name=make_plain_value(call.name)[:64] if call is not None else None,
            code=happening.words if kind in (HappeningKind.ANSWERED, HappeningKind.RETRIED) else None,
        )

    def _keep_answer(self, happening: Happening, step_id: int) -> None:
        answer = happening.answer or {}
        permit_id = answer.get("permit_id")
        ChatStep.objects.filter(pk=step_id).update(
            answer=_show(json.dumps(answer, ensure_ascii=False, default=str))[:_LONGEST_ANSWER],
            code=happening.words[:64],
            permit_id=UUID(permit_id) if isinstance(permit_id, str) else None,
            is_answered=True,
        )


def _show(text: str) -> str:
    shown: str = make_plain_value(text)
    return shown


@contextmanager
def _watch(turn_id: UUID) -> Iterator[Callable[[], bool]]:
    """Whether the owner asked for its end, or may no longer ask.

    Looked up beside the loop: a request that waits cannot ask the database.
    """
    cancelled, over = threading.Event(), threading.Event()

    def look() -> None:
        try:
            while not over.wait(_LOOK_SECONDS):
                if is_to_end(turn_id):
                    cancelled.set()
                    return
        finally:
            connection.close()

    watcher = threading.Thread(target=look, name="chat-cancel", daemon=True)
    watcher.start()
    try:
        yield cancelled.is_set
    finally:
        over.set()
        watcher.join()
