"""docs/decisions/README.md: every decision by its room, written from the files and `rooms.toml`.

`python -m tests.architecture.decision_index` writes it; a test compares.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

from tests.architecture.sources import ROOT

FOLDER: Final = ROOT / "docs" / "decisions"
PAGE: Final = FOLDER / "README.md"
_NUMBER: Final = re.compile(r"^\d{4}\W*\s*")
_HEAD: Final = """# Decisions

What departs from what was first asked for, or could have gone another way: what, why, what was not taken. Written by
`.venv/bin/python -m tests.architecture.decision_index`; [rooms.toml](rooms.toml) says which decision stands where.
"""


def list_decisions() -> dict[int, Path]:
    """The files by their number. Raises ValueError where two have one."""
    found: dict[int, Path] = {}
    for path in sorted(FOLDER.glob("[0-9]*.md")):
        number = int(path.name[:4])
        if number in found:
            raise ValueError(f"{path.name} and {found[number].name} have one number")
        found[number] = path
    return found


def read_title(path: Path) -> str:
    """Its heading without its number."""
    heading = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return _NUMBER.sub("", heading)


def write_page() -> str:
    """The page as text. Raises KeyError for a number without a file."""
    decisions = list_decisions()
    rooms = tomllib.loads((FOLDER / "rooms.toml").read_text(encoding="utf-8"))
    parts = [_HEAD]
    for room in rooms.values():
        parts.append(f"\n## {room['title']}\n")
        for number in sorted(room["numbers"]):
            path = decisions[number]
            parts.append(f"- {number:04d} [{read_title(path)}]({path.name})")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
