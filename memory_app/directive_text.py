"""The text of a directive: Markdown with one `## ` heading per section, read and rewritten exactly; pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

HEADING = "## "


@dataclass(frozen=True, slots=True)
class Section:
    """One section: the words of its heading and its text, without blank lines around it."""

    title: str
    text: str


def parse_sections(text: str) -> tuple[Section, ...]:
    """The sections of a document in their order. Text before the first heading belongs to none and is not kept."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith(HEADING):
            found.append((line.removeprefix(HEADING).strip(), []))
        elif found:
            found[-1][1].append(line)
    return tuple(Section(title, "\n".join(lines).strip("\n")) for title, lines in found)


def render_sections(sections: Sequence[Section]) -> str:
    """The document these sections make; `parse_sections` reads it back unchanged."""
    return "\n".join(f"{HEADING}{section.title}\n\n{section.text}\n" for section in sections)


def replace_section(sections: Sequence[Section], section: Section) -> tuple[Section, ...]:
    """The sections with `section` in the place of the one of its title (in any case), or at the end."""
    replaced = tuple(
        Section(old.title, section.text) if old.title.casefold() == section.title.casefold() else old
        for old in sections
    )
    is_known = any(old.title.casefold() == section.title.casefold() for old in sections)
    return replaced if is_known else (*sections, section)


def diff_texts(before: str, after: str, *, name: str, version: int) -> str:
    """Unified diff from version `version - 1` to `version`; empty when nothing changed."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{name} v{version - 1}", f"{name} v{version}", lineterm="", n=3
    )
    return "\n".join(lines)
