"""What liquidity is made of at the feeds' ratio, and never at the pool's own price.

A pool's price can be moved for one block; at the feeds' ratio liquidity is worth the least it can be worth, so a moved
pool never makes a portfolio look larger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

from tools_app.chain.deployments import Deployment as KnownChain
from tools_app.chain.feeds import feed_calls
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.ratio import Ratio
from tools_app.standards.concentrated import Q192
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.views import NATIVE


@dataclass(frozen=True, slots=True)
class FeedReads:
    """The feeds of some tokens: what to ask for, and the ratio that their answers make."""

    known: KnownChain
    tokens: tuple[str, ...]

    @classmethod
    def of(cls, known: KnownChain, tokens: Sequence[str]) -> FeedReads:
        """Those of `tokens` that have a feed and whose decimals are known."""
        registered = _decimals_of(known)
        return cls(known, tuple(t for t in dict.fromkeys(tokens) if t in known.feeds and t in registered))

    @property
    def calls(self) -> list[ReadCall]:
        """Two reads a feed."""
        return [call for token in self.tokens for call in feed_calls(self.known.feeds[token])]

    def read(self, outcomes: Sequence[ReadOutcome]) -> FeedRatios:
        """What the outcomes of `calls` tell; how old they are is judged where they are turned into dollars."""
        decimals = _decimals_of(self.known)
        prices: dict[str, Ratio] = {}
        for index, token in enumerate(self.tokens):
            told, places = outcomes[2 * index], outcomes[2 * index + 1]
            if told.ok and places.ok and told.values[1] > 0:
                prices[token] = Ratio(told.values[1], 10 ** (places.values[0] + decimals[token]))
        return FeedRatios(prices)


@dataclass(frozen=True, slots=True)
class FeedRatios:
    """Dollars per base unit of each token that has a feed which answers."""

    prices: Mapping[str, Ratio]

    def unpriced(self, token0: str, token1: str) -> list[str]:
        """Those of a pair without a price."""
        return [token for token in (token0, token1) if token not in self.prices]

    def between(self, token0: str, token1: str) -> Ratio | None:
        """Token1 per token0 in base units; None without both prices."""
        price0, price1 = self.prices.get(token0), self.prices.get(token1)
        return price0.times(price1.inverse()) if price0 and price1 else None


def _decimals_of(known: KnownChain) -> dict[str, int]:
    """By token address, the coin under NATIVE."""
    return {
        NATIVE: KNOWN_NETWORKS[known.chain_id].native_decimals,
        **{token.address: token.decimals for token in known.tokens},
    }


def sqrt_price_of(ratio: Ratio) -> int:
    """The Q64.96 square root of token1 per token0 in base units."""
    return isqrt(Q192 * ratio.numerator // ratio.denominator)
