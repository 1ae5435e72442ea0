"""Pendle's own contracts on the local chain: what the oracle tells of a market that nobody has traded in yet."""

from __future__ import annotations

from typing import Any

import pytest

from tools_app.protocols.pendle.addresses import LOCAL_CHAIN_ID, deployments

pytestmark = [pytest.mark.protocols("pendle")]
WAD = 10**18


def test_contracts_stand_where_the_product_looks_for_them(chain: Any) -> None:
    assert chain.protocols["pendle"] == dict(deployments(LOCAL_CHAIN_ID) or {})


def test_the_oracle_is_ready_and_a_claim_and_its_yield_are_one_share(chain: Any) -> None:
    at = chain.protocols["pendle"]
    read = chain.rpc.read
    state = read(at["oracle"], "getOracleState(address,uint32)", at["market_dai"], 900, returns="(bool,uint16,bool)")
    rates = [
        read(at["oracle"], f"{each}(address,uint32)", at["market_dai"], 900, returns="(uint256)")[0]
        for each in ("getPtToAssetRate", "getYtToAssetRate", "getLpToAssetRate")
    ]
    assert (state[0], state[2]) == (False, True)
    assert rates[0] + rates[1] == WAD and 80 * WAD // 100 < rates[0] < 84 * WAD // 100
    assert 18 * WAD // 10 < rates[2] < 19 * WAD // 10
