"""A walk through a folder that ends, and what is looked for on it. Links are never followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import re2

from tools_app.core.clock import Deadline
from tools_app.core.errors import BudgetExceeded
from tools_app.subsystems.coding.errors import FileMissing, PathRefused, PatternRefused
from tools_app.subsystems.coding.limits import CodingLimits
from tools_app.subsystems.coding.operations import Entry, EntryKind, FileOps
from tools_app.subsystems.coding.paths import Place, spell
from tools_app.subsystems.coding.text_window import split_lines

_LEFT_OUT: Final = frozenset({".git", "node_modules", "__pycache__"})
# What is left of a call's time when a search stops, to write its answer.
_RESERVE_MS: Final = 800
_LONGEST_PATTERN: Final = 1_000


@dataclass(slots=True)
class Search:
    """What was found, and why it is not all; empty when it is."""

    lines: list[str]
    cut_by: str = ""


class _Stopped(Exception):
    """A bound of the walk was reached; its text says which."""


def search_names(
    files: FileOps, start: Place, *, pattern: str, kind: EntryKind | None, limits: CodingLimits, deadline: Deadline
) -> Search:
    """Paths below `start` whose last name matches the shell pattern, folders with a slash behind."""
    found = Search([])
    try:
        for place, entry in _walk(files, start, limits, deadline):
            if kind in (None, entry.kind) and fnmatchcase(entry.name, pattern):
                found.lines.append(spell(place) + ("/" if entry.kind is EntryKind.FOLDER else ""))
                if len(found.lines) >= limits.find_entries:
                    raise _Stopped(f"{limits.find_entries} names are shown")
    except _Stopped as stopped:
        found.cut_by = str(stopped)
    found.lines.sort()
    return found


def search_text(
    files: FileOps, start: Place, *, pattern: str, include: str, limits: CodingLimits, deadline: Deadline
) -> Search:
    """Lines below `start` that match, as `path:line: text`. Raises PatternRefused, FileMissing.

    The engine takes time in proportion to the text, whatever the pattern is.
    """
    matcher = compile_pattern(pattern)
    found = Search([])
    try:
        for place, size in _list_files(files, start, include, limits, deadline):
            if size > limits.grep_file_bytes:
                found.cut_by = f"files of more than {limits.grep_file_bytes} bytes are left out"
                continue
            for line in _match_file(files, place, matcher, limits, deadline):
                found.lines.append(line)
                if len(found.lines) >= limits.grep_matches:
                    raise _Stopped(f"{limits.grep_matches} lines are shown")
    except _Stopped as stopped:
        found.cut_by = str(stopped)
    return found


def compile_pattern(pattern: str) -> re2._Regexp:
    """A regular expression without look-around and back-references. Raises PatternRefused."""
    if len(pattern) > _LONGEST_PATTERN:
        raise PatternRefused(f"a pattern has at most {_LONGEST_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it is malformed"
        told = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise PatternRefused(f"{told}; look-around and back-references are not supported") from None


def _list_files(
    files: FileOps, start: Place, include: str, limits: CodingLimits, deadline: Deadline
) -> Iterator[tuple[Place, int]]:
    at = files.find(start, deadline=deadline)
    if at is None:
        raise FileMissing(f"there is no {spell(start)}", path=spell(start))
    if at.kind is EntryKind.FILE:
        yield start, at.size
        return
    for place, entry in _walk(files, start, limits, deadline):
        if entry.kind is EntryKind.FILE and (not include or fnmatchcase(entry.name, include)):
            yield place, entry.size


def _match_file(
    files: FileOps, place: Place, matcher: re2._Regexp, limits: CodingLimits, deadline: Deadline
) -> Iterator[str]:
    try:
        data = files.read(place, most_bytes=limits.grep_file_bytes, deadline=deadline).data
    except (FileMissing, PathRefused):
        # It went, or became something else, since the folder was listed.
        return
    if b"\x00" in data:
        return
    for number, line in enumerate(split_lines(data.decode("utf-8", errors="replace")), start=1):
        if matcher.search(line) is not None:
            shown = line if len(line) <= limits.grep_line else f"{line[: limits.grep_line]}…"
            yield f"{spell(place)}:{number}: {shown}"


def _walk(files: FileOps, start: Place, limits: CodingLimits, deadline: Deadline) -> Iterator[tuple[Place, Entry]]:
    """Everything below `start`, folder by folder. Raises _Stopped when there is more than a call may look at."""
    seen, waiting = 0, [start]
    while waiting:
        folder = waiting.pop()
        try:
            for entry in files.list_folder(folder, deadline=deadline):
                seen += 1
                if seen > limits.walked_entries:
                    raise _Stopped(f"the first {limits.walked_entries} names were looked at; name a path")
                if deadline.remaining_ms() < _RESERVE_MS:
                    raise _Stopped("the time was over; name a path")
                place = (*folder, entry.name)
                if entry.kind is EntryKind.FOLDER:
                    if entry.name in _LEFT_OUT:
                        continue
                    waiting.append(place)
                yield place, entry
        except BudgetExceeded:
            raise _Stopped("the time was over; name a path") from None
        except (FileMissing, PathRefused):
            if folder == start:
                raise
