"""How a chain is, as its node says it."""

from __future__ import annotations

from decimal import Decimal

from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context
from tools_app.core import clock
from tools_app.subsystems.intel import chain_status


def test_a_chain_is_told_by_its_block_its_fees_and_how_quickly_its_node_answers(chain: World) -> None:
    context = make_context(chain)
    begun = clock.monotonic_ms()
    told = answer_of(context, "intel_get_chain_status")
    took = clock.monotonic_ms() - begun
    assert chain_status.intel_get_chain_status.__name__ == "intel_get_chain_status"
    assert (told["chain_id"], told["markets"]) == (CHAIN_ID, ["uniswap"])
    assert told["block_number"] == int(chain.rpc.call("eth_blockNumber"), 16)
    parts = Decimal(told["base_fee_gwei"]) + Decimal(told["priority_fee_gwei"])
    assert Decimal(told["gas_price_gwei"]) == parts > 0
    fees = context.chain().fees()
    assert Decimal(told["base_fee_gwei"]) == Decimal(fees.base_fee) / 10**9
    assert Decimal(told["priority_fee_gwei"]) == Decimal(fees.priority_fee) / 10**9
    assert 0 <= told["rpc_latency_ms"] <= took and told["block_age_seconds"] >= 0
