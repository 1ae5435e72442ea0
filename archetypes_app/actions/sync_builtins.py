"""Write the built-in profiles and archetypes into the database; never over somebody's edit.

Each built-in row remembers a digest of what this action last wrote. A row that still has it is brought up to date;
one that was edited is left alone and reported field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction

from archetypes_app.builtin_archetypes import BUILTIN_ARCHETYPES, BuiltinArchetype
from archetypes_app.builtin_profiles import BUILTIN_PROFILES, BuiltinProfile
from archetypes_app.models import Archetype, ToolOverride, ToolProfile
from archetypes_app.models.override import OverrideMode
from tools_app.core.hashing import hash_canonical
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.registry import REGISTRY

State = JsonObject
_UNTOUCHED = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class EditedField:
    """A field of a built-in row that was edited here. Values are JSON-ready."""

    row: str
    field: str
    here: object
    shipped: object

    def __str__(self) -> str:
        return f"{self.row}: {self.field} is {self.here!r} here, {self.shipped!r} as shipped"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Names of rows created, rows brought up to date, and fields left as they were edited here."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    differing: list[EditedField] = field(default_factory=list)


@retry_aborted
def sync_builtins() -> SyncReport:
    """Create what is missing and update what nobody edited; idempotent. Returns what was done and what differs."""
    report = SyncReport()
    with transaction.atomic():
        _sync_profiles(report)
        _sync_archetypes(report)
    return report


def _sync_profiles(report: SyncReport) -> None:
    rows = {row.name: row for row in ToolProfile.objects.filter(name__in=[each.name for each in BUILTIN_PROFILES])}
    fresh = []
    for builtin in BUILTIN_PROFILES:
        label = f"profile {builtin.name}"
        shipped = _shipped_profile(builtin)
        row = rows.get(builtin.name)
        if row is None:
            report.created.append(label)
            fresh.append(
                ToolProfile(name=builtin.name, is_builtin=True, builtin_digest=hash_canonical(shipped), **shipped)
            )
        elif _may_update(row, _profile_state(row), shipped, label, report):
            ToolProfile.objects.filter(pk=row.pk).update(
                builtin_digest=hash_canonical(shipped), version=row.version + 1, **shipped
            )
    ToolProfile.objects.bulk_create(fresh)


def _sync_archetypes(report: SyncReport) -> None:
    shipped = {builtin.name: _shipped_archetype(builtin) for builtin in BUILTIN_ARCHETYPES}
    stored = Archetype.objects.prefetch_related("profiles", "delegates_to", "tool_overrides")
    rows = {row.name: row for row in stored.filter(name__in=shipped)}
    writing = []
    for name, row in rows.items():
        if _may_update(row, _archetype_state(row), shipped[name], f"archetype {name}", report):
            Archetype.objects.filter(pk=row.pk).update(
                builtin_digest=hash_canonical(shipped[name]), version=row.version + 1, **_columns(shipped[name])
            )
            row.profiles.clear()
            row.delegates_to.clear()
            row.tool_overrides.all().delete()
            writing.append(name)
    fresh = [
        Archetype(name=name, is_builtin=True, builtin_digest=hash_canonical(state), **_columns(state))
        for name, state in shipped.items()
        if name not in rows
    ]
    rows |= {row.name: row for row in Archetype.objects.bulk_create(fresh)}
    report.created.extend(f"archetype {row.name}" for row in fresh)
    _write_relations({name: shipped[name] for name in (*writing, *(row.name for row in fresh))}, rows)


def _write_relations(states: Mapping[str, State], rows: Mapping[str, Archetype]) -> None:
    """Profiles, delegates and overrides of archetypes that have none now; one statement for each kind."""
    if not states:
        return
    profiles = dict(ToolProfile.objects.values_list("name", "pk"))
    Archetype.profiles.through.objects.bulk_create(
        Archetype.profiles.through(archetype_id=rows[name].pk, toolprofile_id=profiles[profile])
        for name, state in states.items()
        for profile in state["profiles"]
    )
    Archetype.delegates_to.through.objects.bulk_create(
        Archetype.delegates_to.through(from_archetype_id=rows[name].pk, to_archetype_id=rows[delegate].pk)
        for name, state in states.items()
        for delegate in state["delegates_to"]
    )
    ToolOverride.objects.bulk_create(
        ToolOverride(archetype=rows[name], tool_name=tool_name, mode=mode)
        for name, state in states.items()
        for mode, key in ((OverrideMode.INCLUDE, "includes"), (OverrideMode.EXCLUDE, "excludes"))
        for tool_name in state[key]
    )


def _may_update(row: Archetype | ToolProfile, here: State, shipped: State, label: str, report: SyncReport) -> bool:
    """Whether `row` is to be written: it differs, and is as the last synchronisation left it. Reports what it finds."""
    if not row.is_builtin:
        report.differing.append(EditedField(label, "is_builtin", False, True))
        return False
    if here == shipped:
        return False
    # Rows from before digests were kept count as untouched when nobody saved them after they were made.
    is_untouched = not row.builtin_digest and row.updated_at - row.created_at < _UNTOUCHED
    if is_untouched or row.builtin_digest == hash_canonical(here):
        report.updated.append(label)
        return True
    report.differing.extend(
        EditedField(label, name, here.get(name), shipped[name]) for name in shipped if here.get(name) != shipped[name]
    )
    return False


def _shipped_profile(builtin: BuiltinProfile) -> State:
    return {
        "description": builtin.description,
        "categories": sorted(category.value for category in builtin.categories),
        "is_read_only": builtin.is_read_only,
        "is_conservative": builtin.is_conservative,
    }


def _profile_state(row: ToolProfile) -> State:
    return {
        "description": row.description,
        "categories": sorted(row.categories),
        "is_read_only": row.is_read_only,
        "is_conservative": row.is_conservative,
    }


def _shipped_archetype(builtin: BuiltinArchetype) -> State:
    return {
        "description": builtin.description,
        "category": builtin.category,
        "inference_tier": builtin.inference_tier,
        "tool_categories": sorted(category.value for category in builtin.tool_categories),
        "is_terminal_node": builtin.is_terminal_node,
        "is_read_only": builtin.is_read_only,
        "keeps_local_writes": builtin.keeps_local_writes,
        "role": builtin.role,
        "expertise": list(builtin.expertise),
        "safety_rules": list(builtin.safety_rules),
        "workflow": builtin.workflow,
        "output_format": builtin.output_format,
        "profiles": sorted(builtin.profiles),
        "delegates_to": sorted(builtin.delegates_to),
        # A name no tool bears yet waits; the synchronisation after its tool arrives writes it.
        "includes": sorted(name for name in builtin.includes if name in REGISTRY),
        "excludes": [],
    }


def _archetype_state(row: Archetype) -> State:
    overrides = [(override.mode, override.tool_name) for override in row.tool_overrides.all()]
    return {
        **{name: getattr(row, name) for name in _COLUMNS if name != "expertise"},
        # Rows from before archetypes came with it were digested without.
        **({"expertise": list(row.expertise)} if row.expertise else {}),
        "tool_categories": sorted(row.tool_categories),
        "profiles": sorted(profile.name for profile in row.profiles.all()),
        "delegates_to": sorted(delegate.name for delegate in row.delegates_to.all()),
        "includes": sorted(name for mode, name in overrides if mode == OverrideMode.INCLUDE),
        "excludes": sorted(name for mode, name in overrides if mode == OverrideMode.EXCLUDE),
    }


_COLUMNS = (
    "description",
    "category",
    "inference_tier",
    "tool_categories",
    "is_terminal_node",
    "is_read_only",
    "keeps_local_writes",
    "role",
    "expertise",
    "safety_rules",
    "workflow",
    "output_format",
)


def _columns(state: Mapping[str, object]) -> State:
    return {name: state[name] for name in _COLUMNS}
