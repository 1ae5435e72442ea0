"""Combines a protocol's reads into one read of the chain's aggregator.

So what an account without anything costs grows with the protocols of the shelf and not with their markets. What the
aggregate does not answer is asked by itself in the next batch, as a whole or in part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

from tools_app.chain.abi import AbiDecodeError, decode_output, decode_revert, encode_call
from tools_app.chain.multicall import split_chunks
from tools_app.chain.networks import MULTICALL3
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.positions import Reads

T = TypeVar("T")

AGGREGATE: Final = (
    "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) view"
    " returns ((bool success, bytes returnData)[] results)"
)


def as_one_question(reads: Reads[T]) -> Reads[T]:
    """The same reads with each batch of several as one; what they raise is raised."""
    try:
        wanted = next(reads)
        while True:
            wanted = reads.send((yield from _ask(wanted)))
    except StopIteration as ended:
        told: T = ended.value
        return told


def _ask(wanted: Sequence[ReadCall]) -> Reads[list[ReadOutcome]]:
    if len(wanted) < 2:
        return list((yield wanted))
    parts = [_put_together(part) for part in split_chunks(wanted)]
    answers = yield [part.call for part in parts]
    told = [each for part, answer in zip(parts, answers, strict=True) for each in _take_apart(part, answer)]
    missing = [index for index, each in enumerate(told) if each is None]
    alone = iter((yield [wanted[index] for index in missing]) if missing else ())
    return [each if each is not None else next(alone) for each in told]


@dataclass(frozen=True, slots=True, eq=False)
class _Combined:
    """One question that stands for several: `call` asks for all of `asked`."""

    call: ReadCall
    asked: tuple[ReadCall, ...]


def _put_together(part: Sequence[ReadCall]) -> _Combined:
    try:
        return _put_hashable_together(tuple(part))
    except TypeError:
        # A list among the arguments.
        return _aggregate(tuple(part))


# The same few dozen questions are asked block after block.
@lru_cache(maxsize=1024)
def _put_hashable_together(part: tuple[ReadCall, ...]) -> _Combined:
    return _aggregate(part)


def _aggregate(part: tuple[ReadCall, ...]) -> _Combined:
    asked = tuple((call.to, True, encode_call(call.signature, *call.args)) for call in part)
    return _Combined(ReadCall(MULTICALL3, AGGREGATE, (asked,)), part)


def _take_apart(part: _Combined, answer: ReadOutcome) -> Sequence[ReadOutcome | None]:
    results = tuple(answer.values[0]) if answer.ok else ()
    if len(results) != len(part.asked):
        return [None] * len(part.asked)
    return _read_each(part, results)


# And most of them are answered as they were in the block before. An account has some two dozen.
@lru_cache(maxsize=256)
def _read_each(part: _Combined, results: tuple[tuple[bool, bytes], ...]) -> tuple[ReadOutcome | None, ...]:
    return tuple([_read(call, succeeded, data) for call, (succeeded, data) in zip(part.asked, results, strict=True)])


def _read(call: ReadCall, succeeded: bool, data: bytes) -> ReadOutcome | None:
    """One outcome. A failure without a reason may be one for want of gas: None, it is asked by itself."""
    if not succeeded:
        return ReadOutcome(False, (), decode_revert(data).text) if data else None
    try:
        return ReadOutcome(True, decode_output(call.signature, data))
    except AbiDecodeError:
        reason = f"{call.to} answered {len(data)} bytes of another shape"
        return ReadOutcome(False, (), reason, is_absent=not data)
