"""What slashes leave of deposits and of withdrawals that wait, in integers, rounded down as the contracts do."""

from __future__ import annotations

from typing import Final

WAD: Final = 10**18
SLOT_SECONDS: Final = 12
"""Of a block of Ethereum: withdrawals wait for blocks, and people ask for a date."""


def withdrawable(deposited: int, *, scaling: int, magnitude: int) -> int:
    """Shares that deposit shares still give, by the staker's factor and what is left of the operator's magnitude."""
    return deposited * scaling // WAD * magnitude // WAD


def share_of_queue(scaled: int, *, magnitude: int) -> int:
    """Shares that a withdrawal in the queue gives, by the magnitude at the last block it could be slashed in."""
    return scaled * magnitude // WAD


def deposit_shares_for(shares: int, *, deposited: int, withdrawable_now: int) -> int:
    """Deposit shares that give so many shares or just fewer; 0 where all of it was slashed."""
    if not withdrawable_now:
        return 0
    return min(deposited, shares * deposited // withdrawable_now)


def slashed_bps(*, promised: int, left: int) -> int:
    """How much of what was put in is gone, in basis points, rounded up: a loss is not told as none."""
    lost = max(0, promised - left)
    return -(-lost * 10_000 // promised) if promised else 0


def first_free_block(start_block: int, delay_blocks: int) -> int:
    """The first block in which a withdrawal can be completed; until the one before it can be slashed."""
    return start_block + delay_blocks + 1


def free_at(first_block: int, *, block: int, now: int) -> int:
    """About when that block comes, unix seconds; `now` where it has come."""
    return now + max(0, first_block - block) * SLOT_SECONDS
