"""Names in overrides and protocol lists, checked against what is registered, with the nearest names in the refusal."""

from __future__ import annotations

from collections.abc import Iterable

from archetypes_app.errors import OverrideConflict, UnknownToolName
from tools_app.toolkit.registry import REGISTRY, NameRefused, UnknownTool


def check_tool_names(names: Iterable[str]) -> tuple[str, ...]:
    """The canonical names of `names` (aliases resolved), sorted, each once. Raises UnknownToolName with suggestions."""
    canonical: set[str] = set()
    unknown: dict[str, list[str]] = {}
    for name in names:
        try:
            canonical.add(REGISTRY.get(name.strip()).name)
        except NameRefused as error:
            raise UnknownToolName(error.detail, suggestions={name: list(error.data["suggestions"])}) from None
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
