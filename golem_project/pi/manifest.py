"""Builds the manifest: a golem's Pi tools, the actions and queries behind them, and a hash of all.

It is made from the golem's toolset alone, so two golems with the same tools and permit life have the same tools part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from archetypes_app.browse_and_load_tools import TIER_QUERIES
from archetypes_app.tool_loadout import Loadout
from golem_project.pi.annotations import annotate, annotate_pi_tool
from golem_project.pi.definitions import MORE_TOOLS, define_tools
from golem_project.pi.json_schema import ReadOnlySchema, Schema
from golem_project.pi.pi_tool import PiToolDef
from golem_project.pi.provider_tool_formats import Dialect, render_tools
from permits_app.actions.query import OWN_QUERIES, OWN_VENUE
from tools_app.core.hashing import hash_canonical
from tools_app.toolkit.enums import CapabilityTier, Need, PiTool
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import json_schema
from tools_app.toolkit.tooldef import ForeignTool, LocalWriteTool, ReadTool, ToolDef, WriteTool
from tools_app.toolkit.views import GolemView

MANIFEST_VERSION = 1
TOOL_PATH = "/api/v1/pi/{name}"
NO_PARAMETERS: Schema = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest's body and the entity tag that names exactly it."""

    body: dict[str, Any]  # Any: the JSON that is answered
    etag: str


def build_manifest(
    *,
    golem: GolemView,
    toolset: Toolset,
    permit_ttl_seconds: int,
    has_memory: bool = True,
    dialect: Dialect | None = None,
    loadout: Loadout | None = None,
) -> Manifest:
    """The manifest of `golem` over what `loadout` shows of `toolset`, which is all of it without one.

    With a `dialect`, its tools in that provider's shape and nothing a provider ignores. The answer is shared between
    calls of the same golem: read it, do not change it.
    """
    missing = tuple(sorted(toolset.missing.items()))
    return _build(
        golem, tuple(toolset), missing, permit_ttl_seconds, has_memory, dialect, loadout or Loadout(most=None)
    )


# An agent reads its manifest at every start and it changes when its owner changes the golem; a tool is one object, of
# the frozen registry or of one approved definition.
@lru_cache(maxsize=128)
def _build(
    golem: GolemView,
    held: tuple[ToolDef, ...],
    missing: tuple[tuple[str, Need], ...],
    permit_ttl_seconds: int,
    has_memory: bool,
    dialect: Dialect | None,
    loadout: Loadout,
) -> Manifest:
    everything = Toolset(tools={tool.name: tool for tool in held}, reasons={}, missing=dict(missing))
    toolset = loadout.cut(everything)
    tools = define_tools(
        toolset=toolset,
        permit_ttl_seconds=permit_ttl_seconds,
        has_memory=has_memory,
        has_writes=everything.has_writes,
        has_more=len(toolset) < len(everything),
    )
    body: dict[str, object] = {
        "manifest_version": MANIFEST_VERSION,
        "schema_hash": hash_schemas(tools),
        "golem": {
            "golem_id": str(golem.id),
            "name": golem.name,
            "phase": golem.phase.value,
            "home_chain_id": golem.home_chain_id,
            "chain_ids": list(list_chains(golem)),
            "permit_ttl_seconds": permit_ttl_seconds,
        },
        "tiers": {
            "most_tools": loadout.most,
            "core": list(loadout.core),
            "loaded": list(loadout.loaded),
            "in_toolset": len(everything),
        },
        "more_tools": MORE_TOOLS if len(toolset) < len(everything) else None,
    }
    if dialect is not None:
        body.update(dialect=dialect.value, tools=render_tools(dialect, tools))
        if dialect is not Dialect.PI:
            # The provider's shape has no place for them; they belong into a client's own prompt.
            body.update(guidelines=[line for tool in tools for line in _write_guidelines(tool)])
    else:
        body.update(
            tools=[_as_json(tool) for tool in tools],
            actions=[describe_route(tool) for tool in _sorted(toolset) if tool.pi_tool is PiTool.PREVIEW_ACTION],
            queries=_own_queries()
            + [describe_route(tool) for tool in _sorted(toolset) if tool.pi_tool is not PiTool.PREVIEW_ACTION],
            left_out=[_describe_missing(name, requirement) for name, requirement in missing],
        )
    return Manifest(body=body, etag=f'"{hash_canonical(_exact(body))[2:34]}"')


def _write_guidelines(tool: PiToolDef) -> list[str]:
    """What to heed when calling `tool`, each line with its name, as it stands among those of the others."""
    lines = [line.as_sentence() for line in tool.guidelines]
    return [line if tool.name in line else f"{tool.name}: {line}" for line in lines]


