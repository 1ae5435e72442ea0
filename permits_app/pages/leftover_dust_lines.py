"""Says what is left of golems that are taken out of everything: which dust it is, where, and why it is still there.

One question to the database, however many golems there are; no node is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.actions.halt import EXCHANGED_STEP, IT_WAITS, ITS_OWNER, UNWOUND_STEP
from permits_app.halts.halt_leftovers import IT_STAYS, ToldLine, read_line
from permits_app.models import Death, HaltRecord
from permits_app.models.death import OPEN, DeathState
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.protocol import SHELF

_OWNER_NEEDED: Final = "its owner is needed"
"""What a halt's step says of a position that it has no way out of."""
_STAYS: Final = "stays"
"""What it says of a token in the wallet that is not exchanged."""
MOST_GOLEMS: Final = 5
"""Of so many golems it is told at once, those first that were stopped last."""
TOLD_FOR: Final = timedelta(days=7)
"""So long it is told of a golem that was retired with dust."""


@dataclass(frozen=True, slots=True)
class LeftLine:
    """One position that is not out: of which golem, what it holds and where, and why it is not out."""

    golem_name: str
    url: str
    what: str
    why: str
    since: datetime | None


def list_left_lines(golems: QuerySet[Golem], *, now: datetime) -> tuple[LeftLine, ...]:
    """What only a person gets out, what waits and which dust stays, of those of `golems` that end or were retired a
    short while ago, and of those whose halt needs a person or left dust.
    """
    ended = Q(state=DeathState.RETIRED, ended_at__gt=now - TOLD_FOR) & ~Q(left=[])
    told = Death.objects.filter(Q(state__in=OPEN) | ended)
    deaths = told.filter(golem=OuterRef("pk")).order_by("-announced_at")
    halts = HaltRecord.objects.filter(golem=OuterRef("pk"), epoch=OuterRef("halt_epoch"))
    rows = (
        golems.filter(halted_at__isnull=False)
        .filter(Q(retired_at__isnull=True) | Q(pk__in=told.values("golem")))
        .annotate(left=Subquery(deaths.values("left")[:1]), steps=Subquery(halts.values("steps")[:1]))
        .order_by(F("halted_at").desc(), "pk")
        .values_list("pk", "name", "halted_at", "left", "steps")[:MOST_GOLEMS]
    )
    return tuple(
        LeftLine(name, f"{reverse('admin:archetypes_app_golem_change', args=[pk])}#ending", *say_left(each), since)
        for pk, name, since, left, steps in rows
        for each in (left if left is not None else _list_needed(steps or []))
    )


def say_left(told: Mapping[str, object]) -> tuple[str, str]:
    """One position or token that is left, how much and where, and why: `0.1 DAI owed in its account at a lender`."""
    line = read_line(told)
    if line.units:
        return f"{line.units} in its wallet", _say_why(line)
    protocol = SHELF.get(line.venue)
    where = f"{line.label or line.position} at {protocol.label if protocol else line.venue}"
    holds = line.stays or line.holds
    return f"{holds} in {where}" if holds else where, _say_why(line)


def _say_why(line: ToldLine) -> str:
    why = line.why_it_stays or line.why or line.reason
    if line.stays or line.next == IT_STAYS or line.outcome == _STAYS:
        return f"it stays: {why}"
    if line.next == IT_WAITS:
        return f"it waits: {why}" if why else "it waits at its protocol"
    if line.next in ("", ITS_OWNER):
        return f"only you can take it out: {why}" if why else "only you can take it out"
    words = f"its next step is {line.next.replace('_', ' ')}"
    return f"{words}: {why}" if why else words


def _list_needed(steps: Iterable[JsonObject]) -> list[Mapping[str, object]]:
    """What the steps of a halt left to a person, or as dust."""
    positions = _list_told(steps, UNWOUND_STEP, "positions")
    tokens = _list_told(steps, EXCHANGED_STEP, "exchanges")
    lines = [(each, read_line(each)) for each in (*positions, *tokens)]
    return [each for each, line in lines if line.stays or line.outcome in (_OWNER_NEEDED, _STAYS)]


def _list_told(steps: Iterable[JsonObject], step: str, word: str) -> Iterable[Mapping[str, object]]:
    return next((each.get(word, ()) for each in steps if each.get("step") == step), ())
