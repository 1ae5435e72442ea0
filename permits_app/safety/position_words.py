"""What a plan does to positions, JSON-ready, in the words of the permit, the outcome, the approval and the pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from permits_app.permits.balance_deltas import ToldDelta
from permits_app.safety.format_rule_figures import format_ratio
from permits_app.safety.position_rules import Moved
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored
from tools_app.core.units import format_units
from tools_app.portfolio.health import ValueOf, measure_health
from tools_app.portfolio.liquidation import describe_liquidation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import Leg, Position
from tools_app.toolkit.protocol import SHELF, SIMULATED


def describe_moved(moved: Iterable[Moved], *, chain: ChainReader, value_of: ValueOf) -> list[JsonObject]:
    """Each position that changes: what of it, what it will hold and owe, its health before and after, and when it is
    liquidated (None without a debt). Amounts in base units with units beside; what is owed is negative.
    """
    return [
        {
            "ref": str(each.ref),
            "label": (each.after or each.before).label,  # type: ignore[union-attr]
            "protocol": each.ref.protocol,
            "is_simulated": SHELF.is_simulated(each.ref.protocol, each.ref.chain_id),
            "opens": each.is_born,
            "closes": each.after is None,
            "changes": [
                *(_amount(chain, token, raw) for token, raw in sorted(each.list_changes().items())),
                *(_uncounted(each, token, raw) for token, raw in sorted(each.list_uncounted_changes().items())),
            ],
            "owed_after": [_amount(chain, leg.token, leg.raw) for leg in _debts(each.after)],
            "health_before": _health(each.before, value_of),
            "health_after": _health(each.after, value_of),
            "liquidation": describe_liquidation(
                each.after,
                value_of=value_of,
                unit_of=lambda token: 10 ** chain.token(token).decimals,
                name_of=lambda token: chain.token(token).symbol,
            ),
        }
        for each in moved
        if each.list_changes() or each.list_uncounted_changes()
    ]


def _amount(chain: ChainReader, token: str, raw: int) -> dict[str, str]:
    meta = chain.token(token)
    units = format_units(abs(raw), meta.decimals, meta.symbol)
    return {"token": token, "symbol": meta.symbol, "raw": str(raw), "units": f"-{units}" if raw < 0 else units}


def _uncounted(moved: Moved, token: str, raw: int) -> dict[str, str]:
    """The same of what never counts, in its protocol's own words for the token."""
    both = (position for position in (moved.before, moved.after) if position is not None)
    found = next(each for position in both for each in position.uncounted if each.token == token)
    units = format_units(abs(raw), found.decimals, found.symbol)
    return {"token": token, "symbol": found.symbol, "raw": str(raw), "units": f"-{units}" if raw < 0 else units}


def _debts(position: Position | None) -> list[Leg]:
    return [leg for leg in position.legs if leg.raw < 0] if position is not None else []


def _health(position: Position | None, value_of: ValueOf) -> str | None:
    measured = measure_health(position, value_of)
    return None if measured is None else format_ratio(measured)


@dataclass(frozen=True, slots=True)
class MovedPosition:
    """What `describe_moved` told of one position; health as a ratio in text, None without debt."""

    label: str
    ref: str
    changes: tuple[ToldDelta, ...]
    owed_after: tuple[ToldDelta, ...]
    health_before: str | None = None
    health_after: str | None = None
    is_simulated: bool = False


def say_moved(positions: Iterable[Mapping[str, object]]) -> list[dict[str, str]]:
    """What `describe_moved` told and a permit kept, a sentence each for what changes, what is owed and how healthy it
    is: for the owner's approval, the permit's story, and whoever checks an exported request.
    """
    return [
        {
            # What permits told before they told this stays as it was said.
            "label": f"{told.label}{SIMULATED if told.is_simulated else ''}",
            "ref": told.ref,
            "changes": ", ".join(change.units for change in told.changes),
            "owed_after": ", ".join(debt.units.removeprefix("-") for debt in told.owed_after),
            "health": _say_health(told.health_before, told.health_after),
        }
        for told in (read_stored(MovedPosition, each) for each in positions)
    ]


def _say_health(before: str | None, after: str | None) -> str:
    if after is None:
        return "" if before is None else f"{before} before, no debt after"
    return f"{after}, no debt before" if before is None else f"{before} before, {after} after"
