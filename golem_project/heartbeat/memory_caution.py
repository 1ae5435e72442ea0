"""Lets memory delay what the rule planner proposes, and change nothing else of it. Pure.

A wish that opens or trades waits while the market is rough and outcomes of the same tool with the same tokens warn of
just that. Nothing that leaves a position, and nothing that lowers a debt in danger, ever waits for a memory.

See docs/decisions/0200-memory-moves-when-and-never-what.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from archetypes_app.models.tick import ROUGH, Regime
from golem_project.heartbeat.entry_caution import Doubted
from golem_project.heartbeat.liquidity_plan import RuleWish
from memory_app.insights_for_situation import RecalledInsight
from memory_app.models.insight import LEAST_PERCENT_TO_TUNE, InsightCategory
from memory_app.token_keys import name_token
from tools_app.toolkit.registry import REGISTRY

_ABOUT_TIMING: Final = frozenset(
    {
        InsightCategory.SLIPPAGE,
        InsightCategory.GAS_TIMING,
        InsightCategory.MEV_PATTERN,
        InsightCategory.LIQUIDITY_DEPTH,
        InsightCategory.VOLATILITY,
        InsightCategory.POOL_BEHAVIOR,
    }
)


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A wish that waits, and the insight it waits for."""

    wish_key: str
    action_type: str
    insight_id: UUID
    text: str
    confidence_percent: int


def hold_back(
    wishes: Sequence[RuleWish], recalled: Sequence[RecalledInsight], *, regime: Regime, chain_id: int
) -> tuple[HeldBack, ...]:
    """The wishes that wait, each with its warning. Only warnings read from outcomes count, of 50% and more."""
    if regime not in ROUGH:
        return ()
    warnings = [
        each
        for each in recalled
        if each.is_verified
        and each.is_warning
        and each.confidence_percent >= LEAST_PERCENT_TO_TUNE
        and each.category in _ABOUT_TIMING
    ]
    found = []
    for wish in wishes:
        if wish.is_leaving or wish.is_rescue:
            continue
        warning = next((each for each in warnings if _is_about(each, wish, chain_id)), None)
        if warning is not None:
            found.append(HeldBack(wish.key, wish.action_type, warning.pk, warning.text, warning.confidence_percent))
    return tuple(found)


def leave_out(
    wishes: Sequence[RuleWish], held: Sequence[HeldBack], doubted: Sequence[Doubted] = ()
) -> tuple[RuleWish, ...]:
    """The wishes that wait neither for a memory nor for what is known."""
    waiting = {each.wish_key for each in held} | {each.wish_key for each in doubted}
    return tuple(wish for wish in wishes if wish.key not in waiting)


def _is_about(warning: RecalledInsight, wish: RuleWish, chain_id: int) -> bool:
    if warning.tool_name not in REGISTRY:
        return False
    tool = REGISTRY.get(warning.tool_name)
    if (tool.key, tool.venue) != (wish.action_type, wish.venue):
        return False
    return warning.chain_id in (None, chain_id) and set(warning.token_keys) == _read_tokens(wish.params, chain_id)


def _read_tokens(params: Mapping[str, object], chain_id: int) -> set[str]:
    return {
        name_token(value, chain_id=chain_id)
        for name, value in params.items()
        if name.startswith("token") and isinstance(value, str)
    }
