"""Which of a golem's tools its model is shown in one tick: at most twelve, those that bear on what is the matter now.

The rest stays in the golem's toolset and is only left out of this conversation. Pure: a table of how well each action
class and category serves each task, and the task read off phase, probes, anomalies and regime.
Seed: 002, "Context-dependent tool selection".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from archetypes_app.loadout import MOST_TOOLS
from tools_app.toolkit.enums import ActionClass, Category, Phase, PiTool
from tools_app.toolkit.tooldef import ReadTool, ToolDef, WriteTool
from tools_app.toolkit.toolset import Toolset

_MOST_WRITES: Final = 8


class TickTask(StrEnum):
    """What a tick is mainly about."""

    EXIT = "EXIT"
    DEFEND = "DEFEND"
    REBALANCE = "REBALANCE"
    HARVEST = "HARVEST"
    ENTER = "ENTER"
    OBSERVE = "OBSERVE"


_NEVER: Final = -100
"""An action that the task's phase refuses anyway only takes a place."""

_BY_CLASS: Final[Mapping[TickTask, Mapping[ActionClass, int]]] = {
    TickTask.EXIT: {
        ActionClass.CLOSE_POSITION: 9,
        ActionClass.DECREASE_POSITION: 7,
        ActionClass.NEW_POSITION: _NEVER,
        ActionClass.INCREASE_POSITION: _NEVER,
        ActionClass.REBALANCE: _NEVER,
    },
    TickTask.DEFEND: {ActionClass.DECREASE_POSITION: 9, ActionClass.CLOSE_POSITION: 8, ActionClass.REBALANCE: 3},
    TickTask.REBALANCE: {
        ActionClass.REBALANCE: 9,
        ActionClass.DECREASE_POSITION: 6,
        ActionClass.CLOSE_POSITION: 6,
        ActionClass.NEW_POSITION: 5,
        ActionClass.INCREASE_POSITION: 4,
    },
    TickTask.HARVEST: {
        ActionClass.DECREASE_POSITION: 8,
        ActionClass.REBALANCE: 5,
        ActionClass.CLOSE_POSITION: 4,
        ActionClass.INCREASE_POSITION: 4,
    },
    TickTask.ENTER: {
        ActionClass.NEW_POSITION: 9,
        ActionClass.INCREASE_POSITION: 7,
        ActionClass.REBALANCE: 4,
        ActionClass.CLOSE_POSITION: 2,
        ActionClass.DECREASE_POSITION: 2,
    },
    TickTask.OBSERVE: {ActionClass.CLOSE_POSITION: 2, ActionClass.DECREASE_POSITION: 2, ActionClass.REBALANCE: 1},
}
_COMPUTED_CLASS: Final = 5
"""A swap's class follows from its tokens, so it may serve anything."""
_COMPUTED_EXIT: Final = 10
"""Selling, and taking liquidity out, is how everything ends in the base asset, whatever else there is to leave."""
_NAMED: Final = 40
"""More than any other sum: what the owner's words name comes first."""

_BY_CATEGORY: Final[Mapping[TickTask, Mapping[Category, int]]] = {
    TickTask.EXIT: {Category.LP: 3, Category.TRADING: 3, Category.LENDING: 3, Category.SAFETY: 2, Category.DATA: 1},
    TickTask.DEFEND: {Category.SAFETY: 5, Category.LENDING: 4, Category.LP: 3, Category.TRADING: 2},
    TickTask.REBALANCE: {Category.LP: 6, Category.TRADING: 5, Category.DATA: 2},
    TickTask.HARVEST: {Category.LP: 5, Category.YIELD: 5, Category.STAKING: 4, Category.FEES: 4, Category.TRADING: 1},
    TickTask.ENTER: {Category.LP: 4, Category.TRADING: 4, Category.LENDING: 3, Category.YIELD: 3, Category.DATA: 2},
    TickTask.OBSERVE: {Category.DATA: 4, Category.INTELLIGENCE: 4, Category.SAFETY: 2, Category.MEMORY: 1},
}
OUT_OF_RANGE: Final = "out of range"
FEES_OWED: Final = "uncollected fees"
UNHEALTHY: Final = "health of a debt"
UNHEALTHY_BPS: Final = 13_000
"""A debt whose collateral is worth less than this of what would have it liquidated is the gravest thing to tend."""
WORTH_COLLECTING_MICRO_USD: Final = 1_000_000
_WORDS: Final[tuple[tuple[TickTask, tuple[str, ...]], ...]] = (
    (TickTask.DEFEND, ("liquidat", "health", "threat", "drain", "depeg", "exploit", "drawdown", "paused")),
    (TickTask.REBALANCE, ("out of range", "rebalance", "recentre", "recenter")),
    (TickTask.HARVEST, ("uncollected", "harvest", "claim", "reward", "collect fees")),
)
_OWN_AFFAIRS: Final = frozenset(
    {"delegate", "revoke_approvals", "positions", "position", "pool", "token_price", "quote", "gas_price"}
)
"""Keys that bear on any task: what the golem holds and what it costs to leave."""
_HOUSEKEEPING: Final = frozenset({Category.WALLET, Category.BOOTSTRAP, Category.TESTNET, Category.IDENTITY})
"""Writes for an owner's errand; the owner's words bring them back."""


