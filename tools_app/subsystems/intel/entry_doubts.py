"""Names what speaks against entering a market now. Pure.

See docs/decisions/0502-liquidity-rule-what-the-index-knows-of-a-market.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tools_app.core.units import format_micro_usd
from tools_app.subsystems.intel.figure_basis import show
from tools_app.subsystems.intel.flow_maths import TOXIC_FROM
from tools_app.subsystems.intel.indexed_market import FLOW_HOURS, KnownMarket

TIMES_CHANCE: Final = 1.5
"""So many times what chance alone shows a flow has to be one-sided: few or one huge trade look toxic by chance."""
LEAST_DEPTH_TIMES: Final = 20
"""So many times what is put in a pool has to hold."""
_TRENDS: Final = frozenset({"strong_bull", "strong_bear"})


class DoubtCode(StrEnum):
    """What speaks against an entry."""

    TREND = "MARKET_TRENDS"
    TOXIC = "FLOW_IS_TOXIC"
    THIN = "POOL_IS_THIN"


@dataclass(frozen=True, slots=True)
class MarketDoubt:
    """One doubt, with the figures it comes from in words."""

    code: DoubtCode
    words: str


def doubt_market(known: KnownMarket, *, size_micro_usd: int | None) -> tuple[MarketDoubt, ...]:
    """The doubts about putting `size_micro_usd` into a pool; what is not known is no doubt."""
    found = []
    if known.regime in _TRENDS:
        words = f"the price of the last day is a {known.regime.replace('_', ' ')}: a range is soon left"
        found.append(MarketDoubt(DoubtCode.TREND, words))
    flow = known.flow
    if flow is not None and flow.vpin >= TOXIC_FROM and flow.vpin >= TIMES_CHANCE * flow.by_chance:
        words = (
            f"trades of the last {FLOW_HOURS} hours are one-sided: VPIN {show(flow.vpin)},"
            f" by chance {show(flow.by_chance)}, of {flow.trades} trades"
        )
        found.append(MarketDoubt(DoubtCode.TOXIC, words))
    worth = known.worth_micro_usd
    if worth is not None and size_micro_usd is not None and worth < LEAST_DEPTH_TIMES * size_micro_usd:
        words = f"the pool holds {format_micro_usd(worth)}, less than {LEAST_DEPTH_TIMES} times what would go in"
        found.append(MarketDoubt(DoubtCode.THIN, words))
    return tuple(found)
