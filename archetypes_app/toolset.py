"""resolve_toolset: archetype or profiles -> categories -> overrides -> protocols -> requirements -> Toolset.

The order: categories, read-only flags, exclude, include; include wins over the profile, exclude
wins over include. What is not in the value does not exist for the golem.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from archetypes_app.builtin_profiles import CONSERVATIVE_WRITE_CATEGORIES
from archetypes_app.delegation import WATCHDOG
from archetypes_app.golem_setup_facts import list_every_need, list_present_requirements
from archetypes_app.models import Archetype, DefinitionApproval, Golem, ToolOverride, ToolProfile
from archetypes_app.models.override import OverrideMode
from archetypes_app.toolset_rows import read_rows
from tools_app.core.hashing import hash_canonical
from tools_app.sandbox.built_in_replacement import is_replaceable
from tools_app.sandbox.owner_tool import make_foreign_tool
from tools_app.toolkit.enums import Category, Need, Phase, RiskLayer
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import (
    ForeignCommandTool,
    ForeignReadTool,
    ForeignTool,
    LocalWriteTool,
    ReadTool,
    ToolDef,
    is_rescue,
)
from tools_app.toolkit.views import GolemView

_PROTOCOL_PACKAGE: Final = "tools_app.protocols."
_BRIDGES: Final = frozenset({"bridge", "stargate", "across", "hop"})


@dataclass(frozen=True, slots=True)
class ProfileRule:
    """One profile as the resolution reads it; `data` is in every profile."""

    name: str
    categories: frozenset[Category]
    is_read_only: bool = False
    is_conservative: bool = False


@dataclass(frozen=True, slots=True)
class ArchetypeRule:
    """One archetype as the resolution reads it. Its categories count together with its profiles."""

    name: str
    categories: frozenset[Category] = frozenset()
    profiles: tuple[ProfileRule, ...] = ()
    is_read_only: bool = False
    keeps_local_writes: bool = False
    includes: frozenset[str] = frozenset()
    excludes: frozenset[str] = frozenset()

    @property
    def bundles(self) -> tuple[ProfileRule, ...]:
        """Its profiles, and its own categories as one more."""
        if not self.categories:
            return self.profiles
        own = ProfileRule(f"archetype {self.name}", self.categories | {Category.DATA})
        return (*self.profiles, own)


@dataclass(frozen=True, slots=True)
class ToolsetInputs:
    """Everything a toolset depends on, hashable, so that an unchanged golem costs a look-up.

    `profiles`, `includes` and `excludes` are the golem's own. Its profiles, when it has any, take the place of what
    the archetype brings; the archetype's read-only flag and overrides hold all the same.
    `allowed_protocols` empty means every protocol. `brought` are tools of the owner's own, approved for this golem;
    `seen` are (name, definition) of the built-ins its owner saw; None leaves them all in, however they change.
    """

    archetype: ArchetypeRule
    profiles: tuple[ProfileRule, ...] = ()
    includes: frozenset[str] = frozenset()
    excludes: frozenset[str] = frozenset()
    allowed_protocols: frozenset[str] = frozenset()
    requirements: frozenset[Need] = field(default_factory=list_every_need)
    brought: tuple[ForeignTool, ...] = ()
    seen: frozenset[tuple[str, str]] | None = None


def resolve_toolset(golem: Golem) -> Toolset:
    """The tools `golem` has now, each with the reason it is in or out. Reads its profiles and overrides."""
    return resolve(read_inputs(golem))


def add_rescue_tools(golem: Golem, toolset: Toolset) -> Toolset:
    """`toolset` and the tools that lower a debt, whatever the profiles hold: who owes may get out.

    An archetype that only reads and an owner who excludes one by name are obeyed.
    """
    inputs = read_inputs(golem)
    barred = inputs.excludes | inputs.archetype.excludes
    found = [
        tool
        for tool in REGISTRY
        if is_rescue(tool) and tool.name not in barred and tool.requires <= inputs.requirements
    ]
    if inputs.archetype.is_read_only:
        return toolset
    return toolset.with_tools(found, reason="it lowers a debt")


def has_tool(golem: Golem, toolset: Toolset, name: str) -> bool:
    """Whether a permit for this tool may go on: the golem has it still, or it lowers a debt."""
    return name in toolset or name in add_rescue_tools(golem, toolset)


def resolve_archetype_tools(rule: ArchetypeRule) -> Toolset:
    """The tools an archetype brings by itself, every requirement taken for granted."""
    return resolve(ToolsetInputs(rule))


def cut_toolset(*, delegate: ArchetypeRule, golem: ToolsetInputs) -> Toolset:
    """A delegate's tools inside one golem: the delegate's own, cut to the golem's profile, overrides and protocols."""
    of_golem = resolve(golem)
    own = resolve(replace(golem, archetype=delegate, profiles=(), includes=frozenset(), excludes=frozenset()))
    tools = {name: tool for name, tool in own.tools.items() if name in of_golem}
    reasons = dict(own.reasons)
    for name in own.tools:
        if name not in tools:
            reasons[name] = f"the golem does not have it: {of_golem.reasons.get(name, 'it is unknown')}"
    missing = {name: needed for name, needed in own.missing.items() if name in of_golem.missing}
    return Toolset(tools=tools, reasons=reasons, missing=missing, unseen=own.unseen & of_golem.unseen)


