"""Prices tokens and pools in US dollars: by feeds first, else by the deepest pool.

A price is an exact ratio of micro-USD per base unit. No feed and no such pool: no price, never zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.ratio import Ratio
from tools_app.core.units import MICRO_USD_PER_USD
from tools_app.portfolio.markets import ChainMarkets
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.views import FeedPrice, TokenMeta


@dataclass(slots=True)
class TokenPricer:
    """Prices tokens of one chain at one block, each once."""

    reader: ChainReader
    markets: ChainMarkets
    _prices: dict[str, Ratio | None] = field(default_factory=dict)

    def price(self, token: str) -> Ratio | None:
        """Micro-USD per base unit of a token address, or None."""
        if token not in self._prices:
            feed = self.feed(self.reader.token(token))
            self._prices[token] = feed[1] if feed else self._price_by_pool(token)
        return self._prices[token]

    def feed(self, token: TokenMeta) -> tuple[FeedPrice, Ratio] | None:
        """A token's own feed, and its price as micro-USD per base unit; None when it has no fresh one."""
        try:
            found = self.reader.price(token)
        except (PriceUnavailable, PriceStale):
            return None
        return found, Ratio(found.answer * MICRO_USD_PER_USD, 10 ** (found.decimals + token.decimals))

    def value(self, amounts: Iterable[tuple[str, int]]) -> int | None:
        """Micro-USD of (token, base units) together, rounded down; None when a token that counts has no price."""
        total = 0
        for token, amount in amounts:
            if amount == 0:
                continue
            price = self.price(token)
            if price is None:
                return None
            total += price.of(amount)
        return total

    def deepest_pool(self, token: str, hubs: Iterable[str]) -> tuple[Pool, str] | None:
        """The pool of a token with the most dollars' worth of a hub in it, and that hub; None without any."""
        others = [hub for hub in hubs if hub != token and self._feed_price(hub) is not None]
        pools = [pool for pool in self.markets.find(self.reader, [(token, hub) for hub in others]) if pool.is_usable]
        balances = self.markets.depth(self.reader, pools)
        best: tuple[int, Pool, str] | None = None
        for pool in pools:
            hub = pool.other(token)
            price = self._feed_price(hub)
            held = balances[pool.id][1 if pool.token1 == hub else 0]
            worth = price.of(held) if price else 0
            if worth > 0 and (best is None or worth > best[0]):
                best = (worth, pool, hub)
        return (best[1], best[2]) if best else None

    def _feed_price(self, token: str) -> Ratio | None:
        feed = self.feed(self.reader.token(token))
        return feed[1] if feed else None

    def _price_by_pool(self, token: str) -> Ratio | None:
        found = self.deepest_pool(token, self.markets.hubs(self.reader))
        if found is None:
            return None
        pool, hub = found
        price = self._feed_price(hub)
        return pool.spot_from(token).times(price) if price else None
