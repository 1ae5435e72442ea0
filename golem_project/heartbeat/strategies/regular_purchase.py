"""Buys the same worth of one token in even steps of time, whatever the price is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, ClassVar, Self

from archetypes_app.phases import is_allowed
from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.strategies.strategy import (
    LEAST_TRADE_MICRO_USD,
    MOST_MICRO_USD,
    Sight,
    StoredFields,
    wish_swap,
)
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.enums import ActionClass

_KEY = "regular_purchase"


@dataclass(frozen=True, slots=True)
class RegularPurchase:
    """`amount_micro_usd` of `sold` is given for `bought` every `every_hours`. One that was missed is not made up for,
    and without enough of `sold` nothing is bought.
    """

    kind: ClassVar[str] = "regular_purchase"

    sold: str
    bought: str
    amount_micro_usd: int
    every_hours: int
    slippage_bps: int = 50

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:  # Any: JSON of an owner's rule
        """See `RuleStrategy`."""
        read = StoredFields(stored, cls.__match_args__)
        found = cls(
            sold=read.name("sold"),
            bought=read.name("bought"),
            amount_micro_usd=read.whole("amount_micro_usd", least=LEAST_TRADE_MICRO_USD, most=MOST_MICRO_USD),
            every_hours=read.whole("every_hours", least=1, most=31 * 24),
            slippage_bps=read.whole("slippage_bps", least=1, most=1_000, usual=50),
        )
        if found.sold and found.sold.casefold() == found.bought.casefold():
            read.refuse("bought", "another token than the one that is sold")
        read.check("the regular purchase")
        return found

    def as_json(self) -> JsonObject:
        """See `RuleStrategy`."""
        return asdict(self)

    @property
    def tokens(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (self.sold, self.bought)

    @property
    def keys(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (_KEY,)

    def plan(self, sight: Sight) -> tuple[RuleWish, ...]:
        """One purchase once the last is long enough ago."""
        sold, bought, last = sight.token(self.sold), sight.token(self.bought), sight.last_done.get(_KEY)
        is_due = last is None or sight.now - last >= timedelta(hours=self.every_hours)
        if sold is None or bought is None or not is_due or not is_allowed(sight.phase, ActionClass.NEW_POSITION):
            return ()
        raw = sold.raw_worth(self.amount_micro_usd)
        if raw is None or not 0 < raw <= sold.raw:
            return ()
        return (
            wish_swap(
                key=_KEY,
                sold=sold,
                bought=bought,
                raw=raw,
                venue=sight.venue,
                slippage_bps=self.slippage_bps,
                reason=f"{format_micro_usd(self.amount_micro_usd)} of {bought.token.symbol} are bought every"
                f" {self.every_hours} hours",
                urgency=Urgency.ENTER,
            ),
        )

    def list_stopped(self, sight: Sight) -> frozenset[str]:
        """None."""
        return frozenset()

    def tell_needs(self) -> RuleNeeds | None:
        """See `RuleStrategy`."""
        return RuleNeeds(
            name="the regular purchase",
            at_once_micro_usd=self.amount_micro_usd,
            a_tick_micro_usd=self.amount_micro_usd,
            a_day_micro_usd=self.amount_micro_usd * -(-24 // self.every_hours),
            slippage_bps=self.slippage_bps,
        )

    def describe(self) -> str:
        """See `RuleStrategy`."""
        return (
            f"{format_micro_usd(self.amount_micro_usd)} of {self.sold} are given for {self.bought} every"
            f" {self.every_hours} hours."
        )
