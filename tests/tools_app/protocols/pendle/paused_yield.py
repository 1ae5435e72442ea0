"""A yield behind a market that is paused, as Pendle's own base of yields can be; the one of the local chain cannot.

Its code is moved aside and called from where it was, by a few bytes before it that answer `paused` and refuse to move
shares. What it keeps stays where it is, and so does what its code was made with.
"""

from __future__ import annotations

from typing import Final

from eth_utils.crypto import keccak

from tests.evm.world import World

ASIDE: Final = "0x00000000000000000000000000000000005e1f00"
MOVES: Final = (
    "deposit(address,address,uint256,uint256)",
    "redeem(address,uint256,address,uint256,bool)",
    "transfer(address,uint256)",
    "transferFrom(address,address,uint256)",
)


def pause_yield(world: World, share: str) -> str:
    """From now on nothing of it moves; its code, with which it goes on."""
    code = str(world.rpc.call("eth_getCode", share, "latest"))
    world.rpc.call("anvil_setCode", ASIDE, code)
    world.rpc.call("anvil_setCode", share, "0x" + _in_front().hex())
    world.rpc.call("evm_mine")
    return code


def go_on(world: World, share: str, code: str) -> None:
    """It is as it was."""
    world.rpc.call("anvil_setCode", share, code)
    world.rpc.call("evm_mine")


def _in_front() -> bytes:
    """Yes to `paused`, a revert of what moves shares, and everything else as the code that lies aside does it."""
    tests = [_jump_if("paused()", 0)] + [_jump_if(each, 0) for each in MOVES]
    head = 6 + sum(len(each) for each in tests)
    # Everything else: what was asked is handed on, and what comes of it handed back.
    hand_on = bytes.fromhex("50 36 6000 6000 37 6000 6000 36 6000 73".replace(" ", "")) + bytes.fromhex(ASIDE[2:])
    hand_on += bytes.fromhex("5a f4 3d 6000 6000 3e".replace(" ", ""))
    back = head + len(hand_on) + 2 + 1 + 1 + 3
    hand_on += bytes([0x60, back, 0x57]) + bytes.fromhex("3d6000fd") + bytes.fromhex("5b3d6000f3")
    yes = head + len(hand_on)
    answer = bytes.fromhex("5b600160005260206000f3")
    no = yes + len(answer)
    jumps = _jump_if("paused()", yes) + b"".join(_jump_if(each, no) for each in MOVES)
    return bytes.fromhex("60003560e01c") + jumps + hand_on + answer + bytes.fromhex("5b60006000fd")


def _jump_if(signature: str, to: int) -> bytes:
    return b"\x80\x63" + keccak(text=signature)[:4] + b"\x14\x60" + bytes([to]) + b"\x57"
