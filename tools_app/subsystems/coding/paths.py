"""A path of an agent's as names below its folder, or a refusal: nothing here touches a disk."""

from __future__ import annotations

from typing import TypeAlias

from tools_app.subsystems.coding.errors import PathRefused

Place: TypeAlias = tuple[str, ...]
"""Names below the folder, in order; empty is the folder itself."""

MOST_CHARACTERS = 1_000
_MOST_NAMES = 64


def parse_path(path: str, *, root: str) -> Place:
    """The place `path` names; relative to the folder, or absolute below `root`, which is how commands see the folder.

    Raises PathRefused for `..`, another absolute path, and characters no name has.
    """
    if len(path) > MOST_CHARACTERS or any(ord(character) < 32 or character == "\x7f" for character in path):
        raise PathRefused("a path is at most 1,000 characters and has no control characters")
    rest = path
    if path.startswith("/"):
        base = root.rstrip("/")
        if path != base and not path.startswith(f"{base}/"):
            raise PathRefused(f"only paths below {base} are reached", path=path)
        rest = path[len(base) :]
    names = tuple(name for name in rest.split("/") if name not in ("", "."))
    if ".." in names:
        raise PathRefused("a path does not go up: '..' is refused", path=path)
    if len(names) > _MOST_NAMES or any(len(name.encode()) > 255 for name in names):
        raise PathRefused("the path is too deep, or a name in it is too long", path=path)
    return names


def spell(place: Place) -> str:
    """The place as an agent reads it."""
    return "/".join(place) or "."
