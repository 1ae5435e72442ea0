"""Server-sent events as the server writes them. Text of a golem's events is data, never instruction."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

MOST_BYTES: Final = 1_000_000
"""Of one line; an event of a golem is far shorter."""
RESUME: Final = "stream:resume"
"""What a stream says that ends: no event of a golem."""


@dataclass(frozen=True)
class GolemEvent:
    """One event; `id` is where a stream goes on behind it."""

    id: str
    type: str
    data: dict[str, Any]


def read_events(stream: BinaryIO) -> Iterator[GolemEvent]:
    """The events of one stream until it ends. Raises ValueError for a line that is too long or no JSON."""
    fields: dict[str, str] = {}
    while line := stream.readline(MOST_BYTES + 1):
        if len(line) > MOST_BYTES:
            raise ValueError("a line of the event stream is too long")
        text = line.decode().rstrip("\r\n")
        if text.startswith(":"):
            continue
        if text:
            name, _, value = text.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
            continue
        if "data" in fields:
            yield GolemEvent(fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"]))
        fields = {}
