"""Hooks of pools: code of a stranger's that runs whenever somebody trades in a pool, enters it or leaves it.

What a hook could do is a fact that its protocol tells, from what nobody can change; what it does is not known before it
ran. Tiers, the allowlist, the check against the bytes, code binding and what owners read all go by the fact.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class HookPower(StrEnum):
    """What a hook could do to whoever uses its pool."""

    AMOUNTS = "AMOUNTS"
    """Take from what goes in or comes out."""
    FEES = "FEES"
    """Change the fee, after it was quoted too."""
    EXITS = "EXITS"
    """Stop a withdrawal, or what it pays of fees."""
    ENTRIES = "ENTRIES"
    """Stop a deposit."""
    TRADES = "TRADES"
    """Stop a trade."""


RISKY: Final = frozenset({HookPower.AMOUNTS, HookPower.FEES, HookPower.EXITS})
"""Those with which a hook can take money or keep it: owners decide about them."""
WORDS_OF_POWERS: Final = {
    HookPower.AMOUNTS: "change what goes in or comes out",
    HookPower.FEES: "change the fee at any time",
    HookPower.EXITS: "stop or tax a withdrawal",
    HookPower.ENTRIES: "stop a deposit",
    HookPower.TRADES: "stop a trade",
}


@dataclass(frozen=True, slots=True, order=True)
class PoolHooks:
    """The hook of one pool, `pool` by its text: its contract and, in the order of HookPower, what it could do."""

    pool: str
    address: str
    powers: tuple[HookPower, ...] = ()

    @property
    def is_risky(self) -> bool:
        """Whether it could change amounts, fees or exits."""
        return not RISKY.isdisjoint(self.powers)

    @property
    def words(self) -> str:
        """For people: what it could do."""
        said = " and ".join(WORDS_OF_POWERS[power] for power in self.powers)
        return f"can {said}" if said else "can only watch"
