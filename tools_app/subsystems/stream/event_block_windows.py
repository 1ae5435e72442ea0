"""So many events at one look: it ends before the block with which they become too many, and the next goes on there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.core.json_types import JsonObject
from tools_app.toolkit.views import LogEntry


@dataclass(frozen=True, slots=True)
class EventTurn:
    """How many of the first are told, the last block that was looked at, and how many of that block are left out."""

    told: int
    last_block: int
    left_out: int


@dataclass(frozen=True, slots=True)
class ToldLogs:
    """What one look tells: logs with their payloads in chain order, and the end of its turn."""

    told: list[tuple[LogEntry, JsonObject]]
    last_block: int
    left_out: int = 0


def take_turn(blocks: Sequence[int], *, most: int, to_block: int) -> EventTurn:
    """The turn of what happened in these blocks, in order. One block that alone has too many is told in part."""
    if len(blocks) <= most:
        return EventTurn(len(blocks), to_block, 0)
    last = max(blocks[0], blocks[most] - 1)
    fitting = sum(block <= last for block in blocks)
    return EventTurn(min(fitting, most), last, max(0, fitting - most))
