"""What every liquidity tool says of a position: its range, its amounts, and the manager's own event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from tools_app.chain.abi_records import AbiEvent
from tools_app.core.ratio import ratio_text
from tools_app.core.units import format_units
from tools_app.standards import concentrated as v3_math
from tools_app.standards.concentrated import ratio_of_sqrt_price
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.views import TokenMeta

T = TypeVar("T")


def describe_range(
    pool: Pool, tokens: tuple[TokenMeta, TokenMeta], tick_lower: int, tick_upper: int
) -> dict[str, object]:
    token0, token1 = tokens
    shown = {
        name: ratio_text(ratio_of_sqrt_price(sqrt_price), base_decimals=token0.decimals, quote_decimals=token1.decimals)
        for name, sqrt_price in (
            ("price_lower", v3_math.sqrt_price_at_tick(tick_lower)),
            ("price_now", pool.sqrt_price),
            ("price_upper", v3_math.sqrt_price_at_tick(tick_upper)),
        )
    }
    return {
        "venue": pool.venue,
        "pool": pool.id,
        "fee_tier": pool.fee,
        "token0": token0.symbol,
        "token1": token1.symbol,
        "tick_lower": tick_lower,
        "tick_upper": tick_upper,
        "in_range": tick_lower <= pool.pool_tick < tick_upper,
        **shown,
    }


def describe_amounts(name: str, tokens: tuple[TokenMeta, TokenMeta], amounts: tuple[int, int]) -> dict[str, str]:
    shown: dict[str, str] = {}
    for side, (token, amount) in enumerate(zip(tokens, amounts, strict=True)):
        shown[f"{name}{side}"] = str(amount)
        shown[f"{name}{side}_units"] = format_units(amount, token.decimals, token.symbol)
    return shown


@dataclass(frozen=True, slots=True)
class OfManager:
    """Of a plan's details: whose events tell of it."""

    manager: str


@dataclass(frozen=True, slots=True)
class OfPosition:
    """Of a plan's details: the position it is about."""

    position_id: str


@dataclass(frozen=True, slots=True)
class OfLiquidity:
    """Of a plan's details: the liquidity that its calls name."""

    liquidity: str


@dataclass(frozen=True, slots=True)
class OfFees:
    """Of a plan's details: the fees that it read, in base units."""

    fees0: int
    fees1: int


@dataclass(frozen=True, slots=True)
class AmountsMoved:
    """Base units that a manager's event tells."""

    amount0: int = 0
    amount1: int = 0


def find_event(outcome: PlanOutcome, event: AbiEvent[T]) -> T | None:
    """The manager's first event of a kind; None where there is none, as in a plan that failed."""
    return next(iter(list_events(outcome, event, contract=read_details(OfManager, outcome).manager)), None)
