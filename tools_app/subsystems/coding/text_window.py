"""Lines of a file or the end of an output, cut to what an answer holds, with a hint how to go on."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.errors import InvalidParams
from tools_app.subsystems.coding.limits import CodingLimits


@dataclass(frozen=True, slots=True)
class TextWindow:
    """Shown text and, when more follows, the 1-indexed line to go on at."""

    text: str
    continue_at: int | None


def split_lines(text: str) -> list[str]:
    """Lines without their ends; only line feeds and carriage returns end one. A last line end begins no further one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines and lines[-1] == "" else lines


def cut_window(text: str, *, offset: int, limit: int | None, is_whole: bool, limits: CodingLimits) -> TextWindow:
    """The lines from `offset` (1-indexed) on. `is_whole` is off when the file goes on behind `text`.

    Raises InvalidParams for an offset behind the last line.
    """
    lines = split_lines(text)
    if offset > max(1, len(lines)):
        raise InvalidParams(
            f"offset {offset} is behind the last line, {len(lines)}", fields={"offset": f"at most {len(lines)}"}
        )
    most = min(limit or limits.read_lines, limits.read_lines)
    shown: list[str] = []
    room = min(limits.shown_characters, limits.read_bytes)
    for line in lines[offset - 1 : offset - 1 + most]:
        told = _cut_line(line, limits.line_characters)
        room -= len(told) + 1
        if room < 0 and shown:
            break
        shown.append(told)
    end = offset - 1 + len(shown)
    if end >= len(lines):
        note = "" if is_whole else "\n[The file goes on; it is too large to be read further here. Use grep or bash.]"
        return TextWindow("\n".join(shown) + note, None)
    note = f"\n[Lines {offset}-{end} of {len(lines)}{'' if is_whole else ' or more'}. Go on with offset={end + 1}.]"
    return TextWindow("\n".join(shown) + note, end + 1)


def keep_end(text: str, *, left_out: int, limits: CodingLimits) -> str:
    """The last lines of an output; `left_out` bytes before it are gone already."""
    lines = split_lines(text)
    kept = [_cut_line(line, limits.line_characters) for line in lines[-limits.read_lines :]]
    gone = len(lines) - len(kept)
    if not gone and not left_out:
        return "\n".join(kept)
    parts = ([f"{gone} lines"] if gone else []) + ([f"{left_out} bytes"] if left_out else [])
    return f"[The first {' and '.join(parts)} are left out; write output to a file and read that.]\n" + "\n".join(kept)


def _cut_line(line: str, most: int) -> str:
    return line if len(line) <= most else f"{line[:most]}… [line of {len(line)} characters cut]"
