"""Swaps of the Universal Router in pools of V2 and V3, read from the input of one command.

Written from the router's interface. Newer routers take a list of limits of single pools behind the other values; it is
read where it is empty, because then it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.uniswap.addresses import NAME
from tools_app.protocols.uniswap.packed_paths import unpack_path
from tools_app.protocols.uniswap.v4.exact_values import read_values
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.effects import MarketRead, UnknownCall

SWAP_COMMANDS: Final = frozenset({0x00, 0x01, 0x08, 0x09})
"""In, then out, of V3; in, then out, of V2."""
_EXACT_OUT: Final = frozenset({0x01, 0x09})
_OF_V3: Final = frozenset({0x00, 0x01})
_V3_TYPES: Final = ("address", "uint256", "uint256", "bytes", "bool")
_V2_TYPES: Final = ("address", "uint256", "uint256", "address[]", "bool")


@dataclass(frozen=True, slots=True)
class RouterSwap:
    """One swap: its pools in order, its two tokens, the most that goes in, the least that comes, and who pays."""

    markets: tuple[MarketRead, ...]
    sold: str
    bought: str
    most: int
    least: int
    recipient: str
    is_users: bool
    is_exact_out: bool


def read_router_swap(code: int, data: bytes) -> RouterSwap:
    """The swap that a command of `SWAP_COMMANDS` makes. Raises UnknownCall."""
    recipient, amount, limit, path, is_users = _read_input(_V3_TYPES if code in _OF_V3 else _V2_TYPES, data)
    is_exact_out = code in _EXACT_OUT
    if code in _OF_V3:
        # A path of V3 begins with what is bought where that is exact.
        steps = unpack_path(path)[::-1] if is_exact_out else unpack_path(path)
        tokens, fees = steps[::2], steps[1::2]
    else:
        tokens = [checksum(each) for each in path]
        fees = [None] * (len(tokens) - 1)
    if len(tokens) < 2 or tokens[0] == tokens[-1]:
        raise UnknownCall("a path of the Universal Router does not lead from one token to another")
    most, least = (limit, amount) if is_exact_out else (amount, limit)
    if not amount or not most:
        raise UnknownCall("a swap of the Universal Router spends what lies there, or nothing")
    markets = tuple(
        MarketRead(NAME, sold, bought, fee) for (sold, bought), fee in zip(pairwise(tokens), fees, strict=True)
    )
    return RouterSwap(markets, tokens[0], tokens[-1], most, least, recipient, is_users, is_exact_out)


def _read_input(types: Sequence[str], data: bytes) -> AbiValues:
    try:
        return read_values(types, data)
    except UnknownCall:
        *values, limits = read_values((*types, "uint256[]"), data)
        if limits:
            raise UnknownCall("a path of the Universal Router limits single pools") from None
        return tuple(values)
