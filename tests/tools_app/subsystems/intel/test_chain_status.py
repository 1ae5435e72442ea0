"""How a chain is, as its node says it."""

from __future__ import annotations

from decimal import Decimal

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tools_app.subsystems.intel import chain_status


def test_a_chain_is_told_by_its_block_its_fees_and_how_quickly_its_node_answers(chain: World) -> None:
    told = answer_of(make_context(chain), "intel_get_chain_status")
    assert chain_status.intel_get_chain_status.__name__ == "intel_get_chain_status"
    assert (told["chain_id"], told["uniswap_versions"]) == (CHAIN_ID, ["v2", "v3"])
    assert told["block_number"] == int(chain.rpc.call("eth_blockNumber"), 16)
    parts = Decimal(told["base_fee_gwei"]) + Decimal(told["priority_fee_gwei"])
    assert Decimal(told["gas_price_gwei"]) == parts > 0
    block = chain.rpc.call("eth_getBlockByNumber", "latest", False)
    tip = Decimal(int(chain.rpc.call("eth_maxPriorityFeePerGas"), 16)) / 10**9
    # The next block's base fee lies within an eighth of this one's.
    base = Decimal(int(block["baseFeePerGas"], 16)) / 10**9
    assert base * Decimal("0.87") <= Decimal(told["base_fee_gwei"]) <= base * Decimal("1.13")
    assert Decimal(told["priority_fee_gwei"]) == tip
    assert 0 <= told["rpc_latency_ms"] < 60_000 and told["block_age_seconds"] >= 0
