"""Measures when a debt is liquidated: how far all of its cover may fall together, and each token's price alone.

Nothing is asked of a chain: the legs of a position are weighed at the prices that a caller has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from tools_app.core.units import BPS
from tools_app.portfolio.health import ValueOf, measure_health
from tools_app.toolkit.positions import Position

UnitOf: TypeAlias = Callable[[str], int]
"""Base units of one whole token, by its address."""

_FINER: Final = 10**6
"""So many whole tokens are valued for the price of one, so that a token worth less than a cent keeps its digits."""
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class LiquidationPrice:
    """Prices of one token of a debt's position, in dollars a whole token.

    `together` is its price when all the cover fell alike, None for what only is owed. `alone` is the price at which it
    alone leads to liquidation, lower for cover and higher for what is owed; None where it alone never does.
    """

    token: str
    now: Fraction
    together: Fraction | None
    alone: Fraction | None


@dataclass(frozen=True, slots=True)
class Liquidation:
    """When a debt is liquidated. `fall_bps` is by how much all its cover may fall while the debt keeps its price,
    rounded down, 0 where it is liquidated now. What is owed and what covers it are micro-USD at the feeds.
    """

    fall_bps: int
    owed_micro_usd: int
    cover_micro_usd: int
    prices: tuple[LiquidationPrice, ...]


def measure_liquidation(position: Position | None, value_of: ValueOf, unit_of: UnitOf) -> Liquidation | None:
    """Weigh a position's cover against its debts; None without a debt, and on a margin, which no price of a cover ends.

    Where the protocol's own word of health is lower than what the legs are worth at the feeds, its cover counts for as
    much less. Raises what `value_of` and `unit_of` raise.
    """
    health = measure_health(position, value_of)
    if position is None or health is None or position.is_margin:
        return None
    owed: dict[str, int] = {}
    weighed: dict[str, int] = {}
    cover = 0
    for leg in position.legs:
        worth = value_of(leg.token, leg.raw)
        if leg.raw < 0:
            owed[leg.token] = owed.get(leg.token, 0) - worth
        elif leg.cover_bps:
            cover += worth
            weighed[leg.token] = weighed.get(leg.token, 0) + worth * leg.cover_bps
    debt, counted = sum(owed.values()), sum(weighed.values())
    if debt <= 0 or counted <= 0:
        return Liquidation(_fall_bps(health), max(0, debt), cover, ())
    believed = Fraction(health * debt, counted) if health < counted // debt else Fraction(1)
    counts = {token: each * believed / BPS for token, each in weighed.items()}
    all_counts = sum(counts.values(), Fraction(0))
    left = debt / all_counts if all_counts > debt else Fraction(1)
    prices = []
    for token in dict.fromkeys((*weighed, *owed)):
        now = Fraction(value_of(token, unit_of(token) * _FINER), 10**6 * _FINER)
        together = now * left if token in weighed else None
        factor = _factor_alone(counts, owed, token)
        prices.append(LiquidationPrice(token, now, together, None if factor is None else now * factor))
    return Liquidation(_fall_bps(health), debt, cover, tuple(prices))


def _fall_bps(health_bps: int) -> int:
    return BPS - -(-BPS * BPS // health_bps) if health_bps > BPS else 0


def _factor_alone(counts: dict[str, Fraction], owed: dict[str, int], token: str) -> Fraction | None:
    """By what the price of one token is multiplied until cover and debt are equal, the other prices standing."""
    all_cover, all_owed = sum(counts.values(), Fraction(0)), sum(owed.values())
    mine, mine_owed = counts.get(token, Fraction(0)), owed.get(token, 0)
    net, missing = mine - mine_owed, (all_owed - mine_owed) - (all_cover - mine)
    if all_cover <= all_owed:
        return Fraction(1)
    if not net or missing / net <= 0:
        return None
    return missing / net


def describe_liquidation(
    position: Position | None, *, value_of: ValueOf, unit_of: UnitOf, name_of: Callable[[str], str]
) -> dict[str, object] | None:
    """The same as JSON: shares in basis points, worth in micro-USD, prices as decimal dollars a whole token. A price
    that is reached by falling is rounded up, one that is reached by rising down. Raises what measuring raises.
    """
    found = measure_liquidation(position, value_of, unit_of)
    if found is None:
        return None
    return {
        "fall_bps": found.fall_bps,
        "owed_micro_usd": str(found.owed_micro_usd),
        "cover_micro_usd": str(found.cover_micro_usd),
        "prices": [
            {
                "token": each.token,
                "symbol": name_of(each.token),
                "now_usd": show_price(each.now),
                "together_usd": None if each.together is None else show_price(each.together, up=True),
                "alone_usd": None if each.alone is None else show_price(each.alone, up=each.alone < each.now),
            }
            for each in found.prices
        ],
    }


def show_price(dollars: Fraction, *, up: bool = False) -> str:
    """`1125.34`, `0.0000123457`: cents from a dollar on, six digits that count below; rounded down unless `up`."""
    places = 2
    while dollars and dollars * 10 ** (places - _DIGITS + 1) < 1 and places < 24:
        places += 1
    places = places if dollars < 1 else 2
    scaled = dollars * 10**places
    whole = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    return f"{whole // 10**places}.{str(whole % 10**places).rjust(places, '0')}"
