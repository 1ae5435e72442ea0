"""Gives receivers of webhooks their turns, since servers of other people may hang.

A turn is given before its task is asked for, and a receiver has one turn at a time, so nothing is asked for twice and
no receiver has two requests. Each kind has a few places. One person's receivers take a quarter of them at most, and
those that were slow or silent lately a half together: whoever answers soon waits for nobody. A turn ends with its task,
or with its time when the process died.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max

from golem_project.stream.models import OutgoingTurn, TurnKind
from tools_app.core.transaction_retry import retry_aborted

LASTS_SECONDS = 60
SLOW_MS = 2_000
_LASTS = timedelta(seconds=LASTS_SECONDS)
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=5)
_MOST_COUNTED = 100
_FORGOTTEN_AFTER = timedelta(days=1)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Wanting:
    """A receiver that something waits for, and the person whose it is."""

    receiver: UUID
    person_id: int


@dataclass(frozen=True, slots=True)
class DeliveryTurn:
    """The right to send to one receiver, for a while."""

    receiver: UUID
    turn_id: UUID


@retry_aborted
def give_turns(*, kind: TurnKind, wanting: Sequence[Wanting], now: datetime) -> list[DeliveryTurn]:
    """Give the free places of this kind to receivers that wait, who was served least lately first."""
    if not wanting:
        return []
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"turns:{kind}"])
        rows = OutgoingTurn.objects.filter(kind=kind)
        chosen = _choose(
            wanting,
            places=settings.GOLEM_OUTGOING_PLACES[kind],
            known={row.receiver: row for row in rows.filter(receiver__in=[each.receiver for each in wanting])},
            busy=list(rows.filter(until__gt=now, until__lt=now + 2 * _LASTS)),
            served=dict(rows.values_list("person_id").annotate(Max("given_at"))),
            now=now,
        )
        made = [
            OutgoingTurn(
                kind=kind,
                receiver=each.receiver,
                person_id=each.person_id,
                turn_id=uuid.uuid4(),
                until=now + _LASTS,
                given_at=now,
            )
            for each in chosen
        ]
        OutgoingTurn.objects.bulk_create(
            made,
            update_conflicts=True,
            unique_fields=["kind", "receiver"],
            update_fields=["person_id", "turn_id", "until", "given_at"],
        )
    return [DeliveryTurn(row.receiver, row.turn_id) for row in made if row.turn_id is not None]


def begin_turn(*, kind: TurnKind, turn: DeliveryTurn, now: datetime) -> DeliveryTurn | None:
    """The turn under a new id, so that the same task a second time finds it begun; None where it holds no more."""
    begun = DeliveryTurn(turn.receiver, uuid.uuid4())
    mine = OutgoingTurn.objects.filter(kind=kind, receiver=turn.receiver, turn_id=turn.turn_id, until__gt=now)
    return begun if mine.update(turn_id=begun.turn_id, until=now + _LASTS) else None


def keep_turn(*, kind: TurnKind, turn: DeliveryTurn, now: datetime) -> bool:
    """Whether the turn still holds; then it lasts anew from now. Asked before each request of it."""
    mine = OutgoingTurn.objects.filter(kind=kind, receiver=turn.receiver, turn_id=turn.turn_id, until__gt=now)
    return bool(mine.update(until=now + _LASTS))


def end_turn(*, kind: TurnKind, turn: DeliveryTurn, now: datetime, failed: bool, longest_ms: float) -> None:
    """Free the place. After a failure the receiver waits, ever longer up to five minutes; a success clears that.

    `longest_ms` is how long its longest request took.
    """
    mine = OutgoingTurn.objects.filter(kind=kind, receiver=turn.receiver, turn_id=turn.turn_id)
    failures = min(1 + (mine.values_list("failures", flat=True).first() or 0), _MOST_COUNTED) if failed else 0
    pause = min(_FIRST_PAUSE * 2 ** min(failures - 1, 10), _LONGEST_PAUSE) if failed else None
    mine.update(
        turn_id=None,
        until=None,
        failures=failures,
        not_before=None if pause is None else now + pause,
        was_slow=longest_ms > SLOW_MS,
    )


def give_back(*, kind: TurnKind, turn: DeliveryTurn) -> None:
    """Free the place of a turn that nobody was asked to take."""
    OutgoingTurn.objects.filter(kind=kind, receiver=turn.receiver, turn_id=turn.turn_id).update(
        turn_id=None, until=None
    )


def forgive(*, kind: TurnKind, receivers: Sequence[UUID]) -> None:
    """Let receivers be tried at once, as if they had not failed: their owner says so."""
    OutgoingTurn.objects.filter(kind=kind, receiver__in=receivers).update(failures=0, not_before=None)


def forget_turns(*, now: datetime) -> int:
    """Delete what says nothing any more: no turn of it was given for a day."""
    return OutgoingTurn.objects.filter(given_at__lt=now - _FORGOTTEN_AFTER).delete()[0]


def _choose(
    wanting: Sequence[Wanting],
    *,
    places: int,
    known: dict[UUID, OutgoingTurn],
    busy: Sequence[OutgoingTurn],
    served: dict[int, datetime],
    now: datetime,
) -> list[Wanting]:
    of_person = Counter(row.person_id for row in busy)
    slow = sum(row.was_slow for row in busy)
    most_of_person, most_slow = max(1, places // 4), max(1, places // 2)
    waiting = {each.receiver: each for each in wanting}
    for row in known.values():
        # What lies further ahead than anything here lasts was written by a clock that was set back since.
        is_busy = row.until is not None and now < row.until < now + 2 * _LASTS
        if is_busy or (row.not_before is not None and now < row.not_before < now + 2 * _LONGEST_PAUSE):
            waiting.pop(row.receiver, None)

    def rank(each: Wanting) -> tuple[int, datetime, datetime]:
        row = known.get(each.receiver)
        last = row.given_at if row is not None else _NEVER
        return of_person[each.person_id], served.get(each.person_id, _NEVER), last

    chosen: list[Wanting] = []
    while waiting and len(busy) + len(chosen) < places:
        each = min(waiting.values(), key=rank)
        del waiting[each.receiver]
        is_slow = each.receiver in known and known[each.receiver].was_slow
        if of_person[each.person_id] >= most_of_person or (is_slow and slow >= most_slow):
            continue
        of_person[each.person_id] += 1
        slow += is_slow
        chosen.append(each)
    return chosen
