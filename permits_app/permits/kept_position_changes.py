"""What a permit keeps of the positions that its plan changes, as values: the type of `expected_outcome["positions"]`.

`describe_moved` writes them. What a permit of before did not tell has a default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tools_app.core.stored_json import IntText, read_stored


@dataclass(frozen=True, slots=True)
class KeptAmount:
    """Base units of one token, and the same in units; what leaves or is owed is negative."""

    token: str
    symbol: str = ""
    raw: IntText = 0
    units: str = ""


@dataclass(frozen=True, slots=True)
class KeptPrice:
    """Prices of one token of a loan, decimal dollars a whole token, as `LiquidationPrice` has them."""

    symbol: str
    now_usd: str
    together_usd: str | None
    alone_usd: str | None
    token: str = ""


@dataclass(frozen=True, slots=True)
class KeptLiquidation:
    """When a loan is liquidated, as `Liquidation` has it: basis points, and micro-USD at the feeds."""

    fall_bps: int
    owed_micro_usd: IntText
    cover_micro_usd: IntText
    prices: tuple[KeptPrice, ...]


@dataclass(frozen=True, slots=True)
class KeptPositionChange:
    """One position that a plan changes: what of it, what is owed afterwards, its health before and after."""

    changes: tuple[KeptAmount, ...] = ()
    owed_after: tuple[KeptAmount, ...] = ()
    health_before: str | None = None
    health_after: str | None = None
    liquidation: KeptLiquidation | None = None


def read_position_change(stored: Mapping[str, object]) -> KeptPositionChange:
    """Read one position. Raises ValueError naming the field that is of another type."""
    return read_stored(KeptPositionChange, stored)


def read_position_changes(stored: Iterable[Mapping[str, object]]) -> list[KeptPositionChange]:
    """Read all positions of a permit, in their order. Raises as `read_position_change`."""
    return [read_position_change(each) for each in stored]
