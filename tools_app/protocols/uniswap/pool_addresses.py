"""Where a pool of a pair lies, without asking: its address follows from factory, pair and fee.

The hashes of the pools' code are those in the contracts' own libraries (UniswapV2Library, PoolAddress),
the same on every chain that is served; the local world's pools are made of the same bytecode.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import checksum

_V2_CODE_HASH: Final = bytes.fromhex("96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f")
_V3_CODE_HASH: Final = bytes.fromhex("e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54")


@lru_cache(maxsize=4_096)
def v2_pair_address(factory: str, token0: str, token1: str) -> str:
    """The V2 pair of two tokens in the order pools keep them."""
    return _create2(factory, keccak(_bytes(token0) + _bytes(token1)), _V2_CODE_HASH)


@lru_cache(maxsize=4_096)
def v3_pool_address(factory: str, token0: str, token1: str, fee: int) -> str:
    """The V3 pool of two tokens in the order pools keep them, `fee` in hundredths of a basis point."""
    words = b"".join(_bytes(token).rjust(32, b"\0") for token in (token0, token1)) + fee.to_bytes(32, "big")
    return _create2(factory, keccak(words), _V3_CODE_HASH)


def _create2(factory: str, salt: bytes, code_hash: bytes) -> str:
    return checksum("0x" + keccak(b"\xff" + _bytes(factory) + salt + code_hash)[12:].hex())


def _bytes(address: str) -> bytes:
    return bytes.fromhex(address[2:])
