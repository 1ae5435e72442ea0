"""Values inside the bytes that V4's contracts are given, read so that nothing hides behind or between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError

from tools_app.chain.abi import checksum
from tools_app.protocols.uniswap.v4.keys import PoolKey
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.effects import UnknownCall


def read_values(types: Sequence[str], data: bytes) -> AbiValues:
    """The values, addresses checksummed, if encoding them again gives the same bytes. Raises UnknownCall."""
    try:
        values = decode(list(types), data)
    except (DecodingError, OverflowError, ValueError) as error:
        raise UnknownCall("an input of V4's contracts does not decode") from error
    if encode(list(types), values) != data:
        raise UnknownCall("an input of V4's contracts holds more than its arguments")
    return tuple(checksum(value) if kind == "address" else value for kind, value in zip(types, values, strict=True))


def read_key(words: Sequence[Any]) -> PoolKey:  # Any: a value of the ABI's type
    """The key that five decoded words are."""
    first, second, fee, spacing, hooks = words
    return PoolKey(checksum(first), checksum(second), fee, spacing, checksum(hooks))


def check_no_hook_data(data: bytes) -> None:
    """Raises UnknownCall for bytes that are handed to a hook."""
    if data:
        raise UnknownCall("a hook is handed bytes that nobody here reads")
