"""Calls of V4's position manager: a position opened, grown, shrunk, harvested, and closed with its NFT burned.

Liquidity is named exactly and what it may cost, or has to bring, is bounded beside it. Tokens go in by way of Permit2
and the coin as value, of which the rest comes back in the same call. Whoever changes a position gets its fees with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eth_abi.abi import encode

from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.v4.keys import COIN, KEY_TYPE, PoolKey
from tools_app.toolkit.plan import Call

MODIFY: Final = "function modifyLiquidities(bytes unlockData, uint256 deadline) payable"
INCREASE, DECREASE, MINT, BURN = 0x00, 0x01, 0x02, 0x03
SETTLE_PAIR, TAKE_PAIR, CLOSE, SWEEP = 0x0D, 0x11, 0x12, 0x14
MINT_TYPES: Final = (KEY_TYPE, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes")
CHANGE_TYPES: Final = ("uint256", "uint256", "uint128", "uint128", "bytes")
BURN_TYPES: Final = ("uint256", "uint128", "uint128", "bytes")
TAKE_TYPES: Final = ("address", "address", "address")

NOBODY: Final = "0x0000000000000000000000000000000000000000"
"""Who an NFT is given to that is burned."""

Action = tuple[int, bytes]
Amounts = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Held:
    """A position as calls name it: its number and the key of its pool."""

    number: int
    key: PoolKey


def open_range(
    *,
    manager: str,
    key: PoolKey,
    ticks: tuple[int, int],
    liquidity: int,
    most: Amounts,
    recipient: str,
    deadline: int,
    label: str,
) -> Call:
    """Open a position of so much liquidity for at most these amounts; its NFT and the coin left go to `recipient`."""
    minted = encode(list(MINT_TYPES), [key.as_tuple, *ticks, liquidity, *most, recipient, b""])
    paid = encode(["address", "address"], [key.currency0, key.currency1])
    coin, back = _coin(key, most, recipient)
    return modify(manager, [(MINT, minted), (SETTLE_PAIR, paid), *back], deadline, label=label, value=coin)


def grow(*, manager: str, held: Held, liquidity: int, most: Amounts, recipient: str, deadline: int, label: str) -> Call:
    """Add so much liquidity for at most these amounts; its fees are counted against them, or paid out."""
    added = encode(list(CHANGE_TYPES), [held.number, liquidity, *most, b""])
    closed = [(CLOSE, encode(["address"], [each])) for each in (held.key.currency0, held.key.currency1)]
    coin, back = _coin(held.key, most, recipient)
    return modify(manager, [(INCREASE, added), *closed, *back], deadline, label=label, value=coin)


def shrink(
    *, manager: str, held: Held, liquidity: int, least: Amounts, recipient: str, deadline: int, label: str
) -> Call:
    """Take so much liquidity out for at least these amounts, and all fees; without liquidity only the fees."""
    taken = encode(list(CHANGE_TYPES), [held.number, liquidity, *least, b""])
    return modify(manager, [(DECREASE, taken), _take(held, recipient)], deadline, label=label)


def burn(*, manager: str, held: Held, least: Amounts, recipient: str, deadline: int, label: str) -> Call:
    """Take everything out for at least these amounts, and all fees; the NFT is burned."""
    gone = encode(list(BURN_TYPES), [held.number, *least, b""])
    return modify(manager, [(BURN, gone), _take(held, recipient)], deadline, label=label)


def modify(manager: str, actions: Sequence[Action], deadline: int, *, label: str, value: int = 0) -> Call:
    """Actions of the position manager before `deadline` (Unix seconds), all done or none."""
    unlock = encode(["bytes", "bytes[]"], [bytes(code for code, _ in actions), [each for _, each in actions]])
    return Call(manager, encode_call(MODIFY, unlock, deadline), value, label)


def _take(held: Held, recipient: str) -> Action:
    return TAKE_PAIR, encode(list(TAKE_TYPES), [held.key.currency0, held.key.currency1, recipient])


def _coin(key: PoolKey, most: Amounts, recipient: str) -> tuple[int, list[Action]]:
    """What is sent along of the coin, and the action that brings back what was not needed of it."""
    if key.currency0 != COIN or not most[0]:
        return 0, []
    return most[0], [(SWEEP, encode(["address", "address"], [COIN, recipient]))]
