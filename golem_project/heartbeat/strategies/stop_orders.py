"""Sells one token where its price falls to a stop, and a part of it where its price rises to a goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final, Self

from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.observation import ObservedToken
from golem_project.heartbeat.strategies.strategy import (
    LEAST_TRADE_MICRO_USD,
    MOST_MICRO_USD,
    Sight,
    StoredFields,
    price_of,
    wish_swap,
)
from tools_app.core.json_types import JsonObject
from tools_app.core.units import BPS, format_micro_usd

PROFIT_AGAIN: Final = timedelta(hours=24)
"""A part is taken as profit once in so long, however long the price stays above the goal."""
_STOP: Final = "stop_loss"
_PROFIT: Final = "take_profit"


@dataclass(frozen=True, slots=True)
class StopOrders:
    """Prices are micro-USD of one whole token by its feed; 0 leaves an order out. At the stop all of `token` is sold,
    at most `most_micro_usd` at once; at the goal `profit_bps` of it. Nothing may buy it while its price is at either.
    """

    kind: ClassVar[str] = "stop_orders"

    token: str
    into: str
    stop_micro_usd: int = 0
    goal_micro_usd: int = 0
    profit_bps: int = 2_500
    most_micro_usd: int = 5_000_000_000
    slippage_bps: int = 100

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:  # Any: JSON of an owner's rule
        """See `RuleStrategy`."""
        read = StoredFields(stored, cls.__match_args__)
        found = cls(
            token=read.name("token"),
            into=read.name("into"),
            stop_micro_usd=read.whole("stop_micro_usd", least=0, most=MOST_MICRO_USD, usual=0),
            goal_micro_usd=read.whole("goal_micro_usd", least=0, most=MOST_MICRO_USD, usual=0),
            profit_bps=read.whole("profit_bps", least=1, most=BPS, usual=2_500),
            most_micro_usd=read.whole(
                "most_micro_usd", least=LEAST_TRADE_MICRO_USD, most=MOST_MICRO_USD, usual=5_000_000_000
            ),
            slippage_bps=read.whole("slippage_bps", least=1, most=1_000, usual=100),
        )
        if not found.stop_micro_usd and not found.goal_micro_usd:
            read.refuse("stop_micro_usd", "a price to sell at, below or above")
        elif found.goal_micro_usd and found.goal_micro_usd <= found.stop_micro_usd:
            read.refuse("goal_micro_usd", "more than the price of the stop")
        if found.token and found.token.casefold() == found.into.casefold():
            read.refuse("into", "another token than the one that is sold")
        read.check("the stop")
        return found

    def as_json(self) -> JsonObject:
        """See `RuleStrategy`."""
        return asdict(self)

    @property
    def tokens(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (self.token, self.into)

    @property
    def keys(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (_PROFIT,)

    def plan(self, sight: Sight) -> tuple[RuleWish, ...]:
        """A sale at the stop or at the goal; selling what is there is allowed in every phase."""
        token, into = sight.token(self.token), sight.token(self.into)
        price = price_of(token) if token is not None else None
        if token is None or into is None or price is None:
            return ()
        if self.stop_micro_usd and price <= self.stop_micro_usd:
            return self._sell(
                sight,
                token,
                into,
                token.raw,
                key=_STOP,
                urgency=Urgency.STOP,
                reason=f"{token.token.symbol} fell to {format_micro_usd(price)}; the stop is"
                f" {format_micro_usd(self.stop_micro_usd)}",
            )
        last = sight.last_done.get(_PROFIT)
        if self.goal_micro_usd and price >= self.goal_micro_usd and (last is None or sight.now - last >= PROFIT_AGAIN):
            return self._sell(
                sight,
                token,
                into,
                token.raw * self.profit_bps // BPS,
                key=_PROFIT,
                urgency=Urgency.PROFIT,
                reason=f"{token.token.symbol} rose to {format_micro_usd(price)}; the goal is"
                f" {format_micro_usd(self.goal_micro_usd)}",
            )
        return ()

    def _sell(
        self,
        sight: Sight,
        token: ObservedToken,
        into: ObservedToken,
        raw: int,
        *,
        key: str,
        urgency: Urgency,
        reason: str,
    ) -> tuple[RuleWish, ...]:
        raw = min(raw, token.raw_worth(self.most_micro_usd) or 0)
        if (token.raw_worth(LEAST_TRADE_MICRO_USD) or 0) > raw or not raw:
            return ()
        return (
            wish_swap(
                key=key,
                sold=token,
                bought=into,
                raw=raw,
                venue=sight.venue,
                slippage_bps=self.slippage_bps,
                reason=reason,
                urgency=urgency,
                # It takes out of the market: neither a memory nor a doubt about the market makes it wait.
                is_leaving=True,
            ),
        )

    def list_stopped(self, sight: Sight) -> frozenset[str]:
        """The token while its price is at the stop or the goal, or beyond, or cannot be told."""
        token = sight.token(self.token)
        if token is None:
            return frozenset()
        price = price_of(token)
        is_free = price is not None and price > self.stop_micro_usd and not 0 < self.goal_micro_usd <= price
        return frozenset() if is_free else frozenset({token.token.address})

    def tell_needs(self) -> RuleNeeds | None:
        """See `RuleStrategy`."""
        return RuleNeeds(
            name="one sale at the stop",
            at_once_micro_usd=self.most_micro_usd,
            a_tick_micro_usd=self.most_micro_usd,
            slippage_bps=self.slippage_bps,
        )

    def describe(self) -> str:
        """See `RuleStrategy`."""
        parts = []
        if self.stop_micro_usd:
            parts.append(f"all of it is sold for {self.into} at {format_micro_usd(self.stop_micro_usd)} and under")
        if self.goal_micro_usd:
            share = f"{self.profit_bps / 100:g}%"
            parts.append(f"{share} a day are sold at {format_micro_usd(self.goal_micro_usd)} and above")
        return f"{self.token}: {'; '.join(parts)}."
