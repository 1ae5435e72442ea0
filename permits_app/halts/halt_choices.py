"""Reads what an owner chose for a halt, again under the golem's lock before anything is signed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.halts.deaths import is_ending, list_taken_out
from permits_app.models import ActionPermit, HaltSetting

UNWIND_ACTION: Final = "unwind_position"
EXCHANGE_ACTION: Final = "exchange_for_base"


class HaltChoice(StrEnum):
    """What a halt does besides stopping."""

    STOP = "STOP"
    LEAVE_POSITIONS = "LEAVE_POSITIONS"
    LEAVE_FOR_BASE = "LEAVE_FOR_BASE"


SAYS: Final[Mapping[HaltChoice, str]] = {
    HaltChoice.STOP: "It stops. What it has at protocols stays there.",
    HaltChoice.LEAVE_POSITIONS: "It stops, and what it has at protocols is taken back into its wallet, debts first.",
    HaltChoice.LEAVE_FOR_BASE: (
        "It stops, what it has at protocols is taken back, debts first, and what is in its wallet then is exchanged for"
        " its base asset. The chain's coin stays for gas."
    ),
}
"""The same words for owners and agents."""


def read_choices(golems: Collection[Golem]) -> dict[UUID, HaltChoice]:
    """What a halt of each of `golems` does now, by golem. One that ends leaves its positions whatever was chosen."""
    rows = HaltSetting.objects.filter(golem__in=golems)
    chosen = {row.golem_id: HaltChoice(row.choice) for row in rows}
    ends = list_taken_out({golem.pk for golem in golems})
    found = {golem.pk: chosen.get(golem.pk, HaltChoice.STOP) for golem in golems}
    return {
        golem_id: HaltChoice.LEAVE_POSITIONS if choice is HaltChoice.STOP and golem_id in ends else choice
        for golem_id, choice in found.items()
    }


def read_choice(golem: Golem) -> HaltChoice:
    """The same of one."""
    return read_choices([golem])[golem.pk]


def read_chosen(golem: Golem) -> HaltChoice:
    """What its owner chose, whether it ends or not."""
    row = HaltSetting.objects.filter(golem=golem).first()
    return HaltChoice.STOP if row is None else HaltChoice(row.choice)


def read_most_loss(golem: Golem) -> int:
    """Basis points that a sale under a halt may lose against the price feeds."""
    row = HaltSetting.objects.filter(golem=golem).first() or HaltSetting(golem=golem)
    return int(row.most_loss_bps)


def does_unwind(golem: Golem) -> bool:
    """Whether a halt takes its positions back: its owner chose that, or the golem ends."""
    return HaltSetting.objects.filter(golem=golem, unwind_on_halt=True).exists() or is_ending(golem.pk)


def find_exchange(golem: Golem) -> HaltSetting | None:
    """The owner's choice that a halt leaves everything for the base asset; None where they did not choose it."""
    chosen = HaltSetting.objects.filter(golem=golem, unwind_on_halt=True, sell_on_halt=True, exchange_on_halt=True)
    return chosen.first()


def is_still_wanted(permit: ActionPermit, golem: Golem) -> bool:
    """Whether the halt may sign `permit` now: a step out of a position, or into the base asset, only while its owner
    wants that.
    """
    if permit.action_type == EXCHANGE_ACTION:
        return find_exchange(golem) is not None
    return permit.action_type != UNWIND_ACTION or does_unwind(golem)