def hash_schemas(tools: Iterable[PiToolDef]) -> str:
    """A digest of names, versions and parameters: it moves whenever a call that was valid may no longer be."""
    return hash_canonical(
        {str(tool.name): {"version": tool.schema_version, "parameters": _exact(tool.parameters)} for tool in tools}
    )


def hash_schema(schema: Mapping[str, object]) -> str:
    """A digest of one tool's parameters: what of them decides whether a call is valid, and not how they are told."""
    return hash_canonical(_exact(without_words(schema)))


def describe_route(tool: ToolDef) -> Schema:
    """One action or query with the schema of its own parameters, for clients that show one form at a time."""
    word = "action_type" if tool.pi_tool is PiTool.PREVIEW_ACTION else "query"
    route: dict[str, object] = {
        word: tool.key,
        "venue": tool.venue,
        "pi_tool": str(tool.pi_tool),
        "tool": tool.name,
        "category": tool.category.value,
        "capability": tool.capability.value,
        "summary": tool.summary,
        "description": tool.description,
        "snippet": tool.snippet,
        "guidelines": list(tool.guidelines),
        "progress_steps": list(tool.progress_steps),
        "tick_budget": tool.tick_budget.name.lower(),
        "budget_ms": int(tool.tick_budget),
        "sprite_trigger": tool.sprite_trigger.value,
        "chains": sorted(tool.supported_chains) if tool.supported_chains is not None else None,
        "schema_version": tool.schema_version,
        "annotations": annotate(tool),
        "parameters": tool.schema,
    }
    if tool.old_shapes:
        shapes = [
            {"schema_version": shape.schema_version, "served_until": shape.served_until.isoformat()}
            for shape in tool.old_shapes
        ]
        route |= {"old_shapes": shapes}
    if isinstance(tool, ForeignTool):
        route |= {"definition_hash": tool.pinned_hash}
    if isinstance(tool, WriteTool | LocalWriteTool):
        route |= {
            "risk_layer": int(tool.risk_layer),
            "action_class": tool.action_class.value if tool.action_class else None,
            "is_transaction": isinstance(tool, WriteTool),
            "needs_owner_approval": tool.capability is CapabilityTier.PRIVILEGED,
        }
    return route


def _as_json(tool: PiToolDef) -> dict[str, object]:
    return {
        "name": str(tool.name),
        "label": tool.label,
        "description": tool.description,
        "snippet": tool.snippet,
        "guidelines": [{"text": line.text, "phases": [p.value for p in line.phases]} for line in tool.guidelines],
        "parameters": tool.parameters,
        "schema_version": tool.schema_version,
        "annotations": annotate_pi_tool(tool),
        "scope": str(tool.scope),
        "is_write": tool.is_write,
        "method": "POST",
        "path": TOOL_PATH.format(name=tool.name),
    }


def _own_queries() -> list[dict[str, object]]:
    own = [(query.key, query.summary, NO_PARAMETERS) for query in OWN_QUERIES]
    tiers = [(query.key, query.summary, json_schema(query.params_model)) for query in TIER_QUERIES]
    return [
        {
            "query": key,
            "venue": OWN_VENUE,
            "pi_tool": str(PiTool.QUERY_STATE),
            "summary": summary,
            "parameters": parameters,
        }
        for key, summary, parameters in (*own, *tiers)
    ]


def _describe_missing(name: str, requirement: Need) -> dict[str, str]:
    """A tool that the golem's profile holds but whose requirement is not set up, with what is missing."""
    tool = REGISTRY.get(name)
    return {
        "tool": name,
        "pi_tool": str(tool.pi_tool),
        "key": tool.key,
        "venue": tool.venue,
        "needs": requirement.value,
        "warning": f"left out: it needs {requirement.value}, which is not set up for this golem",
    }


def _sorted(toolset: Toolset) -> list[ToolDef]:
    kinds = (ReadTool, WriteTool, LocalWriteTool)
    return sorted((tool for tool in toolset if isinstance(tool, kinds)), key=lambda t: (t.pi_tool, t.key, t.venue))


def without_words(schema: ReadOnlySchema) -> Schema:
    """`schema` without what only explains it."""
    # Under `properties` such a name is a parameter's own.
    return {
        name: {key: _without_words(each) for key, each in value.items()}
        if name in ("properties", "$defs") and isinstance(value, Mapping)
        else _without_words(value)
        for name, value in schema.items()
        if name not in ("description", "title", "examples")
    }


def _without_words(part: object) -> object:
    if isinstance(part, list):
        return [_without_words(each) for each in part]
    return without_words(part) if isinstance(part, Mapping) else part


def _exact(value: Any) -> Any:  # Any: JSON, of which the same kind comes back
    """`value` with fractions as text: canonical JSON has no exact ones."""
    if isinstance(value, float):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _exact(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(member) for member in value]
    return value
