"""The Death Protocol as rows: who announces a golem's end, who may stop it, and when it counts. No chain in here.

`carry_out_deaths` carries it out. Every change locks the golem's row, writes the audit log and tells an event, all in
one transaction. See docs/decisions/0199-end-of-a-golem-in-steps-and-its-owner.md.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.models.death import OPEN, Death, DeathState
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.storable_text import make_plain
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.enums import Phase

DEATH_ACTOR: Final = "system:death"
NOTICE: Final = timedelta(hours=24)
"""So long an owner may object before a golem without life left is ended without their word."""


def find_open_death(golem_id: UUID) -> Death | None:
    """The end that is announced or under way."""
    return Death.objects.filter(golem_id=golem_id, state__in=OPEN).first()


def list_ending(golem_ids: Collection[UUID]) -> frozenset[UUID]:
    """Those of `golem_ids` whose end is announced or under way."""
    rows = Death.objects.filter(golem_id__in=golem_ids, state__in=OPEN)
    return frozenset(rows.values_list("golem_id", flat=True))


def is_ending(golem_id: UUID) -> bool:
    """Whether everything of the golem is being taken out by now; an owner who stops it makes this false at once."""
    return Death.objects.filter(golem_id=golem_id, state=DeathState.UNDER_WAY).exists()


def list_taken_out(golem_ids: Collection[UUID]) -> frozenset[UUID]:
    """Those that `is_ending` holds for."""
    rows = Death.objects.filter(golem_id__in=golem_ids, state=DeathState.UNDER_WAY)
    return frozenset(rows.values_list("golem_id", flat=True))


@retry_aborted
def announce_death(*, golem: Golem, reason: str, actor: str, due_at: datetime, now: datetime) -> Death | None:
    """Announce that `golem` ends at `due_at`; the open announcement where there is one, moved ahead if it was later.

    None for a golem that is retired. Appends DeathInitiated, once for each end; emits death:initiated.
    """
    with transaction.atomic():
        locked = _lock(golem.pk)
        if locked.retired_at is not None:
            return None
        known = find_open_death(golem.pk)
        if known is not None:
            if due_at < known.due_at:
                known.due_at = max(due_at, known.announced_at)
                known.save(update_fields=["due_at"])
                facts = {"reason": make_plain(reason), "due_at": due_at.isoformat()}
                audit_log.append(golem_id=golem.pk, event="DeathHastened", actor=actor, data=facts, now=now)
            return known
        return _announce(locked, reason, actor, due_at, now)


@retry_aborted
def announce_terminal(*, golem_id: UUID, now: datetime) -> Death | None:
    """Announce the end of a golem whose phase is TERMINAL; None where it is not, or its end was announced in it."""
    with transaction.atomic():
        golem = _lock(golem_id)
        last = golem.phase_transitions.filter(to_phase=Phase.TERMINAL.value).order_by("-occurred_at").first()
        told = Death.objects.filter(golem_id=golem_id, **({"announced_at__gte": last.occurred_at} if last else {}))
        if golem.phase != Phase.TERMINAL.value or golem.retired_at is not None or told.exists():
            return None
        known = find_open_death(golem_id)
        return known or _announce(golem, "its vitality ran out", DEATH_ACTOR, now + NOTICE, now)


@retry_aborted
def begin_death(*, death_id: UUID, now: datetime) -> bool:
    """From its announcement to under way, once it is due; whether it is under way."""
    with transaction.atomic():
        death = Death.objects.get(pk=death_id)
        _lock(death.golem_id)
        Death.objects.filter(pk=death_id, state=DeathState.ANNOUNCED, due_at__lte=now).update(
            state=DeathState.UNDER_WAY
        )
        return Death.objects.filter(pk=death_id, state=DeathState.UNDER_WAY).exists()


@retry_aborted
def stop_death(*, golem: Golem, reason: str, actor: str, now: datetime) -> bool:
    """An owner's hand: what is announced or under way ends here; the golem stays halted where it was. False: none was.

    The step whose transaction is signed already runs to its end; none follows it.
    """
    with transaction.atomic():
        _lock(golem.pk)
        return end_open_death(golem_id=golem.pk, reason=reason, actor=actor, now=now)


def lock_open_death(golem_id: UUID) -> None:
    """Lock what is open, for a transaction that ends it behind other rows than its place in the order of locks."""
    rows = Death.objects.select_for_update(no_key=True, of=("self",)).filter(golem_id=golem_id, state__in=OPEN)
    list(rows.values_list("pk"))


def end_open_death(*, golem_id: UUID, reason: str, actor: str, now: datetime) -> bool:
    """Stop what is open, inside a transaction that holds the golem's row. Appends DeathStopped, emits death:stopped."""
    ended = {"state": DeathState.STOPPED, "ended_at": now, "ended_by": actor}
    if not Death.objects.filter(golem_id=golem_id, state__in=OPEN).update(**ended):
        return False
    words = make_plain(reason)
    audit_log.append(golem_id=golem_id, event="DeathStopped", actor=actor, data={"reason": words}, now=now)
    event_bus.emit(golem_id=golem_id, event=Event(EventType.DEATH_STOPPED, {"reason": words}), now=now)
    return True


@retry_aborted
def keep_what_is_left(*, death_id: UUID, left: list[dict[str, str]], now: datetime) -> bool:
    """What only its owner gets out, told in the audit log when it changed; whether it did."""
    with transaction.atomic():
        death = Death.objects.get(pk=death_id)
        _lock(death.golem_id)
        if [_key(each) for each in death.left] == [_key(each) for each in left] or not is_ending(death.golem_id):
            return False
        Death.objects.filter(pk=death_id).update(left=left)
        audit_log.append(golem_id=death.golem_id, event="DeathWaits", actor=DEATH_ACTOR, data={"left": left}, now=now)
        return True


def _key(line: dict[str, str]) -> tuple[str, str]:
    """What makes it another thing to tell: the position and what it waits for, not its label's amounts."""
    return line["position"], line["next"]


def _announce(locked: Golem, reason: str, actor: str, due_at: datetime, now: datetime) -> Death:
    words = make_plain(reason)
    death = Death.objects.create(golem=locked, reason=words, actor=actor, announced_at=now, due_at=max(due_at, now))
    facts = {"reason": words, "due_at": death.due_at.isoformat()}
    tick = locked.heartbeat_tick
    audit_log.append(
        golem_id=locked.pk,
        event="DeathInitiated",
        actor=actor,
        data={**facts, "phase": locked.phase},
        now=now,
        heartbeat_tick=tick,
    )
    event_bus.emit(golem_id=locked.pk, event=Event(EventType.DEATH_INITIATED, facts), now=now, heartbeat_tick=tick)
    return death


def _lock(golem_id: UUID) -> Golem:
    return Golem.objects.select_for_update(no_key=True).get(pk=golem_id)
