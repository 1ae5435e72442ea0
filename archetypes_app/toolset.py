"""resolve_toolset: archetype or profiles -> categories -> overrides -> protocols -> requirements -> Toolset.

Order of decisions, "Profiles": categories, the profile's read-only flag, exclude, include; include wins
over the profile, exclude wins over include. Seed: 000, "DECLARE, RESOLVE, ADAPT".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

from archetypes_app.builtin_profiles import CONSERVATIVE_WRITE_CATEGORIES
from archetypes_app.models import Golem, ToolProfile
from archetypes_app.models.override import OverrideMode
from tools_app.core.hashing import hash_canonical
from tools_app.toolkit.enums import Category, Phase, Requirement, RiskLayer
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool, ToolDef
from tools_app.toolkit.toolset import Toolset
from tools_app.toolkit.views import GolemView


@dataclass(frozen=True, slots=True)
class ProfileRule:
    """One profile as the resolution reads it."""

    name: str
    categories: frozenset[Category]
    is_read_only: bool


@dataclass(frozen=True, slots=True)
class ToolsetInputs:
    """Everything a toolset depends on, hashable, so that an unchanged golem costs a look-up."""

    profiles: tuple[ProfileRule, ...]
    includes: frozenset[str]
    excludes: frozenset[str]
    allowed_protocols: frozenset[str]
    requirements: frozenset[Requirement]


def resolve_toolset(golem: Golem) -> Toolset:
    """The tools `golem` has now, each with the reason it is in or out. Reads its profiles and overrides."""
    return resolve(read_inputs(golem))


def hash_toolset(toolset: Toolset) -> str:
    """A digest of tool names and schema versions: part of the policy hash, so a changed tool voids a permit."""
    return hash_canonical({tool.name: tool.schema_version for tool in toolset})


def view_golem(golem: Golem) -> GolemView:
    """What tools may know of `golem`."""
    return GolemView(
        id=golem.id,
        name=golem.name,
        address=golem.address or None,
        home_chain_id=golem.home_chain_id,
        base_asset=golem.base_asset,
        phase=Phase(golem.phase),
    )


def read_inputs(golem: Golem) -> ToolsetInputs:
    """The rows a toolset depends on, as one value."""
    own = list(golem.profiles.all())
    if own:
        rules = [_rule(profile) for profile in own]
    else:
        rules = [_rule(profile) for profile in golem.archetype.profiles.all()]
        if golem.archetype.tool_categories:
            categories = frozenset(Category(c) for c in golem.archetype.tool_categories) | {Category.DATA}
            rules.append(ProfileRule(f"archetype {golem.archetype.name}", categories, False))
    overrides = [*golem.archetype.tool_overrides.all(), *golem.tool_overrides.all()]
    by_mode = {mode: frozenset(o.tool_name for o in overrides if o.mode == mode) for mode in OverrideMode.values}
    return ToolsetInputs(
        profiles=tuple(rules),
        includes=by_mode[OverrideMode.INCLUDE],
        excludes=by_mode[OverrideMode.EXCLUDE],
        allowed_protocols=frozenset(golem.allowed_protocols),
        requirements=_present_requirements(golem),
    )


@lru_cache(maxsize=512)
def resolve(inputs: ToolsetInputs) -> Toolset:
    """The toolset of `inputs` over the frozen registry; pure."""
    everything = tuple(REGISTRY)
    toolset = Toolset.of((), "")
    reasons = {tool.name: "no profile holds its category" for tool in everything}
    for rule in inputs.profiles:
        toolset = toolset.with_tools(_tools_of(rule, everything), reason=f"profile {rule.name}")
    toolset = Toolset(tools=toolset.tools, reasons={**reasons, **toolset.reasons}, missing={})
    included = [tool for tool in everything if tool.name in inputs.includes]
    toolset = toolset.with_tools(included, reason="included by an override")
    toolset = toolset.without(inputs.excludes, reason="excluded by an override")
    if inputs.allowed_protocols:
        protocols = frozenset(tool.venue for tool in everything)
        toolset = toolset.at_venues(
            inputs.allowed_protocols | _OWN_VENUES, protocols, reason="its protocol is not allowed for this golem"
        )
    return toolset.meeting(inputs.requirements)


_OWN_VENUES = frozenset({"chain", "wallet", "safety", "memory", "testnet", "data", "bootstrap", "golem"})


def _rule(profile: ToolProfile) -> ProfileRule:
    categories = frozenset(Category(c) for c in profile.categories) | {Category.DATA}
    return ProfileRule(profile.name, categories, profile.is_read_only)


def _tools_of(rule: ProfileRule, everything: Sequence[ToolDef]) -> Iterable[ToolDef]:
    for tool in everything:
        if tool.category not in rule.categories or tool.category is Category.CODING:
            continue
        if rule.is_read_only and not isinstance(tool, ReadTool):
            continue
        if rule.name == "conservative" and not _is_conservative(tool):
            continue
        yield tool


def _is_conservative(tool: ToolDef) -> bool:
    if isinstance(tool, ReadTool):
        return True
    return tool.category in CONSERVATIVE_WRITE_CATEGORIES and tool.risk_layer < RiskLayer.UNBOUNDED


def _present_requirements(golem: Golem) -> frozenset[Requirement]:
    present = set()
    if golem.address:
        present.add(Requirement.WALLET)
    if golem.is_memory_enabled and settings.GOLEM_MEMORY_ENABLED:
        present.add(Requirement.MEMORY)
    return frozenset(present)
