"""Names in overrides and protocol lists, checked against what is registered, with the nearest names in the refusal."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from archetypes_app.errors import OverrideConflict, UnknownProtocol, UnknownToolName
from tools_app.toolkit.registry import REGISTRY, UnknownTool


def check_tool_names(names: Iterable[str]) -> tuple[str, ...]:
    """The canonical names of `names` (aliases resolved), sorted, each once. Raises UnknownToolName with suggestions."""
    canonical: set[str] = set()
    unknown: dict[str, list[str]] = {}
    for name in names:
        try:
            canonical.add(REGISTRY.get(name.strip()).name)
        except UnknownTool as error:
            unknown[name] = list(error.data["suggestions"])
    if unknown:
        words = [
            f"{name!r}" + (f" (did you mean {', '.join(near)}?)" if near else "") for name, near in unknown.items()
        ]
        raise UnknownToolName(f"no tool is called {'; '.join(words)}", suggestions=unknown)
    return tuple(sorted(canonical))


def check_overrides(
    *, includes: Iterable[str], excludes: Iterable[str], subject: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Canonical includes and excludes of one archetype or golem. Raises UnknownToolName, OverrideConflict."""
    included, excluded = check_tool_names(includes), check_tool_names(excludes)
    both = sorted(set(included) & set(excluded))
    if both:
        raise OverrideConflict(f"{subject} both includes and excludes {', '.join(both)}", tools=both)
    return included, excluded


def check_protocols(names: Iterable[str], *, protocols: frozenset[str]) -> tuple[str, ...]:
    """Allowed protocols, sorted, each once. `protocols` are those with tools. Raises UnknownProtocol."""
    wanted = sorted({name.strip().lower() for name in names})
    unknown = [name for name in wanted if name not in protocols]
    if unknown:
        near = {name: difflib.get_close_matches(name, sorted(protocols), n=3) for name in unknown}
        raise UnknownProtocol(f"no tool belongs to {', '.join(unknown)}", suggestions=near, known=sorted(protocols))
    return tuple(wanted)


def _name_with_near(name: str, near: list[str]) -> str:
    return f"{name!r}, did you mean {' or '.join(near)}?" if near else repr(name)
