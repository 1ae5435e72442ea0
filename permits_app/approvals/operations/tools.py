"""`tools`: archetype, profiles, overrides and protocols of a live golem, when that gives it more tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction

from archetypes_app.edit_conflicts import bump_version
from archetypes_app.models import Archetype, Golem, ToolOverride, ToolProfile
from archetypes_app.toolset import read_inputs, resolve
from archetypes_app.toolset_diff import GolemEffect, ToolsetDiff, diff_toolsets, record_change
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from tools_app.core.stored_json import read_stored
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.enums import RiskTier


@dataclass(frozen=True, slots=True)
class ToolSources:
    """Where a golem's tools come from: names of archetype and profiles, protocols, and its own overrides by tool."""

    archetype: str
    profiles: list[str]
    allowed_protocols: list[str]
    overrides: dict[str, str]


@dataclass(frozen=True, slots=True)
class _ToolsChange:
    """What was asked for, as its request keeps it."""

    before: ToolSources
    after: ToolSources


class ChangeTools:
    """`arguments`: what `read_tool_sources` answers, as it shall be."""

    name = "tools"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From the tools it reaches to those it would reach."""
        before, after = _read_sources(golem), read_stored(ToolSources, arguments)
        if before == after:
            raise ChangeUnchanged("its tools come from there already")
        diff = _rehearse(golem, after)
        lines = [
            BeforeAndAfter(words, was, becomes)
            for (words, was), (_, becomes) in zip(_spell(before), _spell(after), strict=True)
            if was != becomes
        ]
        lines += [BeforeAndAfter(each.name, "not there", "there", each.after) for each in diff.added]
        lines += [BeforeAndAfter(each.name, "there", "not there", each.after) for each in diff.removed]
        writes = any(each.is_write for each in diff.added)
        return Proposal(
            "Change the tools it has",
            {"before": asdict(before), "after": asdict(after)},
            tuple(lines),
            RiskTier.CRITICAL if writes else RiskTier.HIGH,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """They still come from where they came."""
        if _read_sources(golem) != read_stored(_ToolsChange, change).before:
            raise ChangeStale("its tools were changed since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Write them; appends ToolsetChanged."""
        was = read_inputs(_reload(golem))
        _write(golem, read_stored(_ToolsChange, change).after)
        fresh = _reload(golem)
        becomes = read_inputs(fresh)
        diff = diff_toolsets(resolve(was), resolve(becomes))
        bump_version(golem)
        effect = GolemEffect(fresh, was, becomes, diff)
        record_change([effect], subject=f"golem {golem.name}", actor=actor, now=now, facts={"reason": reason})
        return diff.as_dict()


def read_tool_sources(golem: Golem) -> dict[str, object]:
    """Where its tools come from, as the arguments of this operation name it."""
    return asdict(_read_sources(golem))


def _read_sources(golem: Golem) -> ToolSources:
    fresh = _reload(golem)
    return ToolSources(
        archetype=fresh.archetype.name,
        profiles=sorted(profile.name for profile in fresh.profiles.all()),
        allowed_protocols=sorted(fresh.allowed_protocols),
        overrides={row.tool_name: str(row.mode) for row in fresh.tool_overrides.all()},
    )


@retry_aborted
def _rehearse(golem: Golem, after: ToolSources) -> ToolsetDiff:
    was = read_inputs(_reload(golem))
    with transaction.atomic():
        _write(golem, after)
        becomes = read_inputs(_reload(golem))
        transaction.set_rollback(True)
    return diff_toolsets(resolve(was), resolve(becomes))


def _write(golem: Golem, after: ToolSources) -> None:
    archetype = Archetype.objects.get(name=after.archetype)
    Golem.objects.filter(pk=golem.pk).update(archetype=archetype, allowed_protocols=after.allowed_protocols)
    row = _reload(golem)
    row.profiles.set(ToolProfile.objects.filter(name__in=after.profiles))
    row.tool_overrides.exclude(tool_name__in=after.overrides).delete()
    for tool_name, mode in after.overrides.items():
        ToolOverride.objects.update_or_create(golem=row, tool_name=tool_name, defaults={"mode": mode})


def _reload(golem: Golem) -> Golem:
    return Golem.objects.select_related("archetype").get(pk=golem.pk)


def _spell(sources: ToolSources) -> list[tuple[str, str]]:
    """Each source by its name, in words."""
    overrides = ", ".join(f"{mode.lower()} {tool}" for tool, mode in sorted(sources.overrides.items()))
    return [
        ("Archetype", sources.archetype),
        ("Profiles", ", ".join(sources.profiles) or "none"),
        ("Allowed protocols", ", ".join(sources.allowed_protocols) or "all"),
        ("Overrides", overrides or "none"),
    ]
