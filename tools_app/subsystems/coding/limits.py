"""Sets how much one call of a coding tool reads, writes, shows and waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CodingLimits:
    """Bytes, characters, counts and milliseconds.

    `shown_characters` keeps every answer below the cap on answers, so that nothing is cut but by a hint how to go on.
    `longest_bash_ms` stays below what a worker's task may take.
    """

    read_bytes: int = 512 * 1024
    read_lines: int = 2_000
    shown_characters: int = 40_000
    line_characters: int = 2_000
    image_bytes: int = 48_000
    write_bytes: int = 256 * 1024
    edited_bytes: int = 1024 * 1024
    scanned_bytes: int = 8 * 1024 * 1024
    bash_ms: int = 30_000
    longest_bash_ms: int = 45_000
    output_bytes: int = 20_000
    flood_bytes: int = 64 * 1024 * 1024
    grep_matches: int = 100
    grep_line: int = 500
    grep_file_bytes: int = 1024 * 1024
    find_entries: int = 1_000
    walked_entries: int = 20_000
    folder_bytes: int = 1024 * 1024 * 1024
    folder_entries: int = 100_000
    memory_bytes: int = 1024 * 1024 * 1024


LIMITS: Final = CodingLimits()