def hash_toolset(toolset: Toolset) -> str:
    """A digest of tool names and schema versions: part of the policy hash, so a changed tool voids a permit."""
    return hash_canonical(
        {tool.name: tool.pinned_hash if isinstance(tool, ForeignTool) else tool.schema_version for tool in toolset}
    )


def list_warnings(toolset: Toolset) -> tuple[str, ...]:
    """One sentence for each requirement that is not set up, with the tools it costs."""
    by_requirement: dict[Need, list[str]] = {}
    for name, requirement in sorted(toolset.missing.items()):
        by_requirement.setdefault(requirement, []).append(name)
    return tuple(
        f"{requirement.value} is not set up, so these tools are left out: {', '.join(names)}"
        for requirement, names in sorted(by_requirement.items())
    )


def view_golem(golem: Golem) -> GolemView:
    """What tools may know of `golem`."""
    return GolemView(
        id=golem.id,
        name=golem.name,
        address=golem.address or None,
        home_chain_id=golem.home_chain_id,
        base_asset=golem.base_asset,
        phase=Phase(golem.phase),
        other_chain_ids=tuple(golem.other_chain_ids),
    )


def read_inputs(golem: Golem) -> ToolsetInputs:
    """The rows a toolset depends on, as one value."""
    rows = read_rows(golem)
    includes, excludes = split_overrides(rows.overrides)
    return ToolsetInputs(
        archetype=_make_archetype_rule(golem.archetype, rows.archetype_profiles, rows.archetype_overrides),
        profiles=tuple(make_profile_rule(profile) for profile in rows.profiles),
        includes=includes,
        excludes=excludes,
        allowed_protocols=frozenset(golem.allowed_protocols),
        requirements=list_present_requirements(golem, rows.services),
        brought=_list_brought_tools(rows.approvals),
        seen=frozenset(golem.seen_definitions.items()) if golem.seen_definitions is not None else None,
    )


def _list_brought_tools(approvals: Iterable[DefinitionApproval]) -> tuple[ForeignTool, ...]:
    # A definition that was changed since it was approved is left out.
    made = [make_foreign_tool(row.definition, approved_hash=row.definition_hash) for row in approvals]
    return tuple(sorted((tool for tool in made if tool is not None), key=lambda tool: tool.name))


def read_archetype_rule(archetype: Archetype) -> ArchetypeRule:
    """An archetype with its overrides and profiles."""
    return _make_archetype_rule(archetype, archetype.profiles.all(), archetype.tool_overrides.all())


def _make_archetype_rule(
    archetype: Archetype, profiles: Iterable[ToolProfile], overrides: Iterable[ToolOverride]
) -> ArchetypeRule:
    includes, excludes = split_overrides(overrides)
    return ArchetypeRule(
        name=archetype.name,
        categories=frozenset(Category(category) for category in archetype.tool_categories),
        profiles=tuple(make_profile_rule(profile) for profile in profiles),
        is_read_only=archetype.is_read_only,
        keeps_local_writes=archetype.keeps_local_writes,
        includes=includes,
        excludes=excludes,
    )


def make_profile_rule(profile: ToolProfile) -> ProfileRule:
    """A profile's row as the resolution reads it."""
    categories = frozenset(Category(category) for category in profile.categories) | {Category.DATA}
    return ProfileRule(profile.name, categories, profile.is_read_only, profile.is_conservative)


def split_overrides(overrides: Iterable[ToolOverride]) -> tuple[frozenset[str], frozenset[str]]:
    """Names that are included and names that are excluded."""
    rows = list(overrides)
    included = frozenset(row.tool_name for row in rows if row.mode == OverrideMode.INCLUDE)
    return included, frozenset(row.tool_name for row in rows if row.mode == OverrideMode.EXCLUDE)


@lru_cache(maxsize=512)
def resolve(inputs: ToolsetInputs) -> Toolset:
    """The toolset of `inputs` over the frozen registry; pure."""
    replaced = {
        tool.name
        for tool in inputs.brought
        if isinstance(tool, ForeignReadTool) and tool.name in REGISTRY and is_replaceable(REGISTRY.get(tool.name))
    }
    built_in = tuple(tool for tool in REGISTRY if tool.name not in replaced)
    # A built-in that came later under the same name or word wins: few let what an owner brought stand in their place.
    words, names = {(tool.pi_tool, tool.key) for tool in built_in}, {tool.name for tool in built_in}
    brought = [tool for tool in inputs.brought if (tool.pi_tool, tool.key) not in words and tool.name not in names]
    found = resolve_among((*built_in, *brought), inputs, protocols=list_protocols(REGISTRY))
    if any(tool.category is Category.CODING and not isinstance(tool, ForeignCommandTool) for tool in found):
        return found
    commands = [tool.name for tool in found if isinstance(tool, ForeignCommandTool)]
    return found.without(commands, reason="a program runs only where the golem's owner included tools for code")


