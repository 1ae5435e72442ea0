"""Lines of JSON packed by zlib, with the fingerprint of what they were before: how old rows are laid away.

What was packed is read again only where it is, byte for byte, what the fingerprint says.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools_app.core.bounded_parsing import read_exact_json

_MOST_LINE_BYTES: Final = 16 * 1024 * 1024


class LinesDiffer(ValueError):
    """What is stored is not what was packed; its words say in what."""


@dataclass(frozen=True, slots=True)
class PackedLines:
    """The lines as they were, their SHA-256 in hex, and what is stored."""

    lines: bytes
    sha256: str
    content: bytes


def pack(rows: Iterable[Mapping[str, object]]) -> PackedLines:
    """A line of JSON each row, its members in alphabetical order."""
    lines = b"".join(json.dumps(row, sort_keys=True, separators=(",", ":")).encode() + b"\n" for row in rows)
    return PackedLines(lines, hashlib.sha256(lines).hexdigest(), zlib.compress(lines, 9))


def unpack(*, content: bytes, sha256: str) -> list[dict[str, Any]]:  # Any: columns of any table
    """The rows that were packed. Raises LinesDiffer."""
    try:
        lines = zlib.decompress(content)
    except zlib.error:
        raise LinesDiffer("it cannot be unpacked") from None
    if hashlib.sha256(lines).hexdigest() != sha256:
        raise LinesDiffer("its lines have another fingerprint than it says")
    return [read_exact_json(line.decode(), most_bytes=_MOST_LINE_BYTES) for line in lines.splitlines()]
