"""Where a figure of order flow changes its class, and the least it takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.history.conftest import followed as followed
from tests.tools_app.history.followed import Followed
from tools_app.portfolio.pool_history import InsufficientHistory
from tools_app.subsystems.intel.flow_tools import LEAST_BLOCKS, classify_vpin
from tools_app.subsystems.intel.impact_tools import LEAST_MOVES


def test_flow_is_moderate_from_three_tenths_and_toxic_from_six() -> None:
    assert [classify_vpin(value) for value in (0.299, 0.3, 0.599, 0.6)] == ["SAFE", "MODERATE", "MODERATE", "TOXIC"]


def tell_loss(followed: Followed) -> Any:
    return answer_of(make_context(followed.world), "intel_compute_lvr", pool=followed.pool.address, lookback="1h")


@pytest.mark.django_db
def test_a_loss_takes_three_blocks_with_trades(followed: Followed) -> None:
    followed.mine(2)
    quiet = followed.world.rpc.call("evm_increaseTime", 7_200)
    followed.mine()
    assert quiet is not None and LEAST_BLOCKS == 3
    for amount in (10**11, 2 * 10**11):
        followed.swap(amount)
    with pytest.raises(InsufficientHistory):
        tell_loss(followed)
    followed.swap(10**11)
    assert tell_loss(followed)["basis"]["sample"] == 2


@pytest.mark.django_db
def test_a_share_takes_thirty_stretches(followed: Followed) -> None:
    params = {"pool": followed.pool.address, "trade_size_usd": "100", "slippage_bps": 1}
    followed.world.rpc.call("evm_increaseTime", 86_401)
    followed.mine()
    followed.world.refresh_feeds()
    for _ in range(2 * LEAST_MOVES):
        followed.swap(10**11)
    told = answer_of(make_context(followed.world), "intel_estimate_revert_risk", **params)
    assert told["revert_probability"] is None and "29" in told["reason"], told
    followed.swap(10**11)
    followed.swap(10**11)
    told = answer_of(make_context(followed.world), "intel_estimate_revert_risk", **params)
    assert told["basis"]["sample"] == LEAST_MOVES
    assert told["revert_probability"] == "1", "the price rose by more than a basis point in every one of them"
    assert float(told["interval"][0]) < 1 == float(told["interval"][1])
