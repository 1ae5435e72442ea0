"""A large swap in two parts, through paths that share no pool: each part moves its price less than the whole would.

Only a swap whose price impact is worth a further question is looked at, and it is split only where that brings more by
a margin after the gas of the second part. Without a price of the coin and of what is bought nothing is split.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from typing import Final

from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.ratio import ceil_div
from tools_app.core.units import BPS, value_in_micro_usd
from tools_app.protocols.uniswap.addresses import UniswapDeployment
from tools_app.protocols.uniswap.paths import Path
from tools_app.protocols.uniswap.quoting import RouteQuote, quote_amounts
from tools_app.protocols.uniswap.routing import Routes
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import TokenMeta

WORTH_A_LOOK_BPS: Final = 30
LEAST_GAIN_BPS: Final = 5
MOST_WAYS: Final = 4
SHARES_BPS: Final = (2_000, 4_000, 5_000, 6_000, 8_000)
"""How much of the whole goes one way, in basis points; the rest goes the other."""
# A second call may need an approval of its own.
_GAS_OF_AN_APPROVAL: Final = 70_000


@dataclass(frozen=True, slots=True)
class Part:
    """What goes one way, and how an agent names that way."""

    quote: RouteQuote
    name: str


@dataclass(frozen=True, slots=True)
class Split:
    """Two parts, the larger one first."""

    parts: tuple[Part, ...]

    @property
    def amount_in(self) -> int:
        return sum(part.quote.amount_in for part in self.parts)

    @property
    def amount_out(self) -> int:
        return sum(part.quote.amount_out for part in self.parts)

    @property
    def gas(self) -> int:
        return sum(part.quote.gas for part in self.parts)

    @property
    def price_impact_bps(self) -> int:
        """Of both parts, each counted by what goes into it."""
        weighed = sum(part.quote.price_impact_bps * part.quote.amount_in for part in self.parts)
        return ceil_div(weighed, self.amount_in)

    @property
    def lp_fee_bps(self) -> int:
        """Of both parts, each counted by what goes into it."""
        return ceil_div(sum(part.quote.lp_fee_bps * part.quote.amount_in for part in self.parts), self.amount_in)

    @property
    def name(self) -> str:
        """Each part's share and way: `60% v3:500 + 40% v3:3000`."""
        return " + ".join(f"{part.quote.amount_in * 100 // self.amount_in}% {part.name}" for part in self.parts)


def find_split(
    reader: ChainReader, deployment: UniswapDeployment, routes: Routes, *, token_out: TokenMeta
) -> Split | None:
    """The two parts that bring most of an exact input, or None where one way is as good.

    Reads once, and only where the best way moves its price. Raises RpcUnavailable.
    """
    best = routes.best
    if best.is_exact_out or best.fees.any or best.price_impact_bps < WORTH_A_LOOK_BPS:
        return None
    ways = dict(islice(routes.iterate_ways(), MOST_WAYS))
    whole = best.amount_in
    wanted = [
        ((one, amount), (two, whole - amount))
        for one, two in combinations(ways, 2)
        if _share_no_pool(ways[one], ways[two])
        for amount in (whole * share // BPS for share in SHARES_BPS)
        if amount
    ]
    asked = sorted({each for pair in wanted for each in pair})
    answers = quote_amounts(reader, deployment, [(ways[name], amount) for name, amount in asked])
    told = {key: Part(quote, key[0]) for key, quote in zip(asked, answers, strict=True) if quote is not None}
    splits = [Split(_larger_first(told[one], told[two])) for one, two in wanted if one in told and two in told]
    found = max(splits, key=lambda each: each.amount_out, default=None)
    return found if found is not None and _is_worth_it(reader, found, best, token_out) else None


def _share_no_pool(one: Path, two: Path) -> bool:
    return not {hop.pool.id for hop in one} & {hop.pool.id for hop in two}


def _larger_first(one: Part, two: Part) -> tuple[Part, Part]:
    return (one, two) if one.quote.amount_in >= two.quote.amount_in else (two, one)


def _is_worth_it(reader: ChainReader, split: Split, best: RouteQuote, token_out: TokenMeta) -> bool:
    """Whether it brings more by the margin, and by more than what its gas costs."""
    gain = split.amount_out - best.amount_out
    if gain * BPS < best.amount_out * LEAST_GAIN_BPS:
        return False
    try:
        coin, fees = reader.native(), reader.fees()
        wei = (split.gas - best.gas + _GAS_OF_AN_APPROVAL) * (fees.base_fee + fees.priority_fee)
        return _value_of(reader, token_out, gain) > _value_of(reader, coin, wei)
    except (PriceUnavailable, PriceStale):
        return False


def _value_of(reader: ChainReader, token: TokenMeta, raw: int) -> int:
    """Micro-USD by the token's feed."""
    feed = reader.price(token)
    return value_in_micro_usd(raw=raw, token_decimals=token.decimals, price=feed.answer, price_decimals=feed.decimals)
