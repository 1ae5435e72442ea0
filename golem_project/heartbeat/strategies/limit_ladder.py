"""Buys and sells set amounts of one token at set prices, each rung once: a ladder of limit orders.

A rung is carried out when the feed's price reaches it at a tick; nothing lies in the open between ticks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final, Self

from archetypes_app.phases import is_allowed
from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.strategies.strategy import (
    LEAST_TRADE_MICRO_USD,
    MOST_MICRO_USD,
    Sight,
    StoredFields,
    price_of,
    wish_swap,
)
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_micro_usd
from tools_app.toolkit.enums import ActionClass

MOST_RUNGS: Final = 20
BUY: Final = "buy"
SELL: Final = "sell"


@dataclass(frozen=True, slots=True)
class Rung:
    """`side` is buy (at the price and under) or sell (at the price and above); both figures are micro-USD."""

    side: str
    price_micro_usd: int
    amount_micro_usd: int

    @property
    def key(self) -> str:
        """Names it from tick to tick; another price or amount is another rung."""
        return f"rung:{self.side}:{self.price_micro_usd}:{self.amount_micro_usd}"

    def is_reached(self, price_micro_usd: int) -> bool:
        """Whether the price is there."""
        if self.side == BUY:
            return price_micro_usd <= self.price_micro_usd
        return price_micro_usd >= self.price_micro_usd


@dataclass(frozen=True, slots=True)
class LimitLadder:
    """`rungs` trade `token` against `against`. One that was carried out is over; its owner sets a new one."""

    kind: ClassVar[str] = "limit_ladder"

    token: str
    against: str
    rungs: tuple[Rung, ...]
    slippage_bps: int = 50

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:  # Any: JSON of an owner's rule
        """See `RuleStrategy`."""
        read = StoredFields(stored, cls.__match_args__)
        rungs = _read_rungs(stored.get("rungs"))
        if not rungs:
            read.refuse("rungs", f"1 to {MOST_RUNGS} different rungs: buy or sell, a price and an amount in dollars")
        found = cls(
            token=read.name("token"),
            against=read.name("against"),
            rungs=rungs,
            slippage_bps=read.whole("slippage_bps", least=1, most=1_000, usual=50),
        )
        buys = [each.price_micro_usd for each in rungs if each.side == BUY]
        sells = [each.price_micro_usd for each in rungs if each.side == SELL]
        if buys and sells and max(buys) >= min(sells):
            read.refuse("rungs", "every price to buy at is under every price to sell at")
        if found.token and found.token.casefold() == found.against.casefold():
            read.refuse("against", "another token than the one that is traded")
        read.check("the ladder")
        return found

    def as_json(self) -> JsonObject:
        """See `RuleStrategy`."""
        return {**asdict(self), "rungs": [asdict(each) for each in self.rungs]}

    @property
    def tokens(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return (self.token, self.against)

    @property
    def keys(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return tuple(each.key for each in self.rungs)

    def plan(self, sight: Sight) -> tuple[RuleWish, ...]:
        """Each rung that is reached and was not carried out, the one furthest behind the price first."""
        token, against = sight.token(self.token), sight.token(self.against)
        price = price_of(token) if token is not None else None
        if token is None or against is None or price is None:
            return ()
        may_buy = is_allowed(sight.phase, ActionClass.NEW_POSITION)
        reached = [each for each in self.rungs if each.key not in sight.last_done and each.is_reached(price)]
        wishes = []
        for rung in sorted(reached, key=lambda each: (-abs(each.price_micro_usd - price), each.key)):
            sold, bought = (against, token) if rung.side == BUY else (token, against)
            raw = sold.raw_worth(rung.amount_micro_usd)
            if raw is None or not 0 < raw <= sold.raw or (rung.side == BUY and not may_buy):
                continue
            wishes.append(
                wish_swap(
                    key=rung.key,
                    sold=sold,
                    bought=bought,
                    raw=raw,
                    venue=sight.venue,
                    slippage_bps=self.slippage_bps,
                    reason=f"{token.token.symbol} is at {format_micro_usd(price)}; the rung is to {rung.side}"
                    f" {format_micro_usd(rung.amount_micro_usd)} of it at {format_micro_usd(rung.price_micro_usd)}",
                    urgency=Urgency.ENTER if rung.side == BUY else Urgency.PROFIT,
                    is_leaving=rung.side == SELL,
                )
            )
        return tuple(wishes)

    def list_stopped(self, sight: Sight) -> frozenset[str]:
        """None."""
        return frozenset()

    def tell_needs(self) -> RuleNeeds | None:
        """See `RuleStrategy`."""
        return RuleNeeds(
            name="one rung of the ladder",
            at_once_micro_usd=max(each.amount_micro_usd for each in self.rungs),
            a_tick_micro_usd=sum(each.amount_micro_usd for each in self.rungs),
            slippage_bps=self.slippage_bps,
        )

    def describe(self) -> str:
        """See `RuleStrategy`."""
        told = ", ".join(
            f"{each.side} {format_micro_usd(each.amount_micro_usd)} at {format_micro_usd(each.price_micro_usd)}"
            for each in self.rungs
        )
        return f"{self.token} against {self.against}, each once: {told}."


def _read_rungs(stored: object) -> tuple[Rung, ...]:
    """The rungs of a stored list; none where one of them is not complete."""
    if not isinstance(stored, Sequence) or isinstance(stored, str) or not 1 <= len(stored) <= MOST_RUNGS:
        return ()
    found = []
    for row in stored:
        if not isinstance(row, Mapping) or set(row) != {"side", "price_micro_usd", "amount_micro_usd"}:
            return ()
        figures = (row["price_micro_usd"], row["amount_micro_usd"])
        if row["side"] not in (BUY, SELL) or not all(type(each) is int for each in figures):
            return ()
        if not (0 < figures[0] <= MOST_MICRO_USD and LEAST_TRADE_MICRO_USD <= figures[1] <= MOST_MICRO_USD):
            return ()
        found.append(Rung(row["side"], *figures))
    return tuple(found) if len({each.key for each in found}) == len(found) else ()
