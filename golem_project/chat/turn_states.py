"""An owner's message: asked, begun once, followed step by step, cancelled, ended; with what is shown of it.

Rows alone; nobody is asked anything here. Every change is told as `chat:turn`, without the words.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q

from archetypes_app.models import ChatTurn, Golem
from archetypes_app.models.chat import OPEN_CHAT_STATES, ChatState
from archetypes_app.ownership import match_pairs
from archetypes_app.roles import Power
from golem_project.chat.errors import ChatAbandoned, ChatBusy
from golem_project.heartbeat.thinking.errors import ThinkingCancelled
from golem_project.heartbeat.thinking.loop_values import Exchange
from golem_project.heartbeat.thinking.thinking_session import SessionReport
from tools_app.core import event_bus
from tools_app.core.errors import InvalidParams
from tools_app.core.events import Event, EventType
from tools_app.core.storable_text import make_plain, make_storable
from tools_app.core.transaction_retry import retry_aborted

LONGEST_WORDS: Final = 2_000
_KEPT_TURNS: Final = 200
_SPARE = timedelta(seconds=60)


@retry_aborted
def ask_golem(
    *,
    golem: Golem,
    owner: Any,  # Any: which model accounts have is a setting
    words: str,
    begins_anew: bool,
    now: datetime,
) -> ChatTurn:
    """Store a message that waits for a worker. Raises InvalidParams, ChatBusy."""
    plain = make_plain(make_storable(words)).strip()
    if not plain or len(plain) > LONGEST_WORDS:
        raise InvalidParams(
            f"say between 1 and {LONGEST_WORDS} characters", fields={"words": f"{len(plain)} characters"}
        )
    with transaction.atomic():
        _end_abandoned(golem, now)
        old = ChatTurn.objects.filter(golem=golem).order_by("-asked_at").values_list("pk", flat=True)
        ChatTurn.objects.filter(pk__in=list(old[_KEPT_TURNS - 1 :])).delete()
        try:
            with transaction.atomic():
                turn = ChatTurn.objects.create(
                    golem=golem, owner=owner, words=plain, begins_anew=begins_anew, asked_at=now
                )
        except IntegrityError:
            raise ChatBusy("it answers one message at a time; wait for its answer, or stop it") from None
        tell(turn, "asked", now=now)
    return turn


def _end_abandoned(golem: Golem, now: datetime) -> None:
    """What a worker that stopped left open ends after the time an answer may take."""
    latest = now - timedelta(seconds=settings.GOLEM_CHAT_SECONDS) - _SPARE
    left = ChatTurn.objects.filter(golem=golem, state__in=OPEN_CHAT_STATES, asked_at__lt=latest)
    left.update(state=ChatState.STOPPED, stopped_by=ChatAbandoned.code, ended_at=now)


def begin_turn(turn_id: UUID, *, now: datetime) -> ChatTurn | None:
    """The message, for the one worker that begins it; None for everybody after, when it was cancelled
    before, and when who asked may no longer.
    """
    waiting = ChatTurn.objects.filter(pk=turn_id, state=ChatState.WAITING)
    if is_to_end(turn_id):
        waiting.update(state=ChatState.STOPPED, stopped_by=ThinkingCancelled.code, ended_at=now)
        return None
    if not waiting.update(state=ChatState.RUNNING):
        return None
    return ChatTurn.objects.select_related("golem__archetype").get(pk=turn_id)


def is_to_end(turn_id: UUID) -> bool:
    """Whether its end was asked for, or who asked may no longer run the golem: their account or their role ended."""
    may_ask = match_pairs(Power.OPERATE, golem="golem", person="owner")
    return ChatTurn.objects.filter(pk=turn_id).filter(Q(cancel_asked_at__isnull=False) | ~may_ask).exists()


@retry_aborted
def stop_turn(*, golem: Golem, now: datetime) -> bool:
    """Ask for the end of the answer under way: one that waits ends here, one that runs a moment later."""
    with transaction.atomic():
        turn = ChatTurn.objects.select_for_update().filter(golem=golem, state__in=OPEN_CHAT_STATES).first()
        if turn is None:
            return False
        turn.cancel_asked_at = now
        if turn.state == ChatState.WAITING:
            turn.state, turn.stopped_by, turn.ended_at = ChatState.STOPPED, ThinkingCancelled.code, now
        turn.save(update_fields=["cancel_asked_at", "state", "stopped_by", "ended_at"])
        tell(turn, "stopping", now=now)
    return True


def end_turn(*, turn: ChatTurn, report: SessionReport | None, stopped_by: str, now: datetime) -> None:
    """Store what came of it; what has ended stays as it ended."""
    done = report.transcript if report is not None else None
    ended = ChatTurn.objects.filter(pk=turn.pk, state__in=OPEN_CHAT_STATES).update(
        state=ChatState.STOPPED if stopped_by else ChatState.DONE,
        stopped_by=stopped_by,
        said=make_storable(done.summary) if done else "",
        model=report.model[:128] if report is not None else "",
        rounds=done.rounds if done else 0,
        calls=done.calls if done else 0,
        input_llm_tokens=min(done.input_llm_tokens, 2**31 - 1) if done else 0,
        output_llm_tokens=min(done.output_llm_tokens, 2**31 - 1) if done else 0,
        spent_micro_usd=report.cost_micro_usd if report is not None else 0,
        ended_at=now,
    )
    if ended:
        turn.refresh_from_db()
        tell(turn, "ended", now=now, code=stopped_by or None)


def read_history(turn: ChatTurn) -> list[Exchange]:
    """What was said before it in the same conversation, oldest first; what was not answered is left out."""
    said: list[Exchange] = []
    if turn.begins_anew:
        return said
    for before in ChatTurn.objects.filter(golem_id=turn.golem_id, asked_at__lt=turn.asked_at).order_by("-asked_at"):
        if before.said and before.owner_id == turn.owner_id:
            said.append(Exchange(asked=before.words, said=before.said))
        if before.begins_anew or len(said) >= settings.GOLEM_CHAT_REMEMBERED:
            break
    return said[::-1]


def tell(turn: ChatTurn, step: str, *, now: datetime, **facts: Any) -> None:  # Any: what a step tells is of any type
    """Tell who follows the golem that its conversation moved."""
    payload = {
        "turn_id": str(turn.pk),
        "state": str(turn.state),
        "step": step,
        "spent_micro_usd": str(turn.spent_micro_usd),
        **{name: value for name, value in facts.items() if value},
    }
    event_bus.emit(golem_id=turn.golem_id, event=Event(EventType.CHAT_TURN, payload), now=now)
