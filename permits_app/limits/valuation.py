"""Values a plan: the worst it can spend, gas included, in integer micro-USD at on-chain prices.

A spent token without a fresh feed refuses the call.
"""

from __future__ import annotations

from dataclasses import dataclass

from permits_app.limits.reserved_parts import ALLOWANCE, GAS, PRINCIPAL, PROMISE, SPEND, ReservedPart
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_units, value_in_micro_usd
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import FeedPrice, TokenMeta


@dataclass(frozen=True, slots=True)
class ValuePart:
    """One token's share of a value: base units, its price, micro-USD rounded up."""

    role: str
    token: TokenMeta
    raw: int
    price: FeedPrice
    micro_usd: int


@dataclass(frozen=True, slots=True)
class PlanValue:
    """The worst a plan can cost. `spend_micro_usd` is without gas; the gas budget at its worst is `gas_wei` wei of the
    chain's coin, layer one of a rollup included, worth `gas_micro_usd`.
    """

    parts: tuple[ValuePart, ...] = ()
    gas_micro_usd: int = 0
    gas_wei: int = 0

    @property
    def spend_micro_usd(self) -> int:
        return sum(part.micro_usd for part in self.parts)

    @property
    def total_micro_usd(self) -> int:
        return self.spend_micro_usd + self.gas_micro_usd

    def as_breakdown(self) -> list[dict[str, str]]:
        """JSON-ready lines for the ledger and the permit."""
        parts = [
            ReservedPart(
                role=part.role,
                micro_usd=part.micro_usd,
                raw=part.raw,
                token=part.token.address,
                symbol=part.token.symbol,
                units=format_units(part.raw, part.token.decimals, part.token.symbol),
                feed=part.price.feed,
            )
            for part in self.parts
        ]
        if self.gas_micro_usd:
            parts.append(ReservedPart(GAS, self.gas_micro_usd, self.gas_wei))
        return [part.as_json() for part in parts]

    def as_prices(self) -> list[JsonObject]:
        """JSON-ready record of every price used: feed, round, answer, decimals, age in seconds."""
        prices = {part.price.feed: part for part in self.parts}
        return [
            {
                "symbol": part.token.symbol,
                "feed": part.price.feed,
                "round_id": str(part.price.round_id),
                "answer": str(part.price.answer),
                "decimals": part.price.decimals,
                "age_seconds": part.price.age_seconds,
            }
            for part in prices.values()
        ]


def value_plan(*, plan: TxPlan, chain: ChainReader) -> PlanValue:
    """Compute the worst case of `plan` without gas: the most it spends, allowances it leaves standing, promises out of
    positions, and others' money that it moves.

    Raises PriceUnavailable or PriceStale when a spent or approved token has no fresh feed.
    """
    parts: list[ValuePart] = []
    for flow in plan.spends:
        parts.append(_part(SPEND, flow.token, flow.bound, chain))
    for allowance in plan.allowances:
        if allowance.left:
            parts.append(_part(ALLOWANCE, allowance.token, allowance.left, chain))
    for moved in plan.principals:
        parts.append(_part(PRINCIPAL, moved.token, moved.most, chain))
    if plan.promise is not None:
        # What others may take out of a position leaves the golem as what they take from its wallet does.
        parts += [
            _part(PROMISE, chain.token(change.token), -min(change.expected, change.bound), chain)
            for change in plan.changes
            if change.expected < 0
        ]
    return PlanValue(parts=tuple(parts))


def value_gas(*, budget_wei: int, chain: ChainReader) -> int:
    """Micro-USD of a gas budget at the native coin's price. Raises PriceUnavailable, PriceStale."""
    native = chain.native()
    price = chain.price(native)
    return value_in_micro_usd(
        raw=budget_wei,
        token_decimals=native.decimals,
        price=price.answer,
        price_decimals=price.decimals,
    )


def _part(role: str, token: TokenMeta, raw: int, chain: ChainReader) -> ValuePart:
    price = chain.price(token)
    micro = value_in_micro_usd(
        raw=raw, token_decimals=token.decimals, price=price.answer, price_decimals=price.decimals
    )
    return ValuePart(role=role, token=token, raw=raw, price=price, micro_usd=micro)
