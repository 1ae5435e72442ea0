"""When a withdrawal that waits is free, in blocks and about in seconds."""

from __future__ import annotations

from typing import Final

WAD: Final = 10**18
SLOT_SECONDS: Final = 12
"""Of a block of Ethereum: withdrawals wait for blocks, and people ask for a date."""


def first_free_block(start_block: int, delay_blocks: int) -> int:
    """The first block in which a withdrawal can be completed; until the one before it can be slashed."""
    return start_block + delay_blocks + 1


def free_at(first_block: int, *, block: int, now: int) -> int:
    """About when that block comes, unix seconds; `now` where it has come."""
    return now + max(0, first_block - block) * SLOT_SECONDS
