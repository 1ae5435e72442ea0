"""Lists tools for browse_tools and load_tools: a line for each category, then a line for each tool of one.

Pure, over a toolset and a loadout. Lines are short: an agent reads them to choose, and describe_tool for the rest.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from archetypes_app.errors import CategoryUnknown
from archetypes_app.tool_loadout import MOST_TOKENS, Loading, Loadout
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.enums import Category, PiTool
from tools_app.toolkit.golem_toolset import Toolset, venues_choose
from tools_app.toolkit.registry import UnknownTool, refuse_for_good
from tools_app.toolkit.short_text import shorten
from tools_app.toolkit.tooldef import ReadTool, ToolDef

EVERYTHING: Final = "all"
"""The category that is all of them: words alone, so that a model reads in one answer what there is."""
PAGE_CHARACTERS: Final = 3_600
"""How much of a category's lines one answer holds; no line is cut, and one at least is told."""
_LONGEST_LINE: Final = 240

CATEGORY_LINES: Final[Mapping[Category, str]] = {
    Category.DATA: "prices, pools, ticks",
    Category.TRADING: "quotes, swaps",
    Category.LENDING: "supply, borrow, repay, loops",
    Category.STAKING: "liquid staking",
    Category.RESTAKING: "restaking",
    Category.DERIVATIVES: "perpetuals, options",
    Category.YIELD: "farms, fixed yield",
    Category.LP: "liquidity positions, fees",
    Category.VAULT: "shares of vaults",
    Category.SAFETY: "simulate, delegate",
    Category.INTELLIGENCE: "analytics, signals",
    Category.MEMORY: "episodes, insights",
    Category.IDENTITY: "on-chain identity",
    Category.WALLET: "wallet, transfers, gas",
    Category.STREAMING: "live subscriptions",
    Category.TESTNET: "private test chains",
    Category.BOOTSTRAP: "set-up",
    Category.FEES: "collect and burn fees",
    Category.HOOK: "pool hooks",
    Category.SELF_IMPROVEMENT: "tune parameters",
    Category.CODING: "a shell",
}


def list_categories(*, toolset: Toolset, loadout: Loadout) -> JsonObject:
    """Every category the toolset has, in the order of the enum, with its number of tools."""
    counts = Counter(tool.category for tool in toolset)
    shown = sum(1 for tool in toolset if loadout.shows(tool.name))
    return {
        "categories": [
            {"name": category.value, "description": CATEGORY_LINES[category], "tool_count": counts[category]}
            for category in Category
            if counts[category]
        ],
        "loaded": shown,
        "most": loadout.most,
    }


def list_category(
    *,
    toolset: Toolset,
    loadout: Loadout,
    category: str,
    cursor: str | None = None,
) -> JsonObject:
    """The tools of one category, one line each; those loaded already are named apart.

    `cursor` is the `next_cursor` of the page before. Raises CategoryUnknown, InvalidParams.
    """
    tools = find_category(toolset=toolset, category=category)
    start = 0 if cursor is None else _read_start(cursor, len(tools))
    lines: dict[str, str] = {}
    room = PAGE_CHARACTERS
    for tool in tools[start:]:
        line = shorten(tool.summary, _LONGEST_LINE)
        room -= len(tool.name) + len(line)
        if room < 0 and lines:
            break
        lines[tool.name] = line
    answer: dict[str, object] = {
        "category": category,
        "tools": lines,
        "loaded": [name for name in lines if loadout.shows(name)],
    }
    if start + len(lines) < len(tools):
        answer["next_cursor"] = str(start + len(lines))
    return answer


def list_everything(*, toolset: Toolset) -> JsonObject:
    """The words of every tool by category, as a model says them; venues stand where several serve a word."""
    words: dict[Category, dict[str, list[str]]] = {}
    for tool in toolset:
        words.setdefault(tool.category, {}).setdefault(tool.key, []).append(tool.venue)
    return {
        "words": {
            category.value: " ".join(_write_word(key, venues) for key, venues in sorted(words[category].items()))
            for category in Category
            if category in words
        },
        "message": "A word is an action_type or a query, word@venues where several serve it; describe_tool tells one.",
    }


