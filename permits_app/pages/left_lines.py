"""Says what is left of golems that are taken out of everything: which dust it is, where, and why it is still there.

One question to the database, however many golems there are; no node is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.urls import reverse

from archetypes_app.models import Golem
from permits_app.actions.halt import IT_WAITS, ITS_OWNER, UNWOUND_STEP
from permits_app.models import Death, HaltRecord
from permits_app.models.death import OPEN
from tools_app.toolkit.protocol import SHELF

_OWNER_NEEDED: Final = "its owner is needed"
"""What a halt's step says of a position that it has no way out of."""
MOST_GOLEMS: Final = 5
"""Of so many golems it is told at once, those first that were stopped last."""


@dataclass(frozen=True, slots=True)
class LeftLine:
    """One position that is not out: of which golem, what it holds and where, and why it is not out."""

    golem_name: str
    url: str
    what: str
    why: str
    since: datetime | None


def list_left_lines(golems: QuerySet[Golem]) -> tuple[LeftLine, ...]:
    """What only a person gets out, or what waits, of those of `golems` that end, and of those whose halt needs them."""
    deaths = Death.objects.filter(golem=OuterRef("pk"), state__in=OPEN)
    halts = HaltRecord.objects.filter(golem=OuterRef("pk"), epoch=OuterRef("halt_epoch"))
    rows = (
        golems.filter(halted_at__isnull=False, retired_at__isnull=True)
        .annotate(left=Subquery(deaths.values("left")[:1]), steps=Subquery(halts.values("steps")[:1]))
        .order_by(F("halted_at").desc(), "pk")
        .values_list("pk", "name", "halted_at", "left", "steps")[:MOST_GOLEMS]
    )
    return tuple(
        LeftLine(name, f"{reverse('admin:archetypes_app_golem_change', args=[pk])}#ending", *say_left(each), since)
        for pk, name, since, left, steps in rows
        for each in (left if left is not None else _list_needed(steps or []))
    )


def say_left(told: Mapping[str, Any]) -> tuple[str, str]:
    """One position that is left: what is in it and where, and why: `0.00045 DAI owed in its account at a lender`."""
    protocol = SHELF.get(str(told.get("venue", "")))
    where = (
        f"{told.get('label') or told.get('position', '')} at {protocol.label if protocol else told.get('venue', '')}"
    )
    holds = str(told.get("holds", ""))
    return f"{holds} in {where}" if holds else where, _say_why(told)


def _say_why(told: Mapping[str, Any]) -> str:
    why, step = str(told.get("why") or told.get("reason") or ""), str(told.get("next", ITS_OWNER))
    if step == IT_WAITS:
        return f"it waits: {why}" if why else "it waits at its protocol"
    if step == ITS_OWNER:
        return f"only you can take it out: {why}" if why else "only you can take it out"
    words = f"its next step is {step.replace('_', ' ')}"
    return f"{words}: {why}" if why else words


def _list_needed(steps: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    unwound = (step.get("positions", []) for step in steps if step.get("step") == UNWOUND_STEP)
    told: Iterable[Mapping[str, Any]] = next(unwound, ())
    return [each for each in told if each.get("outcome") == _OWNER_NEEDED]
