"""Rebalancing, compounding and batches on the real position manager: bounded as a whole, and nothing of the wallet."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.batches
import tools_app.protocols.uniswap.tools.rebalancing  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.tools_app.factories import make_context, report_of, run_plan
from tests.tools_app.protocols.uniswap.test_liquidity import (
    ETH,
    open_position,
    plan_of,
    rich_account,
    trade_back_and_forth,
)
from tools_app.core.errors import InvalidParams
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.errors import InvalidRange, PositionEmpty
from tools_app.protocols.uniswap.position_changes import FEE_DUST
from tools_app.protocols.uniswap.tools.batch_fields import MOST_OPERATIONS, parse_operations
from tools_app.protocols.uniswap.tools.joint_steps import UNTIL_SECONDS, is_worth_swapping
from tools_app.protocols.uniswap.v3.positions import V3Position, read_position
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.markets import PositionNotFound
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.schema import validate_params

NEAR = {"new_price_lower": "2850", "new_price_upper": "3142"}
ABOVE = {"new_price_lower": "3200", "new_price_upper": "3600"}


def look_at(chain: World, position_id: str) -> V3Position:
    return read_position(make_context(chain).chain(), deployment_on(31337), position_id)


def empty_wallet(chain: World, account: Any) -> None:
    for symbol in ("WETH", "USDC"):
        token = chain.tokens[symbol].address
        held = chain.rpc.balance_of(token, account.address)
        chain.transact(account, token, "transfer(address,uint256)", "0x" + "44" * 20, held)


def keeps_its_promises(outcome: PlanOutcome) -> bool:
    plan = outcome.plan
    return all(-outcome.deltas[flow.token.address] <= flow.bound for flow in plan.spends) and all(
        outcome.deltas[flow.token.address] >= flow.bound for flow in plan.receives
    )


def test_an_account_with_an_empty_wallet_moves_its_position_in_one_call(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    trade_back_and_forth(chain, 500)
    empty_wallet(chain, account)
    plan = plan_of(chain, account, "uniswap_lp_rebalance_position", position_id=position_id, **NEAR)
    assert plan.spends == () and plan.action_class is ActionClass.REBALANCE
    assert plan.details["is_atomic"] and len(plan.calls) == 3
    outcome = run_plan(chain, account, plan)
    assert keeps_its_promises(outcome)
    told = report_of("uniswap_lp_rebalance_position", outcome)
    assert told["old_position_id"] == position_id != told["new_position_id"]
    assert int(told["fees_collected0"]) > 0 and int(told["fees_collected1"]) > 0
    old, new = look_at(chain, position_id), look_at(chain, told["new_position_id"])
    assert old.liquidity == 0 and new.owner == account.address and new.liquidity == int(told["liquidity"])
    assert (new.tick_lower, new.tick_upper) == (told["new_tick_lower"], told["new_tick_upper"])


def test_a_range_that_takes_one_token_alone_is_reached_by_a_bounded_swap(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    empty_wallet(chain, account)
    plan = plan_of(chain, account, "uniswap_lp_rebalance_position", position_id=position_id, **ABOVE)
    assert plan.spends == () and not plan.details["is_atomic"]
    assert int(plan.details["swap_minimum"]) > 0 and plan.price_impact_bps is not None
    outcome = run_plan(chain, account, plan)
    assert keeps_its_promises(outcome)
    new = look_at(chain, report_of("uniswap_lp_rebalance_position", outcome)["new_position_id"])
    # All of it in WETH, but for what a price that moves by the slippage could have taken.
    assert 3.7 * ETH < new.amounts()[0] < 4.3 * ETH and new.amounts()[1] == 0
    for token in plan.tokens:
        for spender in (deployment_on(31337).v3_router, deployment_on(31337).v2_router):
            call = ("allowance(address,address)", account.address, spender)
            allowed = chain.rpc.read(token.address, *call, returns="(uint256)")
            assert allowed[0] == 0


def test_a_price_that_moved_beyond_the_slippage_leaves_the_position_as_it_was(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    before = look_at(chain, position_id).liquidity
    plan = plan_of(chain, account, "uniswap_lp_rebalance_position", position_id=position_id, slippage_bps=1, **NEAR)
    usdc, router = chain.tokens["USDC"].address, chain.contracts["uniswap_v3_swap_router_02"]
    trader = chain.new_account(ETH, {"USDC": 900_000 * 10**6})
    chain.transact(trader, usdc, "approve(address,uint256)", router, 2**256 - 1)
    swap = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    weth = chain.tokens["WETH"].address
    chain.transact(trader, router, swap, (usdc, weth, 500, trader.address, 900_000 * 10**6, 0, 0))
    *approvals, move = plan.calls
    for call in approvals:
        assert chain.send(account, call.to, "0x" + call.data.hex())["status"] == "0x1"
    assert chain.send(account, move.to, "0x" + move.data.hex())["status"] == "0x0"
    assert look_at(chain, position_id).liquidity == before


def test_fees_are_put_back_and_no_more_than_the_fees(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    wanted = {"position_id": position_id, "swap_to_optimal_ratio": False}
    with pytest.raises(PositionEmpty):
        plan_of(chain, account, "uniswap_lp_compound_fees", **wanted)
    trade_back_and_forth(chain, 500)
    empty_wallet(chain, account)
    before = look_at(chain, position_id)
    plan = plan_of(chain, account, "uniswap_lp_compound_fees", **wanted)
    assert [flow.expected for flow in plan.spends] == [0, 0]
    assert all(flow.bound <= fee for flow, fee in zip(plan.spends, (before.fees0, before.fees1), strict=True))
    assert plan.details["is_atomic"] and plan.deadline == chain.timestamp() + UNTIL_SECONDS
    outcome = run_plan(chain, account, plan)
    told, after = report_of("uniswap_lp_compound_fees", outcome), look_at(chain, position_id)
    assert after.liquidity - before.liquidity == int(told["liquidity_added"]) > 0
    assert all(delta >= 0 for token, delta in outcome.deltas.items() if token in {t.address for t in plan.tokens})


def test_a_batch_collects_takes_out_and_opens_in_one_call_and_names_what_it_did(chain: World) -> None:
    account = rich_account(chain)
    first, _ = open_position(chain, account)
    second, _ = open_position(chain, account, price_lower="2500", price_upper="3500")
    trade_back_and_forth(chain, 500)
    empty_wallet(chain, account)
    pair = {"token0": "WETH", "token1": "USDC", "price_lower": "2800", "price_upper": "3300", "fee": 500}
    operations = [
        {"op_type": "collect", "position_id": first},
        {"op_type": "remove", "position_id": second, "params": {"percent_to_remove": 50}},
        {"op_type": "add", "params": {**pair, "amount0": str(ETH // 2)}},
    ]
    plan = plan_of(chain, account, "uniswap_lp_batch_operations", operations=json.dumps(operations))
    assert plan.action_class is ActionClass.NEW_POSITION and plan.spends == () and plan.details["is_atomic"]
    outcome = run_plan(chain, account, plan)
    assert keeps_its_promises(outcome)
    told = report_of("uniswap_lp_batch_operations", outcome)
    assert [each["op_type"] for each in told["results"]] == ["collect", "remove", "add"]
    assert [each["position_id"] for each in told["results"]][:2] == [first, second]
    assert look_at(chain, told["results"][2]["position_id"]).owner == account.address
    assert (look_at(chain, first).fees0, told["gas_saved_vs_separate"]) == (0, None)


def test_fees_that_a_batch_collects_are_promised_where_nothing_takes_them(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    trade_back_and_forth(chain, 500)
    held = look_at(chain, position_id)
    collects = json.dumps([{"op_type": "collect", "position_id": position_id}])
    plan = plan_of(chain, account, "uniswap_lp_batch_operations", operations=collects)
    fees = (held.fees0, held.fees1)
    assert plan.action_class is ActionClass.DECREASE_POSITION and len(plan.calls) == 1
    assert [flow.expected for flow in plan.receives] == list(fees)
    assert [flow.bound for flow in plan.receives] == [fee - FEE_DUST for fee in fees]
    assert keeps_its_promises(run_plan(chain, account, plan))


def test_nobody_s_positions_but_the_golem_s_are_touched(chain: World) -> None:
    owner, stranger = rich_account(chain), rich_account(chain)
    position_id, _ = open_position(chain, owner)
    one = json.dumps([{"op_type": "remove", "position_id": position_id}])
    for tool, params in (
        ("uniswap_lp_rebalance_position", {"position_id": position_id, **NEAR}),
        ("uniswap_lp_compound_fees", {"position_id": position_id}),
        ("uniswap_lp_batch_operations", {"operations": one}),
    ):
        with pytest.raises(PositionNotFound):
            plan_of(chain, stranger, tool, **params)


def test_the_range_it_has_and_an_empty_position_are_refused(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account)
    same = {"new_price_lower": "2700", "new_price_upper": "3300"}
    with pytest.raises(InvalidRange, match="exactly this range"):
        plan_of(chain, account, "uniswap_lp_rebalance_position", position_id=position_id, **same)
    run_plan(chain, account, plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id))
    with pytest.raises(PositionEmpty):
        plan_of(chain, account, "uniswap_lp_rebalance_position", position_id=position_id, **NEAR)


@pytest.mark.parametrize(
    "operations",
    [
        [{"op_type": "collect", "position_id": "7"}, {"op_type": "remove", "position_id": "7"}],
        [{"op_type": "compound", "position_id": "7"}, {"op_type": "collect", "position_id": "8"}],
        [{"op_type": "rebalance", "position_id": "7"}],
        [{"op_type": "collect", "position_id": "7", "recipient": "0x" + "11" * 20}],
        [{"op_type": "remove", "position_id": "7", "params": {"percent_to_remove": 101}}],
        [],
    ],
)
def test_what_no_batch_may_say_is_refused_by_its_field(chain: World, operations: list[Any]) -> None:
    with pytest.raises(InvalidParams, match=r"\w"):
        plan_of(chain, rich_account(chain), "uniswap_lp_batch_operations", operations=json.dumps(operations))


def test_ten_operations_are_one_batch_and_eleven_are_not() -> None:
    listed = [{"op_type": "collect", "position_id": str(number)} for number in range(MOST_OPERATIONS + 1)]
    assert len(parse_operations(json.dumps(listed[:-1]))) == MOST_OPERATIONS
    with pytest.raises(InvalidParams):
        parse_operations(json.dumps(listed))


def test_a_batch_is_told_in_four_thousand_characters() -> None:
    model = REGISTRY.get("uniswap_lp_batch_operations").params_model
    assert validate_params(model, {"operations": "[" + " " * 3_998 + "]"})
    with pytest.raises(InvalidParams):
        validate_params(model, {"operations": "[" + " " * 3_999 + "]"})


def test_a_surplus_under_a_hundredth_stays_over() -> None:
    assert is_worth_swapping(100, of=10_000) and not is_worth_swapping(99, of=10_000)
    assert not is_worth_swapping(0, of=0)
