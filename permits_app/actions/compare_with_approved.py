"""look_again: judge a permit that waits for its owners at the newest block, and say what differs from what they saw.

Nothing is written: the approval stays bound to what was asked for, and the plan is judged once more before it is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from permits_app.actions.release_permit import judge_stored_plan
from permits_app.approvals.loan_risk import say_liquidation
from permits_app.approvals.simulated_loss import LEAST_TOLD, read_loss, say_loss
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits.balance_deltas import read_deltas
from permits_app.safety.position_words import MovedPosition
from permits_app.safety.prediction import describe_expected
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored

SAME_WITHIN: Final = 1_000
"""Amounts that differ by less than this part of the greater are the same."""


@dataclass(frozen=True, slots=True)
class ChangedFigure:
    """One figure of the outcome: as owners were shown it, and as the newest block has it; empty for none."""

    words: str
    then: str
    now: str


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What a waiting plan would do now. `refusal` says why it would be refused and is empty where it would not be;
    `block` is the block it was simulated at, 0 where it did not come so far.
    """

    block: int
    refusal: str
    changed: tuple[ChangedFigure, ...]


def look_again(*, permit: ActionPermit, now: datetime) -> SecondLook | None:
    """None where nothing can be simulated: it does not wait for owners, sends nothing, or is a promise.

    Reads the chain; no transaction may be open. Raises nothing that a node or a rule raises: that is told.
    """
    if permit.status != PermitStatus.AWAITING_APPROVAL or permit.is_local or "promise" in permit.bounds:
        return None
    try:
        call, report = judge_stored_plan(permit=permit, golem=permit.golem, now=now)
        if report.simulation is None:
            return None
        seen = replace(call, simulation=report.simulation)
        expected = describe_expected(call=seen, fees=None, gas=None, sources={})
    except GolemError as error:
        return SecondLook(0, error.detail or error.title, ())
    return SecondLook(report.simulation.block.number, "", _compare(permit.expected_outcome, expected))


@dataclass(frozen=True, slots=True)
class _Figure:
    """As people read it, and in base units where it is an amount."""

    text: str
    raw: int | None = None

    def is_like(self, other: _Figure) -> bool:
        """Whether it is the same, to a thousandth where both are amounts: interest moves the last digits each block."""
        if self.raw is None or other.raw is None:
            return self.text == other.text
        return abs(self.raw - other.raw) * SAME_WITHIN <= max(abs(self.raw), abs(other.raw))


_NONE: Final = _Figure("")


def _compare(then: JsonObject, now: JsonObject) -> tuple[ChangedFigure, ...]:
    before, after = _list_figures(then), _list_figures(now)
    pairs = {words: (before.get(words, _NONE), after.get(words, _NONE)) for words in {**before, **after}}
    return tuple(
        ChangedFigure(words, seen.text, fresh.text) for words, (seen, fresh) in pairs.items() if not seen.is_like(fresh)
    )


def _list_figures(expected: JsonObject) -> dict[str, _Figure]:
    figures = {
        f"{each.symbol or each.token} in its account": _Figure(each.units, each.raw) for each in read_deltas(expected)
    }
    for told in expected.get("positions", ()):
        position = read_stored(MovedPosition, told)
        name = f"{position.label} ({position.ref})"
        for change in position.changes:
            figures[f"{name}: {change.symbol} changes by"] = _Figure(change.units, change.raw)
        for debt in position.owed_after:
            figures[f"{name}: {debt.symbol} owed afterwards"] = _Figure(debt.units.removeprefix("-"), debt.raw)
        if position.health_after is not None:
            figures[f"{name}: health afterwards"] = _Figure(position.health_after)
        if liquidated := say_liquidation(told):
            figures[f"{name}: liquidated"] = _Figure(liquidated)
    if (loss := read_loss(expected)) is not None:
        figures |= {"Lost in the simulation": _Figure(say_loss(expected), loss // LEAST_TOLD)}
    return figures
