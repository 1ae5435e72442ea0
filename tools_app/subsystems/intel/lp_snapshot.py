"""A pool as somebody who provides liquidity looks at it: prices, ticks, fees and amounts in its second token."""

from __future__ import annotations

from typing import Final

from tools_app.chain.feeds import PriceUnavailable
from tools_app.core.errors import InvalidParams
from tools_app.core.ratio import Ratio, ratio_text
from tools_app.portfolio.markets import markets_on
from tools_app.portfolio.pool_history import PoolPast
from tools_app.standards.concentrated import (
    MAX_POOL_TICK,
    MIN_POOL_TICK,
    sqrt_price_of_ratio,
    tick_at_sqrt_price,
)
from tools_app.subsystems.intel.pool_snapshot import PoolSnapshot, look_at
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.markets import FEE_DENOMINATOR, PoolNotFound
from tools_app.toolkit.result import UsdAmount

_GAS_OF_A_MOVE: Final = 520_000


def find_pair(ctx: ReadContext, chain_id: int | None, pair: tuple[str, str], fee: int | None) -> PoolSnapshot:
    """The pool of a pair, of one fee or with most of the second token in it. Raises PoolNotFound."""
    reader = ctx.chain(chain_id)
    markets = markets_on(reader.chain_id)
    assets = [markets.asset(reader.token(each)) for each in pair]
    found = [each for each in markets.find(reader, [(assets[0], assets[1])]) if each.is_usable]
    found = [each for each in found if fee is None or (each.fee == fee and each.is_concentrated)]
    if not found:
        raise PoolNotFound("no pool of a market trades this pair at this fee", token0=assets[0], token1=assets[1])
    held = markets.depth(reader, found)
    ranged = [each for each in found if each.is_concentrated] or found
    best = max(ranged, key=lambda each: held[each.id][0 if each.token0 == assets[1] else 1])
    return look_at(ctx, chain_id, best.id)


def check_ticks(look: PoolSnapshot, lower: int | None, upper: int | None) -> tuple[int, int]:
    """A range in ticks, the whole one where none is named. Raises InvalidParams."""
    if not look.pool.is_concentrated and (lower is not None or upper is not None):
        raise InvalidParams("this pool has no ranges; leave the ticks out", fields={"tick_lower": "no ranges"})
    found = (MIN_POOL_TICK + 1 if lower is None else lower), (MAX_POOL_TICK - 1 if upper is None else upper)
    if found[0] >= found[1]:
        raise InvalidParams("the lower tick must be below the upper one", fields={"tick_lower": "not below tick_upper"})
    return found


def root_of(look: PoolSnapshot) -> int:
    """The square root of a pool's price in Q64.96."""
    if look.pool.is_concentrated:
        return look.pool.sqrt_price
    return sqrt_price_of_ratio(look.pool.spot.numerator, look.pool.spot.denominator)


def as_float(price: Ratio) -> float:
    """A price as a float."""
    return price.numerator / price.denominator


def as_ratio(price: float) -> Ratio:
    """A float as a price."""
    return Ratio(*price.as_integer_ratio())


def tick_of(price: float) -> int:
    """The tick of a price."""
    ratio = as_ratio(price)
    return tick_at_sqrt_price(sqrt_price_of_ratio(ratio.numerator, ratio.denominator))


def price_text(look: PoolSnapshot, price: Ratio) -> str:
    """A price of base units as units of token1 per token0."""
    token0, token1 = look.tokens
    return ratio_text(price, base_decimals=token0.decimals, quote_decimals=token1.decimals)


def dollars_in_token1(look: PoolSnapshot, micro: int) -> float:
    """Dollars in base units of token1. Raises PriceUnavailable."""
    price = look.price_of(look.pool.token1)
    if micro <= 0:
        raise InvalidParams("the amount must be above zero")
    return micro * price.denominator / price.numerator


def usd_of(look: PoolSnapshot, amount1: float) -> UsdAmount:
    """What base units of token1 are worth. Raises PriceUnavailable."""
    found = look.dollars1(amount1)
    if found is None:
        raise PriceUnavailable(f"{look.tokens[1].symbol} has no dollar price", token=look.pool.token1)
    return found


def liquidity_of(look: PoolSnapshot) -> float:
    """Of a pool at its price."""
    pool = look.pool
    return float(pool.liquidity) if pool.is_concentrated else (pool.reserve0 * pool.reserve1) ** 0.5


def fees_a_second(look: PoolSnapshot, past: PoolPast) -> float:
    """Fees of the whole pool in base units of token1, on the mean of the window."""
    price = as_float(look.pool.spot)
    volume = sum(each.in1 + each.in0 * price for each in past.trades)
    return volume * look.pool.fee / FEE_DENOMINATOR / max(1.0, past.seconds)


def gas_in_token1(look: PoolSnapshot) -> float | None:
    """The gas of one move in base units of token1; None where the coin has no price."""
    micro, price = look.price_gas(_GAS_OF_A_MOVE), look.price_of(look.pool.token1)
    return micro * price.denominator / price.numerator if micro is not None else None


def flow_of_day(look: PoolSnapshot, past: PoolPast) -> tuple[float, float]:
    """Volume and fees of the pool by day, in base units of token1."""
    fees = fees_a_second(look, past) * 86_400
    return fees * FEE_DENOMINATOR / look.pool.fee if look.pool.fee else 0.0, fees