def _write_word(key: str, venues: Sequence[str]) -> str:
    several = sorted(set(venues))
    return key if len(several) == 1 else f"{key}@{','.join(several)}"


def _read_start(cursor: str, most: int) -> int:
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > len(str(most)) or int(cursor) >= most:
        raise InvalidParams("cursor is the next_cursor of the page before", fields={"cursor": "not such a one"})
    return int(cursor)


def find_category(*, toolset: Toolset, category: str) -> list[ToolDef]:
    """The tools of one category by name, those that read first. Raises CategoryUnknown."""
    tools = [tool for tool in toolset if tool.category == category]
    if not tools:
        present = sorted({tool.category.value for tool in toolset})
        raise CategoryUnknown(
            f"no category of this golem is called {category!r}",
            available=present,
            suggestions=difflib.get_close_matches(category, present, n=3),
        )
    return tools


def find_tools(*, toolset: Toolset, names: Iterable[str]) -> list[ToolDef]:
    """The tools of these names, or served under these keys. Raises NameRefused, UnknownTool with every stranger."""
    found: list[ToolDef] = []
    strange: list[str] = []
    for name in names:
        word = name.strip().lower().replace("-", "_")
        tools = [tool for tool in toolset if word == tool.name or word in tool.aliases or word == tool.key]
        exact = [tool for tool in tools if tool.name == word] or tools
        found += exact
        if not exact:
            strange.append(name)
    for name in strange:
        refuse_for_good(name)
    if strange:
        known = [tool.name for tool in toolset]
        near = {name: difflib.get_close_matches(name, known, n=3) for name in strange}
        raise UnknownTool(f"this golem has no tool called {', '.join(strange)}", suggestions=near)
    return list({tool.name: tool for tool in found}.values())


def describe_loading(
    *,
    loading: Loading,
    toolset: Toolset,
    tools: Sequence[ToolDef],
    what: str,
) -> JsonObject:
    """Describe an answer of load_tools: tools that are shown now, tools that gave way, and tools that found no room."""
    served = {tool.name: tool for tool in tools}
    shown = loading.loadout.cut(toolset)
    answer: JsonObject = {
        "loaded": what,
        "tools_added": [describe_call(served[name], beside=shown) for name in loading.added],
        "message": f"{len(loading.added)} tools are now available; the manifest and its ETag have changed."
        if loading.added
        else "Nothing to add: these tools are available already.",
    }
    if loading.already:
        answer["already"] = list(loading.already)
    if loading.dropped:
        answer["dropped"] = list(loading.dropped)
        answer["message"] += " What gave way can be called by name as before."
    if loading.no_room:
        answer["no_room"] = list(loading.no_room)
        answer["message"] += (
            f" {len(loading.no_room)} of {len(tools)} are left: at most {loading.loadout.most} are shown at once, at"
            f" most {MOST_TOKENS} tokens. Each can be called by name all the same; describe_tool tells how."
        )
    return answer


def describe_call(
    tool: ToolDef,
    *,
    beside: Iterable[ToolDef],
) -> JsonObject:
    """How `tool` is called `beside` what is shown with it: the Pi tool, its word, its venue where venues choose there,
    and what it needs.
    """
    word = "query" if isinstance(tool, ReadTool) else "action_type"
    if isinstance(tool, ReadTool) and tool.pi_tool is not PiTool.QUERY_STATE:
        word = "read"
    told: dict[str, object] = {"tool": tool.name, "call": str(tool.pi_tool), word: tool.key}
    behind = {tool.name: tool, **{each.name: each for each in beside if each.pi_tool is tool.pi_tool}}
    if tool.pi_tool is not PiTool.QUERY_GRIMOIRE and venues_choose(behind.values()):
        # Of the grimoire a venue is a filter of memories. Elsewhere a schema without the word refuses it.
        told["venue"] = tool.venue
    return {**told, "needs": list(tool.schema.get("required", ()))}
