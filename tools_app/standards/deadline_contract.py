"""Gives a batch that others sign an end in time, by a first call to `Deadline` of `contracts/src`.

The contract has no settings and no owner. It is put on a chain through a factory that has the same address wherever it
is, so its own address follows from its code: at that address there is this contract or nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import AbiDecodeError, checksum, decode_input, encode_call
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call

MUST_BE_BEFORE: Final = "function mustBeBefore(uint256 deadline)"
TOO_LATE: Final = keccak(text="TooLate(uint256,uint256)")[:4]
"""How a refusal of the contract begins."""
FACTORY: Final = "0x4e59b44847b379578588920cA78FbF26c0B4956C"
"""Takes a salt of 32 bytes and creation code, and creates with CREATE2; most chains have it, all at this address."""
SALT: Final = bytes(32)
RUNNING_CODE: Final = bytes.fromhex(
    "6080604052348015600e575f5ffd5b50600436106026575f3560e01c80630c17808214602a575b5f5ffd5b60396035366004"
    "606a565b603b565b005b80421060675760405163388b017360e01b8152600481018290524260248201526044016040518091"
    "0390fd5b50565b5f602082840312156079575f5ffd5b503591905056"
)
CREATION_CODE: Final = bytes.fromhex("6080604052348015600e575f5ffd5b50608080601a5f395ff3fe") + RUNNING_CODE
ADDRESS: Final = checksum("0x" + keccak(b"\xff" + bytes.fromhex(FACTORY[2:]) + SALT + keccak(CREATION_CODE))[12:].hex())


def is_there(chain: ChainReader) -> bool:
    """Whether the contract is on the chain, with this code. Raises what the chain raises."""
    return chain.code(ADDRESS) == RUNNING_CODE


def make_end_call(ends_at: int) -> Call:
    """The call that succeeds before `ends_at`, Unix seconds, and never again."""
    return Call(
        to=ADDRESS, data=encode_call(MUST_BE_BEFORE, ends_at), value=0, label=f"all of it before {say_moment(ends_at)}"
    )


def read_end(call: Call) -> int | None:
    """Until when `call` succeeds; None for any other call, and for one that differs from such a call in a byte."""
    if call.to != ADDRESS or call.value:
        return None
    try:
        (ends_at,) = decode_input(MUST_BE_BEFORE, call.data)
    except AbiDecodeError:
        return None
    return int(ends_at) if encode_call(MUST_BE_BEFORE, ends_at) == call.data else None


def say_moment(seconds: int) -> str:
    """Unix seconds as a date and a time; whatever is further away than the year 3000 is told as that."""
    return datetime.fromtimestamp(min(seconds, 32_503_680_000), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
