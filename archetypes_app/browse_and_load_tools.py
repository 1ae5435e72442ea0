"""The three queries about tools that every golem has: browse_tools, load_tools, describe_tool.

Each door hands in how it loads: a key's row, or the memory of one deliberation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from archetypes_app.catalogue_lines import (
    EVERYTHING,
    describe_call,
    describe_loading,
    find_category,
    find_tools,
    list_categories,
    list_category,
    list_everything,
)
from archetypes_app.tool_loadout import Loading, Loadout, order_by_need
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.schema import ToolParams, validate_params

MOST_NAMED: Final = 50
CategoryName = Annotated[
    str, Field(min_length=1, max_length=64, description="A category that browse_tools names; all browses every word.")
]
PageStart = Annotated[str, Field(min_length=1, max_length=20, description="The next_cursor of the page before.")]
ToolName = Annotated[str, Field(min_length=1, max_length=128)]
ToolNames = Annotated[
    list[ToolName], Field(min_length=1, max_length=MOST_NAMED, description="Tools that browse_tools names.")
]


class BrowseParams(ToolParams):
    """Without a category the categories are listed."""

    category: CategoryName | None = None
    cursor: PageStart | None = None


class LoadParams(ToolParams):
    """A category or names; both together are both."""

    category: CategoryName | None = None
    tools: ToolNames | None = None


class DescribeParams(ToolParams):
    """Names of tools to describe in full."""

    tools: ToolNames


@dataclass(frozen=True, slots=True)
class TierQuery:
    """One of the three, as the manifest tells it."""

    key: str
    summary: str
    params_model: type[ToolParams]


TIER_QUERIES: tuple[TierQuery, ...] = (
    TierQuery("browse_tools", "more tools by category.", BrowseParams),
    TierQuery("load_tools", "show a category's tools, or named ones.", LoadParams),
    TierQuery("describe_tool", "named tools in full.", DescribeParams),
)
TIER_KEYS: Final = frozenset(query.key for query in TIER_QUERIES)
_BY_KEY: Final = {query.key: query for query in TIER_QUERIES}


def answer_tier_query(
    *,
    key: str,
    params: Mapping[str, Any],  # Any: a tool's parameters, read by its schema
    toolset: Toolset,
    loadout: Loadout,
    load: Callable[[Sequence[str]], Loading],
    describe: Callable[[Any], dict[str, Any]] | None = None,  # Any: JSON, as agents and pages see it
) -> JsonObject:
    """The answer of the query `key`. `describe` tells one tool in full.

    Raises InvalidParams, CategoryUnknown, UnknownTool.
    """
    given = {name: value for name, value in params.items() if value is not None}
    asked = validate_params(_BY_KEY[key].params_model, given)
    if key == "browse_tools":
        if asked["category"] is None:
            return list_categories(toolset=toolset, loadout=loadout)
        if asked["category"].strip().lower() == EVERYTHING:
            return list_everything(toolset=toolset)
        return list_category(toolset=toolset, loadout=loadout, category=asked["category"], cursor=asked["cursor"])
    if key == "describe_tool":
        tools = find_tools(toolset=toolset, names=asked["tools"])
        shown = loadout.cut(toolset)
        told = [describe(tool) if describe else describe_call(tool, beside=shown) for tool in tools]
        return {"tools": [{**each, "loaded": loadout.shows(tool.name)} for each, tool in zip(told, tools, strict=True)]}
    category, names = asked["category"], asked["tools"]
    if category is None and names is None:
        raise InvalidParams(
            "Provide 'category' or 'tools'",
            fields={"category": "one of the two is needed", "tools": "one of the two is needed"},
            allowed=sorted(LoadParams.model_fields),
        )
    found = find_tools(toolset=toolset, names=names or ())
    if category is not None:
        filed = order_by_need(find_category(toolset=toolset, category=category))
        found += [tool for tool in filed if tool not in found]
    loading = load([tool.name for tool in found])
    what = category or ", ".join(tool.name for tool in found)
    return describe_loading(loading=loading, toolset=toolset, tools=found, what=what)
