from __future__ import annotations

from typing import Any

import pytest

from tools_app.chain.gas import parse_fees
from tools_app.chain.node_errors import RpcNonsense
from tools_app.toolkit.views import FeeQuote


def _history(base_fees: list[int], rewards: list[int]) -> dict[str, Any]:
    return {"baseFeePerGas": [hex(fee) for fee in base_fees], "reward": [[hex(reward)] for reward in rewards]}


def test_the_next_base_fee_and_the_median_of_what_was_paid_are_used() -> None:
    assert parse_fees([_history([5, 10], [0, 7, 1, 100]), "0x63"]) == FeeQuote(base_fee=10, priority_fee=7, max_fee=27)


def test_empty_blocks_fall_back_on_the_nodes_own_suggestion() -> None:
    assert parse_fees([_history([10], [0, 0]), "0x63"]).priority_fee == 99
    assert parse_fees([{"baseFeePerGas": ["0xa"], "reward": None}, "0x63"]).priority_fee == 99


@pytest.mark.parametrize("history", [None, {}, {"baseFeePerGas": []}, {"baseFeePerGas": ["x"]}, []])
def test_a_history_of_another_shape_is_nonsense(history: Any) -> None:
    with pytest.raises(RpcNonsense):
        parse_fees([history, "0x1"])
