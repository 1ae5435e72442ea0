"""Composite profiles as text, a golem's effective profiles, and what the conservative one caps."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final

from django.conf import settings

from archetypes_app.errors import UnknownProfile
from archetypes_app.models import Golem, ToolProfile

CONSERVATIVE_WRITES_PER_HOUR: Final = 10
CONSERVATIVE_LEAST_TICKS: Final = 50


def parse_profiles(text: str) -> tuple[str, ...]:
    """The names in `trader,vault`, each once and in order; empty text names none. Raises UnknownProfile."""
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    find_profiles(names)
    return names


def find_profiles(names: Sequence[str]) -> list[ToolProfile]:
    """The rows of `names` in that order. Raises UnknownProfile with the nearest names."""
    rows = {profile.name: profile for profile in ToolProfile.objects.filter(name__in=names)}
    for name in names:
        if name not in rows:
            known = list(ToolProfile.objects.values_list("name", flat=True))
            near = difflib.get_close_matches(name, known, n=3)
            raise UnknownProfile(f"no tool profile is called {name!r}", suggestions=near)
    return [rows[name] for name in names]


def list_new_golem_profiles() -> list[ToolProfile]:
    """What TOOL_PROFILE or GOLEM_PROFILE gives a new golem; none when neither is set. Raises UnknownProfile."""
    return find_profiles(parse_profiles(settings.GOLEM_NEW_GOLEM_PROFILES))


def list_effective_profiles(golem: Golem) -> list[ToolProfile]:
    """The profiles that decide the golem's toolset: its own, or else its archetype's."""
    rows = golem.toolset_rows
    if rows is not None:
        return list(rows.profiles or rows.archetype_profiles)
    return list(golem.profiles.all()) or list(golem.archetype.profiles.all())


def is_conservative(golem: Golem) -> bool:
    """Whether one of the golem's effective profiles is conservative; its caps then hold for the whole golem."""
    return any(profile.is_conservative for profile in list_effective_profiles(golem))


def writes_per_hour_cap(golem: Golem) -> int | None:
    """The most writes an hour a profile allows, whatever the owner's limit; None when no profile caps them."""
    return cap_writes_per_hour(is_conservative=is_conservative(golem))


def cap_writes_per_hour(*, is_conservative: bool) -> int | None:
    """The same, for a golem whose profiles were read before."""
    return CONSERVATIVE_WRITES_PER_HOUR if is_conservative else None
