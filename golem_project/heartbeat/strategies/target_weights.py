"""Keeps several tokens of the wallet at shares of their worth together, and trades once one leaves its band."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Final, Self

from archetypes_app.phases import is_allowed
from golem_project.heartbeat.liquidity_plan import RuleWish, Urgency
from golem_project.heartbeat.needed_limits import RuleNeeds
from golem_project.heartbeat.observation import ObservedToken
from golem_project.heartbeat.strategies.strategy import (
    LEAST_TRADE_MICRO_USD,
    MOST_MICRO_USD,
    Sight,
    StoredFields,
    wish_swap,
)
from tools_app.core.json_types import JsonObject
from tools_app.core.units import BPS, format_micro_usd
from tools_app.toolkit.enums import ActionClass

MOST_TOKENS: Final = 8


@dataclass(frozen=True, slots=True)
class TargetWeights:
    """`weights` are basis points by token and come to all of it. Outside `band_bps` of its weight the token that is
    most above its share is sold for the one most below, and never more than `most_micro_usd` at once.
    """

    kind: ClassVar[str] = "target_weights"

    weights: dict[str, int]
    band_bps: int = 500
    most_micro_usd: int = 1_000_000_000
    least_micro_usd: int = 10_000_000
    slippage_bps: int = 50

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Self:  # Any: JSON of an owner's rule
        """See `RuleStrategy`."""
        read = StoredFields(stored, cls.__match_args__)
        weights = stored.get("weights")
        if not _is_whole(weights):
            read.refuse("weights", f"2 to {MOST_TOKENS} tokens whose shares come to 100%")
            weights = {}
        found = cls(
            weights=dict(weights or {}),
            band_bps=read.whole("band_bps", least=50, most=5_000, usual=500),
            most_micro_usd=read.whole(
                "most_micro_usd", least=LEAST_TRADE_MICRO_USD, most=MOST_MICRO_USD, usual=1_000_000_000
            ),
            least_micro_usd=read.whole(
                "least_micro_usd", least=LEAST_TRADE_MICRO_USD, most=MOST_MICRO_USD, usual=10_000_000
            ),
            slippage_bps=read.whole("slippage_bps", least=1, most=1_000, usual=50),
        )
        read.check("the target weights")
        return found

    def as_json(self) -> JsonObject:
        """See `RuleStrategy`."""
        return asdict(self)

    @property
    def tokens(self) -> tuple[str, ...]:
        """See `RuleStrategy`."""
        return tuple(self.weights)

    @property
    def keys(self) -> tuple[str, ...]:
        """None: what is held tells all."""
        return ()

    def plan(self, sight: Sight) -> tuple[RuleWish, ...]:
        """One trade from what is most above its share to what is most below it."""
        held = {name: sight.token(name) for name in self.weights}
        # What the rotation of yields put elsewhere is no less held.
        worth = {
            name: replace(each, raw=each.raw + sight.lent(each)).micro_usd
            for name, each in held.items()
            if each is not None
        }
        if len(worth) < len(held) or any(each is None for each in worth.values()):
            return ()
        if not is_allowed(sight.phase, ActionClass.REBALANCE):
            return ()
        total = sum(each or 0 for each in worth.values())
        # In ten-thousandths of a micro-dollar, so that nothing is rounded before it is compared.
        over = {name: (worth[name] or 0) * BPS - total * bps for name, bps in self.weights.items()}
        if not total or max(map(abs, over.values())) <= total * self.band_bps:
            return ()
        first, last = max(over, key=lambda name: (over[name], name)), min(over, key=lambda name: (over[name], name))
        amount = min(over[first], -over[last], self.most_micro_usd * BPS) // BPS
        return self._trade(sight, held[first], held[last], amount)

    def _trade(
        self, sight: Sight, sold: ObservedToken | None, bought: ObservedToken | None, amount: int
    ) -> tuple[RuleWish, ...]:
        if sold is None or bought is None or amount < self.least_micro_usd:
            return ()
        raw = sold.raw_worth(amount)
        raw = min(raw or 0, sold.raw)
        if (sold.raw_worth(self.least_micro_usd) or 0) > raw or not raw:
            return ()
        return (
            wish_swap(
                key=f"weights:{sold.token.address}:{bought.token.address}",
                sold=sold,
                bought=bought,
                raw=raw,
                venue=sight.venue,
                slippage_bps=self.slippage_bps,
                reason=f"{sold.token.symbol} is above its share and {bought.token.symbol} below:"
                f" {format_micro_usd(amount)} go from one to the other",
                urgency=Urgency.BALANCE,
            ),
        )

    def list_stopped(self, sight: Sight) -> frozenset[str]:
        """None."""
        return frozenset()

    def tell_needs(self) -> RuleNeeds | None:
        """See `RuleStrategy`."""
        return RuleNeeds(
            name="one step to the target weights",
            at_once_micro_usd=self.most_micro_usd,
            a_tick_micro_usd=self.most_micro_usd,
            slippage_bps=self.slippage_bps,
        )

    def describe(self) -> str:
        """See `RuleStrategy`."""
        shares = ", ".join(f"{bps / 100:g}% {name}" for name, bps in self.weights.items())
        return f"The wallet is kept at {shares}, each within {self.band_bps / 100:g}% of the whole."


def _is_whole(weights: object) -> bool:
    if not isinstance(weights, Mapping) or not 2 <= len(weights) <= MOST_TOKENS:
        return False
    names = [name.casefold() for name in weights if isinstance(name, str) and name.strip()]
    shares = [each for each in weights.values() if isinstance(each, int) and not isinstance(each, bool) and each >= 0]
    return len(set(names)) == len(weights) == len(shares) and sum(shares) == BPS
