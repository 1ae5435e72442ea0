"""Archetypes and toolsets as JSON-ready values: what commands print and pages draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass

from archetypes_app.models import Archetype
from archetypes_app.toolset import (
    list_warnings,
    read_archetype_rule,
    resolve_archetype_tools,
)
from tools_app.toolkit.enums import CapabilityTier
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.tooldef import LocalWriteTool, ReadTool, ToolDef, WriteTool


@dataclass(frozen=True, slots=True)
class ToolCounts:
    """How many tools there are, by what they may do and by category."""

    total: int
    reads: int
    writes: int
    local_writes: int
    privileged: int
    by_category: dict[str, int]


@dataclass(frozen=True, slots=True)
class ArchetypeSummary:
    """One archetype in short."""

    name: str
    category: str
    inference_tier: str
    is_builtin: bool
    owner: str | None
    is_terminal_node: bool
    is_read_only: bool
    tool_categories: list[str]
    profiles: list[str]
    delegates_to: list[str]
    tools: ToolCounts

    def as_json(self) -> dict[str, object]:
        """Return the members in their order."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ToolSummary:
    """One tool's metadata, without its schema."""

    name: str
    kind: str
    category: str
    venue: str
    pi_tool: str
    key: str
    risk_layer: int
    budget_ms: int
    requires: list[str]
    chains: list[int] | None
    schema_version: int
    aliases: list[str]
    summary: str
    source: str

    def as_json(self) -> dict[str, object]:
        """Return the members in their order."""
        return asdict(self)


def list_archetypes() -> list[ArchetypeSummary]:
    """Every archetype with whom it asks and how many tools it resolves to, every requirement taken for granted."""
    rows = Archetype.objects.prefetch_related("profiles", "delegates_to", "tool_overrides").select_related("owner")
    return [describe_row(row) for row in rows.order_by("name")]


def describe_row(archetype: Archetype) -> ArchetypeSummary:
    """One archetype in short, with its tool counts."""
    toolset = resolve_archetype_tools(read_archetype_rule(archetype))
    return ArchetypeSummary(
        name=archetype.name,
        category=archetype.category,
        inference_tier=archetype.inference_tier,
        is_builtin=archetype.is_builtin,
        owner=str(archetype.owner) if archetype.owner_id else None,
        is_terminal_node=archetype.is_terminal_node,
        is_read_only=archetype.is_read_only,
        tool_categories=sorted(archetype.tool_categories),
        profiles=sorted(profile.name for profile in archetype.profiles.all()),
        delegates_to=sorted(delegate.name for delegate in archetype.delegates_to.all()),
        tools=count_tools(toolset),
    )


def count_tools(toolset: Toolset) -> ToolCounts:
    """How many tools, by what they may do and by category."""
    kinds = Counter(name_kind(tool) for tool in toolset)
    return ToolCounts(
        total=len(toolset),
        reads=kinds["read"],
        writes=kinds["write"],
        local_writes=kinds["local write"],
        privileged=kinds["privileged"],
        by_category=dict(sorted(Counter(tool.category.value for tool in toolset).items())),
    )


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


@dataclass(frozen=True, slots=True)
class ToolReason:
    """Whether a golem has a tool, and why."""

    name: str
    is_in: bool
    reason: str
    source: str

    def as_json(self) -> dict[str, object]:
        """Return the members as the command prints them."""
        return {"name": self.name, "in": self.is_in, "reason": self.reason, "source": self.source}


@dataclass(frozen=True, slots=True)
class ToolsetExplanation:
    """Every tool with whether it is in and why, the requirements that are missing, and the counts."""

    tools: tuple[ToolReason, ...]
    warnings: tuple[str, ...]
    counts: ToolCounts

    def as_json(self) -> dict[str, object]:
        """Return the members as the command prints them."""
        return {
            "tools": [each.as_json() for each in self.tools],
            "warnings": list(self.warnings),
            "counts": asdict(self.counts),
        }


def explain_toolset(toolset: Toolset, *, place: Callable[[str], str]) -> ToolsetExplanation:
    """Explain each tool of `toolset`; `place` says where the tool of a name is written."""
    return ToolsetExplanation(
        tools=tuple(
            ToolReason(name, name in toolset, reason, place(name)) for name, reason in sorted(toolset.reasons.items())
        ),
        warnings=tuple(list_warnings(toolset)),
        counts=count_tools(toolset),
    )


def describe_tool(tool: ToolDef) -> ToolSummary:
    """One tool's metadata, without its schema."""
    return ToolSummary(
        name=tool.name,
        kind=name_kind(tool),
        category=tool.category.value,
        venue=tool.venue,
        pi_tool=str(tool.pi_tool),
        key=tool.key,
        risk_layer=int(tool.risk_layer),
        budget_ms=int(tool.tick_budget),
        requires=[str(need) for need in sorted(tool.requires)],
        chains=sorted(tool.supported_chains) if tool.supported_chains is not None else None,
        schema_version=tool.schema_version,
        aliases=sorted(tool.aliases),
        summary=tool.summary,
        source=tool.source,
    )