def resolve_among(everything: Sequence[ToolDef], inputs: ToolsetInputs, *, protocols: frozenset[str]) -> Toolset:
    """The toolset of `inputs` among `everything`, of which the venues in `protocols` are protocols; one pass."""
    bundles = inputs.profiles or inputs.archetype.bundles
    holders = {category: [b for b in bundles if category in b.categories] for category in Category}
    tools: dict[str, ToolDef] = {}
    reasons: dict[str, str] = {}
    missing: dict[str, Need] = {}
    unseen: set[str] = set()
    for tool in everything:
        is_in, reason = _judge(tool, inputs, holders[tool.category])
        if is_in and inputs.allowed_protocols and tool.venue in protocols - inputs.allowed_protocols:
            is_in, reason = False, f"its protocol {tool.venue} is not allowed for this golem"
        if is_in and not _is_seen(tool, inputs):
            unseen.add(tool.name)
            is_in, reason = False, "its definition is newer than what the golem's owner saw"
        if is_in and not tool.requires <= inputs.requirements:
            missing[tool.name] = requirement = min(tool.requires - inputs.requirements)
            is_in, reason = False, f"needs {requirement.value}, which is not set up"
        if is_in:
            tools[tool.name] = tool
        reasons[tool.name] = reason
    return Toolset(
        tools=tools,
        reasons=reasons,
        missing=missing,
        cancels_announced=inputs.archetype.name == WATCHDOG,
        unseen=frozenset(unseen),
    )


def list_protocols(tools: Iterable[ToolDef]) -> frozenset[str]:
    """Venues that are protocols: those whose tools live in the package of protocols."""
    return frozenset(tool.venue for tool in tools if tool.handler.__module__.startswith(_PROTOCOL_PACKAGE))


def _is_seen(tool: ToolDef, inputs: ToolsetInputs) -> bool:
    """Whether the owner saw this tool as it is; what an owner brought is approved one by one, and pinned by that."""
    return inputs.seen is None or isinstance(tool, ForeignTool) or (tool.name, tool.definition_hash) in inputs.seen


def _judge(tool: ToolDef, inputs: ToolsetInputs, holders: Sequence[ProfileRule]) -> tuple[bool, str]:
    name = tool.name
    archetype = inputs.archetype
    if name in inputs.excludes:
        return False, "excluded by an override of the golem"
    if name in archetype.excludes:
        return False, f"excluded by an override of the archetype {archetype.name}"
    if name in inputs.includes:
        return True, "included by an override of the golem"
    if name in archetype.includes:
        return True, f"included by an override of the archetype {archetype.name}"
    if isinstance(tool, ForeignCommandTool):
        if archetype.is_read_only and not archetype.keeps_local_writes:
            return False, f"the archetype {archetype.name} keeps reads only"
        return True, "approved by the golem's owner"
    if not holders:
        return False, f"no profile holds the category {tool.category.value}"
    if tool.category is Category.CODING:
        return False, "a shell comes only by an owner's own include"
    if not isinstance(tool, ReadTool):
        keeps = archetype.keeps_local_writes and isinstance(tool, LocalWriteTool)
        if archetype.is_read_only and not keeps:
            return False, f"the archetype {archetype.name} keeps reads only"
        return _judge_write(tool, holders)
    return True, _name_bundles(holders)


def _judge_write(tool: ToolDef, holders: Sequence[ProfileRule]) -> tuple[bool, str]:
    willing = [rule for rule in holders if not rule.is_read_only]
    if not willing:
        return False, f"{_name_bundles(holders)} keeps reads only"
    allowing = [rule for rule in willing if not rule.is_conservative or is_conservative_write(tool)]
    if not allowing:
        return (
            False,
            f"{_name_bundles(willing)} is conservative: only plain trading, liquidity, vault, safety writes",
        )
    return True, _name_bundles(allowing)


def is_conservative_write(tool: ToolDef) -> bool:
    """Whether a conservative profile keeps this write: a plain category, no layer 3, no bridge."""
    return (
        tool.category in CONSERVATIVE_WRITE_CATEGORIES
        and tool.risk_layer < RiskLayer.UNBOUNDED
        and tool.venue not in _BRIDGES
    )


def _name_bundles(rules: Sequence[ProfileRule]) -> str:
    if len(rules) == 1:
        name = rules[0].name
        return name if name.startswith("archetype ") else f"profile {name}"
    return f"profiles {', '.join(rule.name for rule in rules)}"
