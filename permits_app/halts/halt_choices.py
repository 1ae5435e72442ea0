"""Reads what an owner chose for a halt, again under the golem's lock before anything is signed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.halts.deaths import is_ending, list_taken_out
from permits_app.models import ActionPermit, HaltSetting

UNWIND_ACTION: Final = "unwind_position"


def does_unwind(golem: Golem) -> bool:
    """Whether a halt takes its positions back: its owner chose that, or the golem ends."""
    return HaltSetting.objects.filter(golem=golem, unwind_on_halt=True).exists() or is_ending(golem.pk)


def list_unwinding(golems: Collection[Golem]) -> frozenset[UUID]:
    """Those of `golems` that `does_unwind` holds for."""
    chosen = HaltSetting.objects.filter(golem__in=golems, unwind_on_halt=True).values_list("golem_id", flat=True)
    return frozenset(chosen) | list_taken_out({golem.pk for golem in golems})


def is_still_wanted(permit: ActionPermit, golem: Golem) -> bool:
    """Whether the halt may sign `permit` now: a step out of a position only while its owner wants that."""
    return permit.action_type != UNWIND_ACTION or does_unwind(golem)
