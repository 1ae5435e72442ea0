"""Archetypes and toolsets as JSON-ready values: what commands print and pages draw."""

from __future__ import annotations

from collections import Counter
from typing import Any

from archetypes_app.models import Archetype
from archetypes_app.toolset import (
    list_warnings,
    read_archetype_rule,
    resolve_archetype_tools,
)
from tools_app.toolkit.enums import CapabilityTier
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.tooldef import LocalWriteTool, ReadTool, ToolDef, WriteTool


def list_archetypes() -> list[dict[str, Any]]:  # Any: JSON, as agents and pages see it
    """Every archetype with whom it asks and how many tools it resolves to, every requirement taken for granted."""
    rows = Archetype.objects.prefetch_related("profiles", "delegates_to", "tool_overrides").select_related("owner")
    return [describe_row(row) for row in rows.order_by("name")]


def describe_row(archetype: Archetype) -> dict[str, object]:
    """One archetype in short, with its tool counts."""
    toolset = resolve_archetype_tools(read_archetype_rule(archetype))
    return {
        "name": archetype.name,
        "category": archetype.category,
        "inference_tier": archetype.inference_tier,
        "is_builtin": archetype.is_builtin,
        "owner": str(archetype.owner) if archetype.owner_id else None,
        "is_terminal_node": archetype.is_terminal_node,
        "is_read_only": archetype.is_read_only,
        "tool_categories": sorted(archetype.tool_categories),
        "profiles": sorted(profile.name for profile in archetype.profiles.all()),
        "delegates_to": sorted(delegate.name for delegate in archetype.delegates_to.all()),
        "tools": count_tools(toolset),
    }


def count_tools(toolset: Toolset) -> dict[str, object]:
    """How many tools, by what they may do and by category."""
    kinds = Counter(name_kind(tool) for tool in toolset)
    return {
        "total": len(toolset),
        "reads": kinds["read"],
        "writes": kinds["write"],
        "local_writes": kinds["local write"],
        "privileged": kinds["privileged"],
        "by_category": dict(sorted(Counter(tool.category.value for tool in toolset).items())),
    }


def name_kind(tool: ToolDef) -> str:
    """read, write, local write or privileged."""
    if isinstance(tool, ReadTool):
        return "read"
    if tool.capability is CapabilityTier.PRIVILEGED:
        return "privileged"
    if isinstance(tool, WriteTool):
        return "write"
    if isinstance(tool, LocalWriteTool):
        return "local write"
    return tool.capability.value.lower()


def describe_tool(tool: ToolDef) -> dict[str, object]:
    """One tool's metadata, without its schema."""
    return {
        "name": tool.name,
        "kind": name_kind(tool),
        "category": tool.category.value,
        "venue": tool.venue,
        "pi_tool": str(tool.pi_tool),
        "key": tool.key,
        "risk_layer": int(tool.risk_layer),
        "budget_ms": int(tool.tick_budget),
        "requires": sorted(tool.requires),
        "chains": sorted(tool.supported_chains) if tool.supported_chains is not None else None,
        "schema_version": tool.schema_version,
        "aliases": sorted(tool.aliases),
        "summary": tool.summary,
        "source": tool.source,
    }


def explain_toolset(toolset: Toolset) -> dict[str, Any]:  # Any: JSON, as agents and pages see it
    """Every tool with whether it is in and why, the requirements that are missing, and the counts."""
    return {
        "tools": [
            {"name": name, "in": name in toolset, "reason": reason} for name, reason in sorted(toolset.reasons.items())
        ],
        "warnings": list(list_warnings(toolset)),
        "counts": count_tools(toolset),
    }
