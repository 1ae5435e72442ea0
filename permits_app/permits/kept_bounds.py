"""What a permit keeps of its plan's promises, as values: the type of `ActionPermit.bounds` and `DeniedCall.bounds`.

For whoever tells them to people. What is signed and judged is the plan itself (`plan_store.decode_plan`). Amounts are
in base units, shares in basis points; a write without a transaction promises none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tools_app.core.stored_json import IntText, read_stored
from tools_app.toolkit.others_money import RightLimit
from tools_app.toolkit.plan import AmountGiven, Arrival, ItemGiven, Statement
from tools_app.toolkit.pool_hooks import PoolHooks


@dataclass(frozen=True, slots=True)
class PlannedToken:
    """A token as the plan knew it."""

    address: str
    symbol: str
    decimals: int


@dataclass(frozen=True, slots=True)
class KeptFlow:
    """A promised movement: what was quoted, and the worst that still passes."""

    token: PlannedToken
    expected: IntText
    bound: IntText


@dataclass(frozen=True, slots=True)
class KeptAllowance:
    """Who may take how much, and what of it stays allowed; `through` is the contract that keeps it, empty for the
    token.
    """

    token: PlannedToken
    spender: str
    granted: IntText
    left: IntText
    through: str = ""


@dataclass(frozen=True, slots=True)
class KeptChange:
    """A promise about a position; `ref` is None for one that is opened."""

    protocol: str
    kind: str
    token: str
    expected: IntText
    bound: IntText
    ref: str | None
    least_health_bps: int | None


@dataclass(frozen=True, slots=True)
class KeptGauge:
    """A figure of a contract and the least and the most that it may be afterwards."""

    name: str
    to: str
    least: IntText | None
    most: IntText | None


@dataclass(frozen=True, slots=True)
class KeptPrincipal:
    """Others' money that moves under a right, and what that right lets somebody take."""

    reference: str
    principal: str
    token: PlannedToken
    most: IntText
    limit: RightLimit


@dataclass(frozen=True, slots=True)
class KeptBounds:
    """Everything the plan promised."""

    spends: tuple[KeptFlow, ...] = ()
    receives: tuple[KeptFlow, ...] = ()
    allowances: tuple[KeptAllowance, ...] = ()
    contracts: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    slippage_bps: int | None = None
    price_impact_bps: int | None = None
    deadline: int | None = None
    collateral_ratio_bps: int | None = None
    changes: tuple[KeptChange, ...] = ()
    gauges: tuple[KeptGauge, ...] = ()
    statements: tuple[Statement, ...] = ()
    items: tuple[ItemGiven, ...] = ()
    amounts: tuple[AmountGiven, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    hooks: tuple[PoolHooks, ...] = ()
    principals: tuple[KeptPrincipal, ...] = ()

    @property
    def flows(self) -> tuple[KeptFlow, ...]:
        """What leaves and then what arrives."""
        return (*self.spends, *self.receives)


def read_bounds(stored: Mapping[str, object]) -> KeptBounds:
    """The promises of a row's `bounds`. Raises ValueError for what is none."""
    return read_stored(KeptBounds, stored)
