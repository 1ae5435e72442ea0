"""Reads of contracts as requests: one by one, or many in a Multicall3 aggregate, and what the answers say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeVar

from tools_app.chain.abi import AbiDecodeError, decode_values
from tools_app.chain.aggregate_bytes import RESULTS, encode_calls
from tools_app.chain.networks import MULTICALL3
from tools_app.chain.node_errors import CallReverted, RpcNonsense, build_revert
from tools_app.chain.rpc import RpcReply, RpcRequest, parse_bytes
from tools_app.chain.signatures import parse_signature
from tools_app.core.errors import GolemError

T = TypeVar("T")
_CHUNK: Final = 120
_AGGREGATE: Final = parse_signature("function aggregate3((address,bool,bytes)[])").selector

ReadKey = tuple[str, bytes]
"""Address in lower case and call data of one read."""
Raw = tuple[bytes, GolemError | None]
"""Return data of one eth_call, or the error it ended in."""


def call_request(key: ReadKey, at: dict[str, str]) -> RpcRequest:
    """One read at the block `at`."""
    to, data = key
    return RpcRequest("eth_call", ({"to": to, "data": "0x" + data.hex()}, at))


def read_reply(reply: RpcReply) -> Raw:
    """What one read answered; a revert is an answer. Raises every other error."""
    if reply.error is None:
        return parse_bytes(reply.result), None
    if isinstance(reply.error, CallReverted):
        return b"", reply.error
    raise reply.error


def split_chunks(keys: Sequence[T]) -> list[Sequence[T]]:
    """The reads in portions that one aggregate takes."""
    return [keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK)]


def aggregate_request(chunk: Sequence[ReadKey], at: dict[str, str]) -> RpcRequest:
    """One portion as one read."""
    return RpcRequest("eth_call", ({"to": MULTICALL3, "data": _encode_aggregate(tuple(chunk))}, at))


# The same reads are asked of block after block.
@lru_cache(maxsize=64)
def _encode_aggregate(chunk: tuple[ReadKey, ...]) -> str:
    return "0x" + (_AGGREGATE + encode_calls(chunk)).hex()


def read_aggregate(chunk: Sequence[ReadKey], reply: RpcReply) -> tuple[dict[ReadKey, Raw], list[ReadKey]]:
    """What a portion answered, and the reads that have to be asked alone. Raises RpcNonsense."""
    if reply.error is not None:
        # The aggregate as a whole failed, most likely for gas; its parts may still answer.
        return {}, list(chunk)
    told = parse_bytes(reply.result)
    if not told:
        # There is no such contract at this block.
        return {}, list(chunk)
    try:
        [results] = decode_values(RESULTS, told)
    except AbiDecodeError:
        raise RpcNonsense("The aggregated read has another shape") from None
    answers: dict[ReadKey, Raw] = {}
    alone: list[ReadKey] = []
    if len(results) != len(chunk):
        raise RpcNonsense("The aggregated read answers another number of reads")
    for key, (succeeded, data) in zip(chunk, results, strict=True):
        if succeeded:
            answers[key] = (data, None)
        elif data:
            answers[key] = (b"", build_revert(data))
        else:
            # No reason may mean no gas inside the aggregate; asked alone it gets the node's full allowance.
            alone.append(key)
    return answers, alone
