"""Import archetypes from TOML: all files of one import are checked together, and all of them are written or none.

One transaction; nothing is locked but the rows replaced. Every golem whose tools change gets a ToolsetChanged entry in
its audit log. Raises ArchetypeNotFound, InvalidToml, ArchetypeExists, UnknownCategory, UnknownProfile, UnknownToolName,
OverrideConflict and the delegation errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.db import transaction

from archetypes_app.archetype_toml import MOST_BYTES, ArchetypeFile, parse_archetype
from archetypes_app.delegation import Node
from archetypes_app.edit_conflicts import bump_version
from archetypes_app.errors import ArchetypeExists, ArchetypeNotFound, InvalidToml
from archetypes_app.models import Archetype, ToolOverride, ToolProfile
from archetypes_app.models.archetype import ArchetypeCategory
from archetypes_app.models.override import OverrideMode
from archetypes_app.profiles import find_profiles
from archetypes_app.stored_delegation_graph import check_proposal, make_node
from archetypes_app.tool_names import check_overrides
from archetypes_app.toolset import ArchetypeRule, make_profile_rule
from archetypes_app.toolset_diff import list_golems_of_archetype, preview_effect, record_change, replace_archetype
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.enums import Category

MOST_FILES: Final = 500


@dataclass(frozen=True, slots=True)
class _Checked:
    """A file whose names all exist: canonical tool names, profile rows, and the rule they make."""

    file: ArchetypeFile
    profiles: Sequence[ToolProfile]
    includes: tuple[str, ...]
    excludes: tuple[str, ...]

    @property
    def rule(self) -> ArchetypeRule:
        return ArchetypeRule(
            name=self.file.name,
            categories=frozenset(Category(name) for name in self.file.tool_categories),
            profiles=tuple(make_profile_rule(profile) for profile in self.profiles),
            is_read_only=self.file.is_read_only,
            keeps_local_writes=self.file.keeps_local_writes,
            includes=frozenset(self.includes),
            excludes=frozenset(self.excludes),
        )

    @property
    def node(self) -> Node:
        return make_node(self.rule, delegates_to=self.file.delegates_to, is_terminal=self.file.is_terminal)


def read_archetype_files(path: Path) -> list[ArchetypeFile]:
    """Every archetype in a file, or in the `*.toml` of a folder, by name of file.

    Raises ArchetypeNotFound, InvalidToml, UnknownCategory, and ArchetypeExists for one name in two files.
    """
    if path.is_dir():
        paths = sorted(path.glob("*.toml"))
    else:
        paths = [path] if path.is_file() else []
    if not paths:
        raise ArchetypeNotFound(f"there is no archetype at {str(path)!r}", path=str(path))
    if len(paths) > MOST_FILES:
        raise InvalidToml(f"{path} holds {len(paths)} files; at most {MOST_FILES} are imported at once")
    found: dict[str, str] = {}
    files = []
    for each in paths:
        with each.open("rb") as handle:
            # One byte more than allowed is enough to know, so a huge file is never read.
            raw = handle.read(MOST_BYTES + 1)
        file = parse_archetype(raw, source=each.name, categories=list(ArchetypeCategory.values))
        if file.name in found:
            raise ArchetypeExists(
                f"{found[file.name]} and {each.name} both hold the archetype {file.name!r}", archetype=file.name
            )
        found[file.name] = each.name
        files.append(file)
    return files


@retry_aborted
def import_archetypes(
    *, files: Sequence[ArchetypeFile], owner: object, actor: str, now: datetime, replace_existing: bool = False
) -> tuple[Archetype, ...]:
    """Write `files` as archetypes of `owner` (None: shared, for operators). Built-in rows are never replaced.

    With `replace_existing` a row of the same name and owner is overwritten.
    """
    with transaction.atomic():
        existing = _lock_existing(files, owner, replace_existing)
        checked = [_check_names(file) for file in files]
        check_proposal([each.node for each in checked])
        effects = [
            effect
            for each in checked
            if each.file.name in existing
            for effect in preview_effect(
                replace_archetype(each.rule), list_golems_of_archetype(existing[each.file.name])
            )
        ]
        rows = {each.file.name: _write_columns(each.file, existing.get(each.file.name), owner) for each in checked}
        for each in checked:
            _write_relations(each, rows[each.file.name])
        record_change(effects, subject="import of archetypes", actor=actor, now=now)
    return tuple(rows.values())


def _lock_existing(
    files: Sequence[ArchetypeFile],
    owner: Any,  # Any: which model accounts have is a setting
    replace_existing: bool,
) -> dict[str, Archetype]:
    names = [file.name for file in files]
    rows = {
        row.name: row for row in Archetype.objects.select_for_update(no_key=True, of=("self",)).filter(name__in=names)
    }
    for name, row in sorted(rows.items()):
        is_theirs = row.owner_id == (owner.pk if owner is not None else None)
        if row.is_builtin or not is_theirs or not replace_existing:
            why = "it is built in" if row.is_builtin else "import it under another name, or ask to replace it"
            raise ArchetypeExists(f"there is an archetype {name!r} already; {why}", archetype=name)
    return rows


def _check_names(file: ArchetypeFile) -> _Checked:
    includes, excludes = check_overrides(includes=file.includes, excludes=file.excludes, subject=repr(file.name))
    return _Checked(file, find_profiles(file.profiles), includes, excludes)


def _write_columns(
    file: ArchetypeFile,
    row: Archetype | None,
    owner: Any,  # Any: which model accounts have is a setting
) -> Archetype:
    columns: dict[str, object] = {
        "description": file.description,
        "category": file.category,
        "inference_tier": file.default_tier,
        "tool_categories": sorted(file.tool_categories),
        "is_terminal_node": file.is_terminal,
        "is_read_only": file.is_read_only,
        "keeps_local_writes": file.keeps_local_writes,
        "role": file.role,
        "expertise": list(file.expertise),
        "safety_rules": list(file.safety_rules),
        "workflow": file.workflow,
        "output_format": file.output_format,
    }
    if row is None:
        return Archetype.objects.create(name=file.name, owner=owner, **columns)
    for name, value in columns.items():
        setattr(row, name, value)
    row.save()
    bump_version(row)
    return row


def _write_relations(checked: _Checked, row: Archetype) -> None:
    row.profiles.set(checked.profiles)
    row.delegates_to.set(Archetype.objects.filter(name__in=checked.file.delegates_to))
    row.tool_overrides.all().delete()
    ToolOverride.objects.bulk_create(
        ToolOverride(archetype=row, tool_name=name, mode=mode)
        for mode, names in ((OverrideMode.INCLUDE, checked.includes), (OverrideMode.EXCLUDE, checked.excludes))
        for name in names
    )
