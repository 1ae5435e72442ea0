"""One exact replacement in a text, with the line ends that are there, or the reason why it is not one. Pure."""

from __future__ import annotations

import difflib
import hashlib

from tools_app.subsystems.coding.errors import EditRefused

_MOST_DIFF_LINES = 400
_MOST_LINE = 500


def hash_bytes(data: bytes) -> str:
    """SHA-256 in hex: what the file was when its change was previewed."""
    return hashlib.sha256(data).hexdigest()


def replace_once(text: str, *, old: str, new: str) -> str:
    """`text` with its one `old` replaced. A line feed in `old` matches every line end; what is put in ends its lines
    like the text it replaces, and nothing else is touched.

    Raises EditRefused when `old` is empty, absent, there more than once, or equal to `new`.
    """
    wanted, put = _plain(old), _plain(new)
    if not wanted:
        raise EditRefused("old_string is empty; use write for a new file")
    if wanted == put:
        raise EditRefused("old_string and new_string are the same")
    plain, places = _fold(text)
    count = _count(plain, wanted)
    if count == 0:
        raise EditRefused("old_string is not in the file; read it again, it may have moved or changed")
    if count > 1:
        raise EditRefused(f"old_string is {count} times in the file; give more of the lines around it", count=count)
    at = plain.index(wanted)
    start, end = places[at], places[at + len(wanted)]
    replaced = text[start:end]
    return text[:start] + put.replace("\n", _line_end(replaced, text)) + text[end:]


def spell_hidden(text: str) -> str:
    """`text` with every character that nobody sees written out, so that an owner reads what is there."""
    return "".join(one if one.isprintable() or one in "\n\t" else f"\\u{{{ord(one):x}}}" for one in text)


def describe_diff(before: str, after: str, *, name: str) -> str:
    """A unified diff with three lines around each change."""
    lines = list(difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}", lineterm="", n=3))
    if before and after and before.endswith("\n") != after.endswith("\n"):
        lines.append("\\ the last line end changes")
    lines = [line if len(line) <= _MOST_LINE else f"{line[:_MOST_LINE]}… [{len(line)} characters]" for line in lines]
    if len(lines) > _MOST_DIFF_LINES:
        lines = [*lines[:_MOST_DIFF_LINES], f"[{len(lines) - _MOST_DIFF_LINES} more lines of the diff]"]
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    """Lines as an owner reads them: a carriage return is seen."""
    return [spell_hidden(line) for line in text.split("\n")]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _fold(text: str) -> tuple[str, list[int]]:
    """`text` with plain line ends, and for each of its characters (and its end) the place in `text`."""
    plain, places, at = [], [], 0
    while at < len(text):
        places.append(at)
        if text[at] == "\r":
            plain.append("\n")
            at += 2 if text[at + 1 : at + 2] == "\n" else 1
        else:
            plain.append(text[at])
            at += 1
    return "".join(plain), [*places, len(text)]


def _count(text: str, wanted: str) -> int:
    """How often, counted with overlaps: two that overlap are no one place."""
    count, at = 0, text.find(wanted)
    while at >= 0:
        count, at = count + 1, text.find(wanted, at + 1)
    return count


def _line_end(replaced: str, text: str) -> str:
    for part in (replaced, text):
        for end in ("\r\n", "\n", "\r"):
            if end in part:
                return end
    return "\n"
