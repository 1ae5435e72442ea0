"""Write the built-in profiles and archetypes into the database; never over an owner's edit.

A built-in row that an operator changed is left as it is and reported. Seed: 000, 001; decisions, "Profiles".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from django.db import transaction

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES, BuiltinArchetype
from archetypes_app.builtin_profiles import BUILTIN_PROFILES
from archetypes_app.models import Archetype, ToolProfile


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Names that were created, and built-in rows that differ from what this version ships."""

    created: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)


def sync_builtins() -> SyncReport:
    """Create what is missing; idempotent. Returns what was created and what differs."""
    report = SyncReport()
    with transaction.atomic():
        _sync_profiles(report)
        for builtin in BUILTIN_ARCHETYPES:
            _sync_archetype(builtin, report)
    return report


def _sync_profiles(report: SyncReport) -> None:
    for builtin in BUILTIN_PROFILES:
        categories = sorted(category.value for category in builtin.categories)
        row, is_new = ToolProfile.objects.get_or_create(
            name=builtin.name,
            defaults={
                "description": builtin.description,
                "categories": categories,
                "is_read_only": builtin.is_read_only,
                "is_builtin": True,
            },
        )
        if is_new:
            report.created.append(f"profile {builtin.name}")
        elif sorted(row.categories) != categories or row.is_read_only != builtin.is_read_only:
            report.differing.append(f"profile {builtin.name}")


def _sync_archetype(builtin: BuiltinArchetype, report: SyncReport) -> None:
    categories = sorted(category.value for category in builtin.tool_categories)
    row, is_new = Archetype.objects.get_or_create(
        name=builtin.name,
        defaults={
            "description": builtin.description,
            "category": builtin.category,
            "inference_tier": builtin.inference_tier,
            "tool_categories": categories,
            "is_terminal_node": builtin.is_terminal_node,
            "role": builtin.role,
            "safety_rules": list(builtin.safety_rules),
            "workflow": builtin.workflow,
            "output_format": builtin.output_format,
            "is_builtin": True,
        },
    )
    if is_new:
        row.profiles.set(ToolProfile.objects.filter(name__in=builtin.profiles))
        row.delegates_to.set(Archetype.objects.filter(name__in=builtin.delegates_to))
        report.created.append(f"archetype {builtin.name}")
    elif sorted(row.tool_categories) != categories or row.is_terminal_node != builtin.is_terminal_node:
        report.differing.append(f"archetype {builtin.name}")
