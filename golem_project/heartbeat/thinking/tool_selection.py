"""Selects the tools that a golem's model is shown in a tick: at most twelve, those that matter now.

The rest stays in the golem's toolset and is only left out of this conversation. Pure: a table of how well each action
class and category serves each task, the task read off phase, probes, anomalies and regime, and what the probes say the
golem has: only what is there can be left, and its protocol's own tools come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Final

from archetypes_app.tool_loadout import MOST_TOOLS, Loadout, choose_core
from golem_project.heartbeat.recorded_probes import RecordedProbes, read_probes
from golem_project.heartbeat.thinking.tools_by_words import find_named
from tools_app.core.required_value import require
from tools_app.toolkit.enums import LEAVING, ActionClass, Category, Phase, PiTool, ServiceNeed
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.tooldef import ReadTool, ToolDef, WriteTool

_MOST_WRITES: Final = 7
_MOST_VITAL: Final = 3
"""Writes that stay whatever a model loads: those that pay a debt, then those that serve the task best."""


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
    TickTask.DEFEND: {
        ActionClass.DECREASE_POSITION: 9,
        ActionClass.CLOSE_POSITION: 8,
        ActionClass.REBALANCE: 3,
        ActionClass.NEW_POSITION: -4,
        ActionClass.INCREASE_POSITION: -4,
    },
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
_NAMED: Final = 90
"""More than any other sum: what the owner's words name comes first."""
_ITS_SUBJECT: Final = 10
"""What the owner's words call by the first word of its name: a vault, a wallet."""
_HELD: Final = 16
"""What leaves, and what shows, something that the golem has there."""
_IN_DEBT: Final = 24
"""What pays a debt that the golem has there."""
_NOT_HELD: Final = -30
"""Nothing can be taken out of where nothing is."""
_BY_A_STRANGER: Final = -12
"""What asks a service outside, where a tool of the product's own does as much."""
_SHOWS_IT: Final = 15
"""The read that shows what is doubtful."""

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
CLAIMABLE: Final = "a request that can be claimed"
PUSHED_BPS: Final = 200
"""From here on a pool's price is no price to trade at."""
UNHEALTHY_BPS: Final = 13_000
"""A debt whose collateral is worth less than this of what would have it liquidated is the gravest thing to tend."""
WORTH_COLLECTING_MICRO_USD: Final = 1_000_000
_WORDS: Final[tuple[tuple[TickTask, tuple[str, ...]], ...]] = (
    (TickTask.DEFEND, ("liquidat", "health", "threat", "drain", "depeg", "exploit", "drawdown", "paused")),
    (TickTask.REBALANCE, ("out of range", "rebalance", "recentre", "recenter")),
    (TickTask.HARVEST, ("uncollected", "harvest", "claim", "reward", "collect fees")),
)
_OWN_AFFAIRS: Final[Mapping[str, int]] = {
    "gas_price": 10,
    "swap": 9,
    "token_price": 7,
    "delegate": 28,
    "batch_liquidity": -12,
    "harvest_rewards": -14,
    "stake_position": -14,
    "unstake_position": -14,
    "pool": 5,
    "position": 5,
    "positions": 5,
    "quote": 5,
}
"""Keys that bear on any task: what there is, what it is worth, what turns it into something else, what gas costs. Below
nothing is what does several things at once, each of which has a tool of its own, and what bears on positions that are
staked for rewards alone.
"""
_SHOWN_BY: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("PRICE_", ("token_price", "pool")),
    ("POOL_", ("pools_by_pair", "pools_by_token", "pool")),
    ("TOKEN_", ("pools_by_pair", "pools_by_token", "token_price")),
    ("RPC_", ("wallet_status", "positions")),
)
"""What an anomaly's code begins with, and the reads that show more of it."""
# The verb is the first word of a key, for those whose class the plan decides.
_LEAVES: Final = frozenset({"claim", "close", "collect", "leave", "remove", "repay", "unstake", "unwind", "withdraw"})
REQUEST: Final = "request"
"""The kind of position that waits in a queue; one that is free at once was paid."""
_NOBODYS: Final = frozenset({Category.STREAMING, Category.IDENTITY, Category.MEMORY})
_PAYS: Final = frozenset({"repay", "unwind"})
_LOOKS: Final = frozenset({"dashboard", "health", "position", "positions", "summary"})
_HOUSEKEEPING: Final = frozenset({Category.WALLET, Category.BOOTSTRAP, Category.TESTNET, Category.IDENTITY})
"""Writes for an owner's errand; the owner's words bring them back."""


