"""Defines what a protocol tells of pools with hooks: which there are, and what can be tried in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.plan import Call


@dataclass(frozen=True, slots=True)
class PoolsFound:
    """The newest pools with a hook that were opened since a block, their state unread, and how many there are."""

    pools: tuple[Pool, ...]
    total: int
    since_block: int


@dataclass(frozen=True, slots=True)
class SwapTried:
    """A small swap: base units that come out by the pool's price and fee alone, and those that its quoter tells, which
    runs the hook; None with the reason where it reverts.
    """

    token_in: str
    token_out: str
    amount_in: int
    without_hook: int
    with_hook: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody who is in the pool, and the calls by which they would get out, in again with half, and out of that.

    `amounts` are base units of `tokens` that getting out gives at least by the pool's price alone; what they are paid
    out in is named there, the chain's coin as NATIVE. `enters` are the most that getting in again may take.
    """

    account: str
    position_id: str
    tokens: tuple[str, str]
    amounts: tuple[int, int]
    enters: tuple[int, int]
    out: tuple[Call, ...]
    back_in: tuple[Call, ...]
    out_again: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class HookText:
    """A hook to begin with: its Solidity, the low bits its address has to have, and the functions it is called by."""

    source: str
    address_bits: int
    callbacks: tuple[str, ...]


class HookedPools(Protocol):
    """Pools with hooks of one protocol."""

    @property
    def texts(self) -> Mapping[str, HookText]:
        """What somebody may begin with who writes one: `counter` and `dynamic_fee`."""

    def discover(self, reader: ChainReader, pair: tuple[str, str] | None, *, most: int) -> PoolsFound:
        """The newest ones, of any pair or of one (tokens as pools know them). Raises the node errors."""

    def try_swaps(self, reader: ChainReader, pool: Pool) -> tuple[SwapTried, ...]:
        """A small swap in each direction, as far as the pool has liquidity at its price."""

    def find_holder(self, reader: ChainReader, pool: Pool) -> Holder | None:
        """One who is in the pool; None where none was found."""
