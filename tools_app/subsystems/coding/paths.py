"""A path of an agent's as names below its folder, or a refusal: nothing here touches a disk.

A name may hold what nobody sees: line ends, direction marks, bytes that are no UTF-8. It is shown with escapes in their
place, and reached by what is shown.
"""

from __future__ import annotations

import os
import re
import unicodedata
from typing import Final, TypeAlias

from tools_app.core.invisible_text import is_invisible
from tools_app.subsystems.coding.errors import PathRefused

Place: TypeAlias = tuple[str, ...]
"""Names below the folder, in order; empty is the folder itself."""

MOST_CHARACTERS = 1_000
_MOST_NAMES = 64
_FIRST_LONE, _LAST_LONE = 0xDC80, 0xDCFF
_ESCAPE: Final = re.compile(r"\\(?:\\|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


def parse_path(path: str, *, root: str) -> Place:
    """The place `path` names; relative to the folder, or absolute below `root`, which is how commands see the folder.

    Raises PathRefused for `..`, another absolute path, and characters no name has. Escapes are those of `spell`.
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
    names = tuple(_ESCAPE.sub(_unescape, name) for name in names)
    if ".." in names:
        raise PathRefused("a path does not go up: '..' is refused", path=path)
    if any(name == "." or "/" in name or "\x00" in name or _is_broken(name) for name in names):
        raise PathRefused("an escape in the path stands for what no name has", path=path)
    if len(names) > _MOST_NAMES or any(len(os.fsencode(name)) > 255 for name in names):
        raise PathRefused("the path is too deep, or a name in it is too long", path=path)
    return names


def spell(place: Place) -> str:
    """The place as an agent reads it, and as `parse_path` takes it back: what nobody sees as an escape.

    `\\xff` is a byte that is no UTF-8 or a control below 128, `\\u202e` any other character, `\\\\` a backslash.
    """
    return "/".join(map(spell_name, place)) or "."


def spell_name(name: str) -> str:
    """One name; see `spell`."""
    if name.isascii() and name.isprintable() and "\\" not in name:
        return name
    return "".join(map(_escape, name))


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    code = ord(character)
    if _FIRST_LONE <= code <= _LAST_LONE:
        return f"\\x{code - 0xDC00:02x}"
    if not _is_unseen(character):
        return character
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_unseen(character: str) -> bool:
    """Whether nobody sees it, or takes it for a plain space."""
    is_other_space = character != " " and unicodedata.category(character) == "Zs"
    return is_other_space or character in "\n\t" or is_invisible(character)


def _unescape(found: re.Match[str]) -> str:
    byte, short, long = found.groups()
    if byte is None and short is None and long is None:
        return "\\"
    code = int(byte or short or long, 16)
    if byte is not None and code >= 0x80:
        return chr(0xDC00 + code)
    return chr(code) if code < 0x110000 else "\x00"


def _is_broken(name: str) -> bool:
    """Whether it holds half of a pair, which is no byte either."""
    return any("\ud800" <= one <= "\udfff" and not _FIRST_LONE <= ord(one) <= _LAST_LONE for one in name)
