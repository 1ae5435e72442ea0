"""docs/images/badge-*.svg: what the README says at a glance, written from the files that decide it.

`python -m tests.architecture.badges` writes them; a test compares.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from tests.architecture.sources import ROOT, list_tracked

FOLDER: Final = ROOT / "docs" / "images"
_WIDE: Final = 7
"""Pixels of a letter."""


def read_badges() -> dict[str, tuple[str, str]]:
    """Name of a badge -> its two words."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    has_licence = any(path.startswith("LICENSE") for path in list_tracked())
    return {
        "version": ("version", project["version"]),
        "python": ("python", project["requires-python"].replace(">=", "") + " or newer"),
        "audit": ("contracts", "not audited"),
        "licence": ("licence", "see LICENSE" if has_licence else "not chosen"),
    }


def draw_badge(left: str, right: str) -> str:
    """One badge as SVG."""
    first, second = len(left) * _WIDE + 14, len(right) * _WIDE + 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{first + second}" height="20" role="img" '
        f'aria-label="{left}: {right}"><rect width="{first}" height="20" fill="#454b5a"/>'
        f'<rect x="{first}" width="{second}" height="20" fill="#3156c9"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{first / 2}" y="14">{left}</text><text x="{first + second / 2}" y="14">{right}</text></g></svg>\n'
    )


def list_files() -> dict[Path, str]:
    """Each file and what it must hold."""
    return {FOLDER / f"badge-{name}.svg": draw_badge(*words) for name, words in read_badges().items()}


if __name__ == "__main__":
    for path, text in list_files().items():
        path.write_text(text, encoding="utf-8")
