"""The aggregate's bytes are those that the general encoder writes and reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.chain.abi import AbiDecodeError, decode_values, encode_call
from tools_app.chain.aggregate_bytes import RESULTS, encode_calls

AGGREGATE = "function aggregate3((address target, bool allowFailure, bytes callData)[] calls)"
TOLD = "function told((bool success, bytes returnData)[] results)"
ADDRESSES = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())


def read(data: bytes) -> list[tuple[bool, bytes]]:
    [results] = decode_values(RESULTS, data)
    return list(results)


@given(st.lists(st.tuples(ADDRESSES, st.binary(max_size=100)), max_size=12))
def test_calls_are_encoded_as_anybody_would(calls: list[tuple[str, bytes]]) -> None:
    assert encode_calls(calls) == encode_call(AGGREGATE, [(to, True, data) for to, data in calls])[4:]


@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=100)), max_size=12))
def test_results_are_read_as_they_were_written_and_no_shorter_ones(results: list[tuple[bool, bytes]]) -> None:
    written = encode_call(TOLD, results)[4:]
    assert read(written) == results
    with pytest.raises(AbiDecodeError):
        read(written[:-32] if results and results[-1][1] else written[:16])


@given(st.binary(max_size=300))
def test_any_other_bytes_are_refused_or_results(data: bytes) -> None:
    try:
        assert isinstance(read(data), list)
    except AbiDecodeError:
        pass
