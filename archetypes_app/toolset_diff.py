"""Computes which tools a golem gains or loses by a change of archetype, profile, override or protocol.

Pure on ToolsetInputs but for finding the golems a change touches and writing their audit entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q, QuerySet

from archetypes_app.models import Archetype, Golem, ToolProfile
from archetypes_app.toolset import ArchetypeRule, ProfileRule, ToolsetInputs, read_inputs, resolve
from tools_app.core import audit_log
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.golem_toolset import Toolset

Change = Callable[[ToolsetInputs], ToolsetInputs]
"""A proposal: the inputs a golem would have."""


@dataclass(frozen=True, slots=True)
class ToolChange:
    """One tool that comes, goes, or stays for another reason."""

    name: str
    category: str
    is_write: bool
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ToolsetDiff:
    """Tools that come and go, and those that stay in or out for another reason. Each in order of name."""

    added: tuple[ToolChange, ...] = ()
    removed: tuple[ToolChange, ...] = ()
    explained: tuple[ToolChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the reachable tools stay the same."""
        return not (self.added or self.removed)

    def as_dict(self) -> JsonObject:
        """JSON-ready names, as the audit log keeps them."""
        return {"added": [each.name for each in self.added], "removed": [each.name for each in self.removed]}


@dataclass(frozen=True, slots=True)
class GolemEffect:
    """What a proposal does to one golem."""

    golem: Golem
    before: ToolsetInputs
    after: ToolsetInputs
    diff: ToolsetDiff


def diff_toolsets(before: Toolset, after: Toolset) -> ToolsetDiff:
    """Compare two toolsets over the same registry."""
    added, removed, explained = [], [], []
    for name in sorted({*before.reasons, *after.reasons}):
        tool = after.tools.get(name) or before.tools.get(name)
        was, becomes = before.reasons.get(name, ""), after.reasons.get(name, "")
        change = ToolChange(
            name=name,
            category=tool.category.value if tool else "",
            is_write=bool(tool and tool.capability != "READ"),
            before=was,
            after=becomes,
        )
        if name in after and name not in before:
            added.append(change)
        elif name in before and name not in after:
            removed.append(change)
        elif was != becomes:
            explained.append(change)
    return ToolsetDiff(tuple(added), tuple(removed), tuple(explained))


def preview_effect(change: Change, golems: Iterable[Golem]) -> tuple[GolemEffect, ...]:
    """What `change` does to each of `golems`, those it does not touch left out. Reads rows; writes nothing."""
    effects = []
    for golem in golems:
        before = read_inputs(golem)
        after = change(before)
        if after != before:
            effects.append(GolemEffect(golem, before, after, diff_toolsets(resolve(before), resolve(after))))
    return tuple(effects)


def list_golems_of_archetype(archetype: Archetype) -> QuerySet[Golem]:
    """Every golem of this kind, whoever owns it."""
    return _with_relations(Golem.objects.filter(archetype=archetype))


def list_golems_of_profile(profile: ToolProfile) -> QuerySet[Golem]:
    """Every golem whose tools this profile may decide: its own, or its archetype's when it has none of its own."""
    return _with_relations(
        Golem.objects.filter(Q(profiles=profile) | Q(profiles__isnull=True, archetype__profiles=profile)).distinct()
    )


def replace_archetype(rule: ArchetypeRule) -> Change:
    """The proposal that a golem's archetype reads `rule`: an edit of the archetype, or another archetype."""

    def change(inputs: ToolsetInputs) -> ToolsetInputs:
        # A golem's own profiles stand in for the archetype's, which `read_inputs` then leaves out.
        return replace(inputs, archetype=replace(rule, profiles=()) if inputs.profiles else rule)

    return change


def replace_profile(name: str, rule: ProfileRule | None) -> Change:
    """The proposal that the profile stored as `name` reads `rule`; None deletes it."""

    def swap(profiles: tuple[ProfileRule, ...]) -> tuple[ProfileRule, ...]:
        kept = ((rule if profile.name == name else profile) for profile in profiles)
        return tuple(profile for profile in kept if profile is not None)

    def change(inputs: ToolsetInputs) -> ToolsetInputs:
        archetype = replace(inputs.archetype, profiles=swap(inputs.archetype.profiles))
        return replace(inputs, archetype=archetype, profiles=swap(inputs.profiles))

    return change


def replace_own(
    *,
    profiles: Iterable[ProfileRule] | None = None,
    includes: Iterable[str] | None = None,
    excludes: Iterable[str] | None = None,
    allowed_protocols: Iterable[str] | None = None,
    archetype: ArchetypeRule | None = None,
) -> Change:
    """The proposal that a golem's own profiles, overrides, protocols or archetype are these; None leaves one as it is.

    `archetype` is given with its profiles; they count only when the golem has none of its own.
    """

    def change(inputs: ToolsetInputs) -> ToolsetInputs:
        own = inputs.profiles if profiles is None else tuple(profiles)
        kind = inputs.archetype if archetype is None else archetype
        return replace(
            inputs,
            archetype=replace(kind, profiles=()) if own else kind,
            profiles=own,
            includes=inputs.includes if includes is None else frozenset(includes),
            excludes=inputs.excludes if excludes is None else frozenset(excludes),
            allowed_protocols=(inputs.allowed_protocols if allowed_protocols is None else frozenset(allowed_protocols)),
        )

    return change


def record_change(
    effects: Iterable[GolemEffect],
    *,
    subject: str,
    actor: str,
    now: datetime,
    facts: Mapping[str, object] | None = None,
) -> int:
    """Append ToolsetChanged to the audit log of every golem touched; call inside the transaction that saves.

    `subject` names what was edited, such as "profile trader". Returns how many golems were touched.
    """
    count = 0
    for effect in effects:
        audit_log.append(
            golem_id=effect.golem.pk,
            event="ToolsetChanged",
            actor=actor,
            data={"subject": subject, **effect.diff.as_dict(), **(facts or {})},
            now=now,
            heartbeat_tick=effect.golem.heartbeat_tick,
        )
        count += 1
    return count


def _with_relations(golems: QuerySet[Golem]) -> QuerySet[Golem]:
    return (
        golems.select_related("archetype")
        .prefetch_related(
            "profiles", "tool_overrides", "archetype__profiles", "archetype__tool_overrides", "archetype__delegates_to"
        )
        .order_by("name")
    )
