"""Finds agents by the logs of their registration, newest first, in pages that each look through so many blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import decode_log, encode_event_topics
from tools_app.protocols.erc8004.addresses import IDENTITY
from tools_app.protocols.erc8004.reads import log_blocks
from tools_app.standards import erc8004
from tools_app.toolkit.context import ChainReader

MOST_FOUND: Final = 100
"""Registrations that one call looks at."""


@dataclass(frozen=True, slots=True)
class Registrations:
    """Numbers of agents, newest first. `next_block` is the newest block that was not looked at; None at the end."""

    numbers: tuple[int, ...]
    next_block: int | None


def find_registrations(
    reader: ChainReader, at: Mapping[str, str], *, to_block: int | None = None, owner: str | None = None
) -> Registrations:
    """Registrations up to a block, of anybody or of one owner. Raises LogRangeTooWide, and the node's errors."""
    last = reader.block.number if to_block is None else min(to_block, reader.block.number)
    if last < 0:
        return Registrations((), None)
    first = max(0, last - log_blocks(reader) + 1)
    named = {} if owner is None else {"owner": owner}
    topics = encode_event_topics(erc8004.REGISTERED, **named)
    logs = reader.logs(address=at[IDENTITY], topics=topics, from_block=first, to_block=last)
    told = [
        (log.block_number, int(found["agentId"]))
        for log in reversed(logs)
        if (found := decode_log(erc8004.REGISTERED, log)) is not None
    ]
    below = first - 1
    if len(told) > MOST_FOUND:
        # The whole of the block in which the page ends is on it, so that the next begins with another block.
        ends_in = told[MOST_FOUND - 1][0]
        told = [each for each in told if each[0] >= ends_in]
        below = ends_in - 1
    return Registrations(tuple(dict.fromkeys(number for _, number in told)), None if below < 0 else below)
