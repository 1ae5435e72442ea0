"""Adds the next call to a refusal, from the caller's own tools and body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from django.db import DatabaseError, InterfaceError
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from archetypes_app.tool_loading_queries import TIER_QUERIES
from golem_project.pi.authentication import Agent
from golem_project.pi.definitions import define_tools
from golem_project.pi.next_call import teach
from tools_app.adapters import normalize_key
from tools_app.core.errors import GolemError, Recovery
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.schema import json_schema
from tools_app.toolkit.tooldef import ToolDef
from tools_app.toolkit.toolset import Toolset

_PREFIX: Final = "/api/v1/pi/"
_TEACHES: Final = frozenset(
    {"INVALID_PARAMS", "UNKNOWN_ACTION", "UNKNOWN_VENUE", "VENUE_REQUIRED", "AMBIGUOUS_PARAMS", "CATEGORY_UNKNOWN"}
)


def teach_caller(problem: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """`missing`, `extra`, `fill` and `next_call` for a refusal that another body would pass; nothing for others."""
    tool = request.path.removeprefix(_PREFIX)
    if problem["code"] not in _TEACHES or problem["recovery"] != Recovery.FIX_PARAMS or request.method != "POST":
        return {}
    if not request.path.startswith(_PREFIX) or tool not in list(PiTool):
        return {}
    try:
        # A caller that was refused before it was known, or a database that went away since, is taught nothing.
        agent, body = request.user, request.data
        if not isinstance(agent, Agent):
            return {}
        shown = agent.shelf.shown
    except (APIException, GolemError, DatabaseError, InterfaceError):
        return {}
    if not isinstance(body, Mapping):
        return {}
    pi_tool = PiTool(tool)
    words = agent.shelf.list_words(pi_tool)
    known = (*shown, *(() if agent.shelf.unseen is None else (agent.shelf.unseen,)))
    members = teach(problem, tool=tool, body=body, words=words, describe=partial(_describe, known, shown, pi_tool))
    if problem["code"] == "UNKNOWN_ACTION" and agent.key.most_tools is not None:
        # What is not loaded is found by browsing; hundreds of words in a refusal help nobody.
        members["available"] = words
    return members


def _describe(
    known: Iterable[ToolDef], shown: Toolset, pi_tool: PiTool, key: str, venue: str | None
) -> Mapping[str, Any] | None:
    """The schema of what `key` takes; of the Pi tool itself where `key` is empty."""
    if not key:
        defined = define_tools(toolset=shown, permit_ttl_seconds=60)
        free = (PiTool.PREVIEW_ACTION, PiTool.QUERY_STATE)
        return next((tool.parameters for tool in defined if tool.name is pi_tool and pi_tool not in free), None)
    word = normalize_key(key)
    if pi_tool is PiTool.QUERY_STATE:
        for query in TIER_QUERIES:
            if query.key == word:
                return json_schema(query.params_model)
    places = [None] if venue is None else [normalize_key(str(venue)), None]
    for place in places:
        for tool in known:
            if tool.pi_tool is pi_tool and tool.key == word and place in (None, tool.venue):
                return tool.schema
    return None