def classify_task(
    *, phase: Phase, regime: str, probes: Mapping[str, Any], anomalies: Iterable[str], interventions: Iterable[str]
) -> TickTask:
    """What the tick is about, from the gravest sign down; a calm tick with nothing to tend is for entering."""
    if phase in (Phase.SURVIVAL, Phase.TERMINAL):
        return TickTask.EXIT
    signs = " ".join(_list_signs(probes, (*anomalies, *interventions))).lower()
    for task, words in _WORDS:
        if any(word in signs for word in words):
            return task
    if regime.upper() == "CRISIS" or phase is Phase.DEFENSIVE:
        return TickTask.DEFEND
    if regime.upper() == "VOLATILE":
        return TickTask.OBSERVE
    return TickTask.ENTER


def select_tools(
    *, toolset: Toolset, task: TickTask, interventions: Iterable[str] = (), most: int = MOST_TOOLS
) -> Toolset:
    """The `most` tools that serve `task` best, with the reason for each that is left out; ties go by name.

    At least a third is reads, where there are any: a model that cannot look should not act. A tool the owner's words
    name comes first; a write that does not serve the task is left out even where there is room.
    """
    if len(toolset) <= most:
        return toolset
    words = " ".join(interventions).lower()
    ranked = sorted(toolset, key=lambda tool: (-_score(tool, task, words), tool.name))
    writes = [tool for tool in ranked if not isinstance(tool, ReadTool) and _score(tool, task, words) > 0]
    reads = [tool for tool in ranked if isinstance(tool, ReadTool)]
    kept_writes = writes[: max(min(_MOST_WRITES, most * 2 // 3), most - len(reads))]
    kept_reads = reads[: most - len(kept_writes)]
    names = {tool.name for tool in (*kept_writes, *kept_reads)}
    left_out = f"not among the {most} tools that serve {task.value.lower()} best in this tick"
    return toolset.without((tool.name for tool in toolset if tool.name not in names), reason=left_out)


def _score(tool: ToolDef, task: TickTask, words: str) -> int:
    score = 2 * _BY_CATEGORY[task].get(tool.category, 0)
    if isinstance(tool, WriteTool):
        sells = task is TickTask.EXIT and tool.category in (Category.LP, Category.TRADING)
        computed = _COMPUTED_EXIT if sells else _COMPUTED_CLASS
        score += 2 * (computed if tool.action_class is None else _BY_CLASS[task].get(tool.action_class, 0))
        if tool.category in _HOUSEKEEPING:
            score -= 20
    if tool.key in _OWN_AFFAIRS:
        score += 5
    if tool.pi_tool is PiTool.SEARCH_CONTEXT:
        score += 1
    if words and (tool.key.replace("_", " ") in words or tool.key in words):
        score += _NAMED
    if words and tool.venue in words:
        score += 5
    return score


def _list_signs(probes: Mapping[str, Any], texts: Iterable[str]) -> Iterator[str]:
    """Words to look at: texts as they are, and what the probes of `Observation.as_probes` say of positions."""
    yield from texts
    for position in probes.get("positions") or ():
        if not position["in_range"] and int(position["liquidity"]):
            yield OUT_OF_RANGE
        if int(position["fees_micro_usd"] or 0) >= WORTH_COLLECTING_MICRO_USD:
            yield FEES_OWED
    for held in probes.get("held_elsewhere") or ():
        if held["health_bps"] is not None and held["health_bps"] < UNHEALTHY_BPS:
            yield UNHEALTHY
