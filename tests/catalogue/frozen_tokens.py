"""A token of the local chain that its issuer may pause, or freeze at one holder, as Circle's and Tether's can be.

Its own code goes to another address; in its place stands code, written out here, that answers for both switches,
stops movements by them, and does all else as before.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.evm.world import CHAIN_ID, World
from tools_app.chain.signatures import parse_signature
from tools_app.standards.paused_tokens import OF_CIRCLE, SWITCHES

_PAUSED_AT, _FROZEN_AT = 2**255 + 1, 2**255 + 2
"""Slots of the token in which nothing of its own lies."""
_OWN_CODE: Final = "0x00000000000000000000000000000000000F0231"

CALLER, CALLDATALOAD, CALLDATASIZE, CALLDATACOPY = b"\x33", b"\x35", b"\x36", b"\x37"
RETURNDATASIZE, RETURNDATACOPY, MSTORE, SLOAD, JUMP, JUMPI, GAS = (
    b"\x3d",
    b"\x3e",
    b"\x52",
    b"\x54",
    b"\x56",
    b"\x57",
    b"\x5a",
)
EQ, SHR, DUP1, DELEGATECALL, RETURN, REVERT = b"\x14", b"\x1c", b"\x80", b"\xf4", b"\xf3", b"\xfd"


def push(value: int) -> bytes:
    """The shortest instruction that leaves a number on the stack."""
    size = max(1, (value.bit_length() + 7) // 8)
    return bytes([0x5F + size]) + value.to_bytes(size, "big")


def _assemble(blocks: dict[str, list[bytes | str]]) -> bytes:
    """Code of named blocks in their order; a name among the instructions of a block pushes where that block begins."""
    sizes = {
        name: 1 + sum(3 if isinstance(each, str) else len(each) for each in block) for name, block in blocks.items()
    }
    places, at = {}, 0
    for name, size in sizes.items():
        places[name], at = at, at + size
    code = b""
    for block in blocks.values():
        parts = (b"\x61" + places[each].to_bytes(2, "big") if isinstance(each, str) else each for each in block)
        code += b"\x5b" + b"".join(parts)
    return code


def _code() -> bytes:
    def on(signature: str, block: str) -> list[bytes | str]:
        selector = int.from_bytes(parse_signature(f"function {signature}").selector, "big")
        return [DUP1, push(selector), EQ, block, JUMPI]

    argument: tuple[bytes, bytes] = (push(4) + CALLDATALOAD, push(36) + CALLDATALOAD)
    frozen, paused = push(_FROZEN_AT) + SLOAD, push(_PAUSED_AT) + SLOAD
    answer = push(0) + MSTORE + push(32) + push(0) + RETURN
    return _assemble(
        {
            "choose": [
                push(0) + CALLDATALOAD + push(0xE0) + SHR,
                *on("paused()", "say paused"),
                *on("isBlacklisted(address)", "say frozen"),
                *on("transfer(address,uint256)", "transfer"),
                *on("transferFrom(address,address,uint256)", "transfer from"),
                "own",
                JUMP,
            ],
            "say paused": [paused, answer],
            "say frozen": [argument[0], frozen, EQ, answer],
            "transfer": [CALLER, frozen, EQ, "refuse", JUMPI, "move", JUMP],
            "transfer from": [argument[1], frozen, EQ, "refuse", JUMPI, "move", JUMP],
            "move": [argument[0], frozen, EQ, "refuse", JUMPI, paused, "refuse", JUMPI, "own", JUMP],
            "own": [
                CALLDATASIZE + push(0) + push(0) + CALLDATACOPY,
                push(0) + push(0) + CALLDATASIZE + push(0) + push(int(_OWN_CODE, 16)) + GAS + DELEGATECALL,
                RETURNDATASIZE + push(0) + push(0) + RETURNDATACOPY,
                "return",
                JUMPI,
                RETURNDATASIZE + push(0) + REVERT,
            ],
            "return": [RETURNDATASIZE + push(0) + RETURN],
            "refuse": [push(0) + push(0) + REVERT],
        }
    )


class Issuer:
    """Who issues one token of the local chain, which is known to have such switches from now on."""

    def __init__(self, world: World, symbol: str, patch: pytest.MonkeyPatch) -> None:
        self.world, self.token = world, world.tokens[symbol].address
        patch.setitem(SWITCHES, (CHAIN_ID, self.token), OF_CIRCLE)
        own = world.rpc.call("eth_getCode", self.token, "latest")
        world.rpc.call("anvil_setCode", _OWN_CODE, own)
        world.rpc.call("anvil_setCode", self.token, "0x" + _code().hex())
        self._mine()

    def pause(self, *, is_on: bool = True) -> None:
        """Nobody moves it, until it is let go."""
        self._store(_PAUSED_AT, int(is_on))

    def freeze(self, holder: str) -> None:
        """Nothing of it moves from or to one holder; the zero address: from and to everybody."""
        self._store(_FROZEN_AT, int(holder, 16))

    def _store(self, slot: int, value: int) -> None:
        self.world.rpc.call("anvil_setStorageAt", self.token, f"0x{slot:064x}", f"0x{value:064x}")
        self._mine()

    def _mine(self) -> None:
        self.world.rpc.call("evm_mine")
