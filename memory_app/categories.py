"""Sorts a conclusion into one of twelve categories, by its tool and by what happened.

Route selection is given where routes are learnt (`tuning`); all others here. Pure but for the registry of tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from memory_app.decay import STABILITY_DAYS, Importance
from memory_app.models import Episode
from memory_app.models.insight import InsightCategory
from memory_app.reflection import MINED_LATE, PRICE_MOVED, TOO_SHALLOW
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY

_CAUSES: Final[Mapping[str, InsightCategory]] = {
    PRICE_MOVED: InsightCategory.SLIPPAGE,
    MINED_LATE: InsightCategory.GAS_TIMING,
    TOO_SHALLOW: InsightCategory.LIQUIDITY_DEPTH,
}
_VAULTS: Final = frozenset({Category.VAULT, Category.YIELD})
_LIQUIDITY: Final[Mapping[str, InsightCategory]] = {
    "collect_fees": InsightCategory.FEE_OPTIMIZATION,
    # A position is taken out to be put elsewhere, or because it earns nothing where it is.
    "remove_liquidity": InsightCategory.REBALANCE_TIMING,
}


def choose_category(members: Sequence[Episode]) -> InsightCategory:
    """The subject of what like `members` say together: their emergency, else their cause, else what their tool does."""
    if any(each.importance == Importance.EMERGENCY for each in members):
        return InsightCategory.EMERGENCY
    first = members[0]
    verdict = first.reflection.get("verdict")
    if verdict == "reverted":
        causes = first.reflection.get("why") or [""]
        return _CAUSES.get(causes[0], InsightCategory.GENERAL)
    # A tool that an owner brought is in no registry, and one that was taken out leaves its episodes.
    category = REGISTRY.get(first.tool_name).category if first.tool_name in REGISTRY else Category.TRADING
    if category in _VAULTS:
        return InsightCategory.VAULT_STRATEGY
    if category is Category.LP:
        return _LIQUIDITY.get(first.action_type, InsightCategory.POOL_BEHAVIOR)
    if category is not Category.TRADING:
        return InsightCategory.GENERAL
    if verdict == "as_predicted":
        return InsightCategory.SLIPPAGE
    against = sum(each.importance == Importance.MEV for each in members)
    return InsightCategory.MEV_PATTERN if 2 * against > len(members) else InsightCategory.VOLATILITY


def choose_stability(members: Sequence[Episode]) -> float:
    """Days a conclusion lasts: as long as the weightiest experience behind it."""
    return max(STABILITY_DAYS[Importance(each.importance)] for each in members)
