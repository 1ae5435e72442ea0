"""The edges of what is believed of a block's header."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tools_app.chain.node_errors import RpcNonsense
from tools_app.history.checked_logs import _is_sure, parse_header


@pytest.mark.parametrize("pairs", [1, 4, 40])
def test_a_bloom_is_believed_that_errs_less_than_once_in_a_million_blocks(pairs: int) -> None:
    """A contract and a topic are three bits each: by chance all six are among `bits` of 2048 once in so many blocks."""
    most = max(bits for bits in range(2_049) if pairs * 1_000_000 * bits**6 < 2_048**6)
    assert 0 < most < 300
    assert _is_sure(2**most - 1, pairs)
    assert not _is_sure(2 ** (most + 1) - 1, pairs)


def test_a_block_of_the_year_2200_is_the_last_that_is_taken() -> None:
    last = int(datetime(2200, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())
    found = parse_header(block(last))
    assert found is not None
    assert found.time.year == 2200
    with pytest.raises(RpcNonsense):
        parse_header(block(last + 1))
    with pytest.raises(RpcNonsense):
        parse_header(block(2**62))


def block(timestamp: int) -> dict[str, Any]:
    return {
        "number": "0x1",
        "hash": "0x" + "11" * 32,
        "parentHash": "0x" + "22" * 32,
        "timestamp": hex(timestamp),
        "logsBloom": "0x" + "00" * 256,
    }
