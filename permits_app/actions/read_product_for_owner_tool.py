"""A read of the product for a tool that an owner wrote: through the agent's own door, with the golem's own tools.

Locks nothing; the events of the read are told as ever. Keeps `tools_app.sandbox.owner_http_call.OwnReads`.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from archetypes_app.toolset import resolve_toolset
from permits_app.actions.query import query_state
from permits_app.limits.policy import load_golem
from tools_app.core import clock
from tools_app.core.json_types import JsonObject
from tools_app.select_tool_for_venue import UnknownAction, normalize_key
from tools_app.toolkit.enums import PiTool
from tools_app.toolkit.tooldef import ForeignReadTool


def read_product_for_owner_tool(*, golem_id: UUID, query: str, venue: str, params: Mapping[str, object]) -> JsonObject:
    """The data of the answer. Raises UnknownAction for what the golem does not have, and what the read raises."""
    golem = load_golem(golem_id)
    key = normalize_key(query)
    foreign = (tool for tool in resolve_toolset(golem) if isinstance(tool, ForeignReadTool))
    if any(tool.pi_tool is PiTool.QUERY_STATE and tool.key == key for tool in foreign):
        raise UnknownAction(f"{key!r} is a tool of an owner; such a one is not read by another")
    told = query_state(golem=golem, query=key, venue=venue or None, params=params, now=clock.now())
    data: dict[str, object] = told["data"] if isinstance(told.get("data"), dict) else {"data": told.get("data")}
    return data
