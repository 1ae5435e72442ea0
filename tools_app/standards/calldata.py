"""Calldata read back exactly, for whoever tells what bytes do: nothing hides behind or between the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import AbiDecodeError, decode_input, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.context import AbiValues, ChainReader
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import Call

_APPROVE: Final = "function approve(address,uint256)"
_ALLOWANCE: Final = "function allowance(address,address) view returns (uint256)"


def calls(data: bytes, signature: str) -> bool:
    """Whether `data` calls `signature`, by its selector."""
    return data[:4] == parse_signature(signature).selector


def read_exactly(data: bytes, signature: str) -> AbiValues:
    """The arguments, if encoding them again gives the same bytes. Raises UnknownCall."""
    try:
        values = decode_input(signature, data)
    except AbiDecodeError as error:
        raise UnknownCall(f"the arguments of {signature} do not decode") from error
    if encode_call(signature, *values) != data:
        raise UnknownCall(f"the bytes of {signature} hold more than its arguments")
    return values


def most_taken(token: str, taker: str, *, earlier: Sequence[Call], account: str, chain: ChainReader) -> int:
    """What a contract may take of a token when a call runs that says no amount: what the plan approved last, or what
    stands.
    """
    for call in reversed(earlier):
        if call.to == token and calls(call.data, _APPROVE):
            spender, amount = read_exactly(call.data, _APPROVE)
            if spender == taker:
                return int(amount)
    return int(chain.call(token, _ALLOWANCE, account, taker)[0])


def check_bounded(*least: int) -> None:
    """At any price one of a pair's tokens moves: a call that asks for the least of none is carried out at any price.

    Raises UnknownCall.
    """
    if not any(least):
        raise UnknownCall("the call bounds none of its tokens, so it would be carried out at any price")
