from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools_app.chain.nodes import block_json
from tools_app.chain.blocks import BlockSearch, Send, header_request, parse_block, parse_log
from tools_app.chain.node_errors import BlockUnavailable, RpcNonsense
from tools_app.chain.rpc import RpcReply, RpcRequest
from tools_app.toolkit.views import BlockRef


def search(send: Send, *, timestamp: int, head: BlockRef, block_seconds: int = 12) -> BlockRef:
    """What a reader does, a batch of headers with each of its round trips."""
    steps = BlockSearch(timestamp=timestamp, head=head, block_seconds=block_seconds)
    while not steps.is_over:
        steps.take([parse_block(reply.unwrap()) for reply in send([header_request(n) for n in steps.next_numbers()])])
    return steps.found


@given(st.lists(st.integers(0, 30), min_size=1, max_size=400), st.integers(0, 3_000))
def test_the_first_block_since_a_time_is_the_one_a_walk_would_find(gaps: list[int], timestamp: int) -> None:
    times = list(accumulate(gaps))
    rounds = 0

    def send(requests: Sequence[RpcRequest]) -> list[RpcReply]:
        nonlocal rounds
        rounds += 1
        numbers = [int(request.params[0], 16) for request in requests]
        return [RpcReply(result=block_json(number, timestamp=times[number])) for number in numbers]

    head = parse_block(block_json(len(times) - 1, timestamp=times[-1]))
    expected = next((number for number, time in enumerate(times) if time >= timestamp), None)
    if expected is None:
        with pytest.raises(BlockUnavailable):
            search(send, timestamp=timestamp, head=head)
        return
    assert search(send, timestamp=timestamp, head=head).number == expected
    assert rounds <= 2


@given(st.integers(18_000_000, 22_000_000), st.integers(0, 40), st.integers(100, 1_000), st.sampled_from([2, 12]))
def test_a_day_ago_on_a_long_chain_takes_two_batches_and_three_where_many_slots_stay_empty(
    head_number: int, missed_permille: int, burst: int, block_seconds: int
) -> None:
    def time_of(number: int) -> int:
        return (number + number * missed_permille // 1_000 + number // burst) * block_seconds

    rounds = 0

    def send(requests: Sequence[RpcRequest]) -> list[RpcReply]:
        nonlocal rounds
        rounds += 1
        assert len(requests) <= 65
        numbers = [int(request.params[0], 16) for request in requests]
        return [RpcReply(result=block_json(number, timestamp=time_of(number))) for number in numbers]

    head = parse_block(block_json(head_number, timestamp=time_of(head_number)))
    since = head.timestamp - 86_400
    found = search(send, timestamp=since, head=head, block_seconds=block_seconds)
    assert time_of(found.number - 1) < since <= time_of(found.number)
    few_empty = block_seconds == 12 and missed_permille + 1_000 // burst <= 8
    assert rounds <= (2 if few_empty else 3)


@pytest.mark.parametrize("raw", [{}, [], "0x", {"hash": 5}, {"hash": "0x", "number": "five"}])
def test_what_is_no_block_is_nonsense(raw: Any) -> None:
    with pytest.raises(RpcNonsense):
        parse_block(raw)


def test_no_block_is_unavailable() -> None:
    with pytest.raises(BlockUnavailable):
        parse_block(None)


@pytest.mark.parametrize("raw", [None, {}, {"address": "0x1"}, "log"])
def test_what_is_no_log_is_nonsense(raw: Any) -> None:
    with pytest.raises(RpcNonsense):
        parse_log(raw)
