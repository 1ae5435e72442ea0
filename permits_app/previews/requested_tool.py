"""Finds the tool that an agent means, and its parameters, from the words it sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from permits_app.previews.request_words import read_params
from tools_app import runner
from tools_app.select_tool_for_venue import resolve_action
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.retired_parameters import renew_params
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool


@dataclass(frozen=True, slots=True)
class RequestedTool:
    """A tool and its parameters, defaults filled in; `given` are the names of those the agent wrote itself."""

    tool: WriteTool | LocalWriteTool
    params: dict[str, object]
    given: frozenset[str]


def resolve_asked(*, body: Mapping[str, object], toolset: Toolset, now: datetime) -> RequestedTool:
    """Find the tool of `toolset` and check its parameters. Raises UnknownAction, InvalidParams, SchemaRetired."""
    venue = body.get("venue")
    tool = resolve_action(
        pi_tool=PiTool.PREVIEW_ACTION,
        key=str(body.get("action_type", "")),
        venue=str(venue) if venue is not None else None,
        toolset=toolset,
        known=REGISTRY,
    )
    if not isinstance(tool, WriteTool | LocalWriteTool):
        raise TypeError(f"{tool.name} is routed as a write but is none")
    params = renew_params(tool=tool, params=read_params(body), now=now)
    given = frozenset(name for name, value in params.items() if value is not None)
    return RequestedTool(tool, runner.check_params(tool=tool, params=params), given)
