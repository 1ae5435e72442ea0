"""The rows a golem's toolset is made of, read with the golem or when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from archetypes_app.models import DefinitionApproval, Golem, ServiceAccess, ToolOverride, ToolProfile
from tools_app.toolkit.enums import ServiceNeed
from tools_app.toolkit.registry import REGISTRY


@dataclass(frozen=True, slots=True)
class ToolsetRows:
    """A golem's own profiles and overrides, its archetype's, the approvals of tools that still hold, and the names of
    the services its owner switched on.

    `archetype_profiles` is empty where the golem has profiles of its own: those take their place.
    """

    profiles: Sequence[ToolProfile]
    overrides: Sequence[ToolOverride]
    archetype_profiles: Sequence[ToolProfile]
    archetype_overrides: Sequence[ToolOverride]
    approvals: Sequence[DefinitionApproval]
    services: Sequence[str] = ()


def read_rows(golem: Golem) -> ToolsetRows:
    """Those that were read with `golem`, else those of now."""
    if golem.toolset_rows is not None:
        rows: ToolsetRows = golem.toolset_rows
        return rows
    archetype, profiles = golem.archetype, list(golem.profiles.all())
    return ToolsetRows(
        profiles=profiles,
        overrides=list(golem.tool_overrides.all()),
        archetype_profiles=[] if profiles else list(archetype.profiles.all()),
        archetype_overrides=list(archetype.tool_overrides.all()),
        approvals=list(golem.definition_approvals.filter(revoked_at__isnull=True).select_related("definition")),
        services=read_services(golem) if has_service_tools() else (),
    )


def read_services(golem: Golem) -> Sequence[str]:
    """Names of the services that its owner switched on."""
    return list(ServiceAccess.objects.filter(person=golem.owner_id).values_list("service", flat=True))


@cache
def has_service_tools() -> bool:
    """Whether some registered tool is nothing without a service; the registry is frozen."""
    return any(isinstance(need, ServiceNeed) for tool in REGISTRY for need in tool.requires)
