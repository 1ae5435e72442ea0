"""Export archetypes as TOML, one file each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from archetypes_app.archetype_toml import ArchetypeFile, render_archetype
from archetypes_app.errors import ArchetypeNotFound
from archetypes_app.models import Archetype
from archetypes_app.toolset import split_overrides


def describe_archetype(archetype: Archetype) -> ArchetypeFile:
    """The row and its relations as one file says them."""
    includes, excludes = split_overrides(archetype.tool_overrides.all())
    return ArchetypeFile(
        name=archetype.name,
        category=archetype.category,
        description=archetype.description,
        default_tier=archetype.inference_tier,
        tool_categories=tuple(sorted(archetype.tool_categories)),
        profiles=tuple(sorted(profile.name for profile in archetype.profiles.all())),
        delegates_to=tuple(sorted(delegate.name for delegate in archetype.delegates_to.all())),
        is_terminal=archetype.is_terminal_node,
        is_read_only=archetype.is_read_only,
        keeps_local_writes=archetype.keeps_local_writes,
        role=archetype.role,
        expertise=tuple(archetype.expertise),
        safety_rules=tuple(archetype.safety_rules),
        workflow=archetype.workflow,
        output_format=archetype.output_format,
        includes=tuple(sorted(includes)),
        excludes=tuple(sorted(excludes)),
    )


def export_archetypes(*, folder: Path, names: Iterable[str] = ()) -> list[Path]:
    """Write `<name>.toml` of every archetype, or of those named, into `folder`, which is made when it is missing.

    Raises ArchetypeNotFound before anything is written.
    """
    wanted = sorted(set(names))
    rows = Archetype.objects.prefetch_related("profiles", "delegates_to", "tool_overrides").order_by("name")
    if wanted:
        rows = rows.filter(name__in=wanted)
        unknown = sorted(set(wanted) - {row.name for row in rows})
        if unknown:
            raise ArchetypeNotFound(f"there is no archetype called {', '.join(map(repr, unknown))}", names=unknown)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for row in rows:
        path = folder / f"{row.name}.toml"
        path.write_text(render_archetype(describe_archetype(row)), encoding="utf-8")
        written.append(path)
    return written
