"""Names which of the six coding tools an owner gives together."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Preset(StrEnum):
    """A choice of tools."""

    CODING = "coding"
    READ_ONLY = "read-only"
    ALL = "all"


PRESETS: Final[dict[Preset, tuple[str, ...]]] = {
    Preset.CODING: ("coding_read", "coding_bash", "coding_edit", "coding_write"),
    Preset.READ_ONLY: ("coding_read", "coding_grep", "coding_find"),
    Preset.ALL: ("coding_read", "coding_bash", "coding_edit", "coding_write", "coding_grep", "coding_find"),
}
"""Tool names by preset, in the order of the seed."""
