"""Reads the logs that accounts leave where they enter positions, as protocols say where these are."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import Trail
from tools_app.toolkit.views import LogEntry, LogQuery


def follow_trails(reader: ChainReader, trails: Sequence[Trail], *, from_block: int, to_block: int) -> list[LogEntry]:
    """The logs of all of them in a range of blocks, inclusive, in one round trip. Raises the node's errors."""
    reader.preload_logs([LogQuery(each.addresses, each.topics, from_block, to_block) for each in trails])
    return [
        log
        for each in trails
        for log in reader.logs(
            address=each.addresses, topics=list(each.topics), from_block=from_block, to_block=to_block
        )
    ]
