"""Defines the liquidity rule of a golem: one pair, the width and size of its position, when to harvest.

An owner edits it as JSON on the heartbeat's page; what is stored is what this module accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject

FEE_TIERS: Final = (100, 500, 3_000, 10_000)


@dataclass(frozen=True, slots=True)
class LiquidityRule:
    """A liquidity position of `token_a` and `token_b` in the pool of `fee_tier`, `half_width_bps` to each side.

    `target_micro_usd` is what both sides are worth together when it is opened; fees are collected from
    `harvest_micro_usd` on, and not before they are worth five times their gas. Nothing is opened or moved while the
    pool's price is further than `most_deviation_bps` from the feeds': a pushed price comes back, at the cost of whoever
    traded at it.
    """

    token_a: str
    token_b: str
    fee_tier: int = 500
    half_width_bps: int = 500
    target_micro_usd: int = 500_000_000
    harvest_micro_usd: int = 1_000_000
    most_deviation_bps: int = 200
    slippage_bps: int = 50

    def as_json(self) -> JsonObject:
        """What is stored."""
        return asdict(self)


_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "half_width_bps": (50, 5_000),
    "target_micro_usd": (1_000_000, 10**15),
    "harvest_micro_usd": (0, 10**15),
    "most_deviation_bps": (10, 5_000),
    "slippage_bps": (1, 1_000),
}


def parse_liquidity_rule(stored: Mapping[str, Any]) -> LiquidityRule | None:  # Any: JSON of an owner's rule
    """The rule of a stored JSON object; None when it is empty. Raises InvalidParams with the field that is wrong."""
    if not stored:
        return None
    known = {field.name for field in fields(LiquidityRule)}
    wrong = {name: "there is no such field" for name in stored if name not in known}
    for name in ("token_a", "token_b"):
        if not isinstance(stored.get(name), str) or not stored[name].strip():
            wrong[name] = "the symbol or address of a token"
    if "fee_tier" in stored and stored["fee_tier"] not in FEE_TIERS:
        wrong["fee_tier"] = f"one of {', '.join(map(str, FEE_TIERS))}"
    for name, (least, most) in _BOUNDS.items():
        value = stored.get(name, least)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            wrong[name] = f"a whole number from {least} to {most}"
    if wrong:
        raise InvalidParams("the liquidity rule is not complete", fields=wrong)
    return LiquidityRule(**stored)