def classify_task(
    *, phase: Phase, regime: str, probes: Mapping[str, object], anomalies: Iterable[str], interventions: Iterable[str]
) -> TickTask:
    """What the tick is about, from the gravest sign down; a calm tick with nothing to tend is for entering."""
    if phase in (Phase.SURVIVAL, Phase.TERMINAL):
        return TickTask.EXIT
    signs = " ".join(_list_signs(read_probes(probes), (*anomalies, *interventions))).lower()
    for task, words in _WORDS:
        if any(word in signs for word in words):
            return task
    if regime.upper() == "CRISIS" or phase is Phase.DEFENSIVE:
        return TickTask.DEFEND
    if regime.upper() == "VOLATILE":
        return TickTask.OBSERVE
    return TickTask.ENTER


def select_tools(
    *,
    toolset: Toolset,
    task: TickTask,
    interventions: Iterable[str] = (),
    probes: Mapping[str, object] | None = None,
    anomalies: Iterable[str] = (),
    most: int = MOST_TOOLS,
) -> Toolset:
    """The `most` tools that serve `task` best, best first, with the reason for each that is left out; ties go by name.

    At least a third is reads, where there are any: a model that cannot look should not act. What the owner's words
    speak of comes first, then what leaves or shows something that `probes` say the golem has; a write that does not
    serve the task is left out even where there is room.
    """
    if len(toolset) <= most:
        return toolset
    words = tuple(interventions)
    seen = read_probes(probes or {})
    signs = _Signs(
        task=task,
        words=" ".join(words).lower(),
        named=frozenset(find_named(toolset, words)),
        had=read_holdings(seen),
        shown_by=frozenset(_list_reads(seen, anomalies)),
    )
    scores = {tool.name: _score(tool, signs) for tool in toolset}
    ranked = sorted(toolset, key=lambda tool: (-scores[tool.name], tool.name))
    writes = [tool for tool in ranked if not isinstance(tool, ReadTool) and scores[tool.name] > 0]
    reads = [tool for tool in ranked if isinstance(tool, ReadTool)]
    kept_writes = writes[: max(min(_MOST_WRITES, most * 2 // 3), most - len(reads))]
    kept_reads = reads[: most - len(kept_writes)]
    kept = sorted((*kept_writes, *kept_reads), key=ranked.index)
    names = {tool.name for tool in kept}
    left_out = f"not among the {most} tools that serve {task.value.lower()} best in this tick"
    cut = toolset.without((tool.name for tool in toolset if tool.name not in names), reason=left_out)
    return replace(cut, tools={tool.name: tool for tool in kept})


def choose_loadout(
    *, toolset: Toolset, selected: Toolset, first: Iterable[Category], most: int = MOST_TOOLS
) -> Loadout:
    """What a deliberation begins with: the core of the golem's agents, and what was `selected`, best first.

    The core stays whatever is loaded, and so do three writes: who was woken to repay can always repay. Of the rest the
    least needed gives way first.
    """
    writes = [tool for tool in selected if isinstance(tool, WriteTool)]
    vital = sorted(writes, key=lambda tool: _bearing_of(tool) is not _Bearing.PAYS)[:_MOST_VITAL]
    core = tuple(dict.fromkeys((*choose_core(toolset=toolset, first=first), *(tool.name for tool in vital))))[:most]
    rest = [tool.name for tool in selected if tool.name not in core][: most - len(core)]
    return Loadout(core=core, loaded=tuple(reversed(rest)), most=most)


@dataclass(frozen=True, slots=True)
class Had:
    """Protocols where the golem has something, by what is had; None where the chain could not be read."""

    anywhere: frozenset[str] | None = None
    in_debt: frozenset[str] = frozenset()
    claimable: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Signs:
    """What a tool is scored by."""

    task: TickTask
    words: str
    named: frozenset[str]
    had: Had
    shown_by: frozenset[str]


def read_holdings(seen: RecordedProbes) -> Had:
    """Where the golem has something, from the probes that its tick records."""
    if seen.block_number is None:
        return Had()
    ranges = {require(each.venue) for each in seen.positions}
    held = [(PositionRef.parse(each.position), each) for each in seen.held_elsewhere]
    requests = [(ref.protocol, each.free_at) for ref, each in held if ref.kind == REQUEST]
    claimable = {protocol for protocol, free_at in requests if free_at is None}
    return Had(
        anywhere=frozenset(ranges | {ref.protocol for ref, _ in held}),
        in_debt=frozenset(ref.protocol for ref, each in held if int(each.debt_micro_usd)),
        claimable=frozenset(claimable),
        waiting=frozenset({protocol for protocol, _ in requests} - claimable),
    )


def _score(tool: ToolDef, signs: _Signs) -> int:
    score = _score_alone(tool, signs.task) + _score_of_holdings(tool, signs.had)
    if tool.key in signs.shown_by:
        score += _SHOWS_IT
    words = signs.words
    if words:
        if tool.name in signs.named or tool.key.replace("_", " ") in words or tool.key in words:
            score += _NAMED
        if tool.venue in words:
            score += 5
        if tool.name.partition("_")[0] in _list_words(words):
            score += _ITS_SUBJECT
    return score


@lru_cache(maxsize=64)
def _list_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text))


# What a tool is does not change while a process lives, and a tick looks at hundreds.
@lru_cache(maxsize=8192)
def _score_alone(tool: ToolDef, task: TickTask) -> int:
    """What the tool is worth to the task, whatever the golem has and its owner says."""
    score = 2 * _BY_CATEGORY[task].get(tool.category, 0) + _OWN_AFFAIRS.get(tool.key, 0)
    if isinstance(tool, WriteTool):
        score += 2 * _score_of_class(tool, task)
        if tool.category in _HOUSEKEEPING:
            score -= 20
    if any(isinstance(each, ServiceNeed) for each in tool.requires):
        score += _BY_A_STRANGER
    return score + (tool.pi_tool is PiTool.SEARCH_CONTEXT)


def _score_of_class(tool: WriteTool, task: TickTask) -> int:
    """What the tool's class is worth to the task; where the plan decides it, what its verb says."""
    table = _BY_CLASS[task]
    if tool.action_class is not None:
        return table.get(tool.action_class, 0)
    sells = task is TickTask.EXIT and tool.category in (Category.LP, Category.TRADING)
    if not _LEAVES.isdisjoint(tool.key.split("_")):
        return _COMPUTED_EXIT if sells else table.get(ActionClass.DECREASE_POSITION, 0)
    if tool.category is Category.TRADING:
        return _COMPUTED_EXIT if sells else _COMPUTED_CLASS
    return table.get(ActionClass.NEW_POSITION, 0)


class _Bearing(Enum):
    """How a tool bears on what a golem has somewhere."""

    CLAIMS = "CLAIMS"
    PAYS = "PAYS"
    LEAVES = "LEAVES"
    SHOWS = "SHOWS"
    NONE = "NONE"


def _score_of_holdings(tool: ToolDef, had: Had) -> int:
    """Score a tool by the golem's holdings: higher where it shows or leaves one of them, lower where it could only
    leave a position that is not there.
    """
    bearing = _bearing_of(tool)
    if had.anywhere is None or bearing is _Bearing.NONE:
        return 0
    if bearing is _Bearing.CLAIMS:
        return _HELD if _serves(tool, had.claimable) else _NOT_HELD
    if bearing is _Bearing.PAYS:
        return _IN_DEBT if _serves(tool, had.in_debt) else _NOT_HELD
    if bearing is _Bearing.LEAVES:
        return _HELD if _serves(tool, had.anywhere) else _NOT_HELD
    return _HELD if _serves(tool, had.anywhere) else -_OWN_AFFAIRS.get(tool.key, 0)


@lru_cache(maxsize=4096)
def _bearing_of(tool: ToolDef) -> _Bearing:
    verbs = frozenset(tool.key.split("_"))
    if isinstance(tool, WriteTool):
        if "claim" in verbs:
            return _Bearing.CLAIMS
        if tool.is_rescue or verbs & _PAYS:
            return _Bearing.PAYS
        return _Bearing.LEAVES if verbs & _LEAVES or tool.action_class in LEAVING else _Bearing.NONE
    shows = isinstance(tool, ReadTool) and tool.category not in _NOBODYS and verbs & _LOOKS and "pool" not in verbs
    return _Bearing.SHOWS if shows else _Bearing.NONE


def _serves(tool: ToolDef, protocols: frozenset[str]) -> bool:
    """Whether the tool works at one of these protocols: its own, or as one of those for every lender."""
    if not protocols:
        return False
    if any(each == tool.venue or each.startswith(f"{tool.venue}_") for each in protocols):
        return True
    lenders = [each for each in protocols if (found := SHELF.get(each)) is not None and found.lending is not None]
    return tool.venue == Category.LENDING.value and bool(lenders)


def _list_reads(seen: RecordedProbes, anomalies: Iterable[str]) -> Iterator[str]:
    """Keys of the reads that show what is doubtful."""
    for anomaly in anomalies:
        for start, keys in _SHOWN_BY:
            if anomaly.startswith(start):
                yield from keys
    if (seen.deviation_bps or 0) >= PUSHED_BPS:
        yield from ("pool", "token_price")


def _list_signs(seen: RecordedProbes, texts: Iterable[str]) -> Iterator[str]:
    """Words to look at: texts as they are, and what the probes of `Observation.as_probes` say of positions."""
    yield from texts
    for position in seen.positions:
        if not position.in_range and int(position.liquidity):
            yield OUT_OF_RANGE
        if int(position.fees_micro_usd or 0) >= WORTH_COLLECTING_MICRO_USD:
            yield FEES_OWED
    for held in seen.held_elsewhere:
        if held.health_bps is not None and held.health_bps < UNHEALTHY_BPS:
            yield UNHEALTHY
    if read_holdings(seen).claimable:
        yield CLAIMABLE
