"""V4 positions are moved, compounded and tended to in batches, V3 positions migrated, each as one bounded plan."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.batches
import tools_app.protocols.uniswap.tools.migrating
import tools_app.protocols.uniswap.tools.rebalancing  # noqa: F401  declares the tools
from permits_app.safety.decoding import read_calls
from tests.evm.world import World
from tests.tools_app.factories import make_context, report_of, run_plan
from tests.tools_app.protocols.uniswap.test_liquidity import open_position as open_v3_position
from tests.tools_app.protocols.uniswap.test_swaps import ETH, plan_swap, rich_account
from tests.tools_app.protocols.uniswap.test_v4_liquidity import (
    USD,
    held_of,
    key,
    open_position,
    plan_of,
    rights_left,
    trade_back_and_forth,
)
from tests.tools_app.protocols.uniswap.v4_hooks import EXIT_TAXER, contracts, open_hooked_pool
from tools_app.chain.abi import decode_input
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.v3 import plans as v3_plans
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.markets import PoolNotFound, PositionNotFound
from tools_app.toolkit.plan import PlanOutcome, TxPlan
from tools_app.toolkit.views import NATIVE

pytestmark = pytest.mark.protocols("uniswap_v4")


def carry_out(chain: World, account: Any, plan: TxPlan) -> PlanOutcome:
    """Sent as planned: whoever reads the bytes finds its positions, items and hooks, and every bound holds."""
    read = read_calls(plan.calls, account=account.address, chain=make_context(chain).chain())
    assert set(read.recipients) == {account.address} and set(read.deadlines) == {plan.deadline}
    assert tuple(read.items) == plan.items and tuple(dict.fromkeys(read.hooks)) == plan.hooks
    outcome = run_plan(chain, account, plan)
    for flow in plan.spends:
        assert -outcome.deltas.get(flow.token.address, 0) <= flow.bound
    for flow in plan.receives:
        assert outcome.deltas.get(flow.token.address, 0) >= flow.bound
    assert not any(rights_left(chain, account, ["USDC", "DAI", "WETH"]))
    for place in (contracts().positions, deployment_on(31337).v3_position_manager):
        assert int(chain.rpc.call("eth_getBalance", place, "latest"), 16) == 0
    return outcome


def test_a_v4_position_is_moved_to_another_range_under_one_permit_and_its_nft_is_burned(chain: World) -> None:
    account = rich_account(chain)
    position_id = open_position(chain, account, "coin")
    trade_back_and_forth(chain, "coin")
    params = {"position_id": position_id, "new_price_lower": "2850", "new_price_upper": "3142"}
    moved = carry_out(chain, account, plan_of(chain, account, "uniswap_lp_rebalance_position", **params))
    report = report_of("uniswap_lp_rebalance_position", moved)
    new = report["new_position_id"]
    assert report["old_position_id"] == position_id and new.startswith("v4:") and new != position_id
    assert int(report["fees_collected0"]) > 0
    (held,) = held_of(chain, account, position_id, new)
    assert (held.ref.id, held.facts["liquidity"]) == (new, report["liquidity"])


def test_a_range_that_takes_the_other_token_alone_is_reached_by_a_bounded_swap(chain: World) -> None:
    account = rich_account(chain)
    position_id = open_position(chain, account, "coin")
    params = {"position_id": position_id, "new_price_lower": "3200", "new_price_upper": "3600"}
    plan = plan_of(chain, account, "uniswap_lp_rebalance_position", **params)
    assert plan.details["swap_token"] == chain.tokens["USDC"].address
    moved = carry_out(chain, account, plan)
    (held,) = held_of(chain, account, report_of("uniswap_lp_rebalance_position", moved)["new_position_id"])
    assert held.facts["in_range"] is False and [leg.token for leg in held.legs if leg.raw] == [NATIVE]


def test_fees_of_a_v4_position_go_back_into_it_and_no_more_than_the_fees(chain: World) -> None:
    account = rich_account(chain)
    position_id = open_position(chain, account, "tokens")
    trade_back_and_forth(chain, "tokens")
    (before,) = held_of(chain, account, position_id)
    params = {"position_id": position_id, "swap_to_optimal_ratio": False}
    done = carry_out(chain, account, plan_of(chain, account, "uniswap_lp_compound_fees", **params))
    report = report_of("uniswap_lp_compound_fees", done)
    (after,) = held_of(chain, account, position_id)
    assert report["fees_collected0"] == before.facts["fees0"]
    assert int(after.facts["liquidity"]) - int(before.facts["liquidity"]) == int(report["liquidity_added"]) > 0
    assert all(outcome >= 0 for token, outcome in done.deltas.items() if token != NATIVE)


def test_a_batch_tends_to_positions_of_both_versions(chain: World) -> None:
    account = rich_account(chain)
    older, _ = open_v3_position(chain, account)
    newer, third = open_position(chain, account, "coin"), open_position(chain, account, "tokens")
    trade_back_and_forth(chain, "tokens")
    operations = [
        {"op_type": "remove", "position_id": older, "params": {"percent_to_remove": 50}},
        {"op_type": "remove", "position_id": newer, "params": {"percent_to_remove": 100}},
        {"op_type": "collect", "position_id": third},
    ]
    plan = plan_of(chain, account, "uniswap_lp_batch_operations", operations=json.dumps(operations))
    done = report_of("uniswap_lp_batch_operations", carry_out(chain, account, plan))
    assert [each["position_id"] for each in done["results"]] == [older, newer, third]
    left = {each.ref.id for each in held_of(chain, account, newer, third)}
    assert left == {older, third}


@pytest.mark.parametrize("pair", ["coin", "tokens"])
def test_a_v3_position_is_migrated_to_v4_and_nothing_of_the_wallet_goes_with_it(chain: World, pair: str) -> None:
    account = rich_account(chain)
    range_of = {
        "coin": {},
        "tokens": {
            "token0": "DAI",
            "token1": "USDC",
            "price_lower": "0.95",
            "price_upper": "1.05",
            "fee": 100,
            "amount0": str(1_000 * ETH),
        },
    }
    old, _ = open_v3_position(chain, account, **range_of[pair])
    plan = plan_of(chain, account, "uniswap_lp_migrate_position", position_id=old)
    # What goes in is at most what surely comes out: no token is spent.
    assert plan.spends == () and plan.details["pool"] == key(chain, {"coin": 2, "tokens": 0}[pair]).pool_id
    done = carry_out(chain, account, plan)
    report = report_of("uniswap_lp_migrate_position", done)
    assert (report["old_position_id"], report["target_version"]) == (old, "v4")
    (held,) = held_of(chain, account, report["new_position_id"])
    assert held.facts["version"] == "v4" and held.facts["liquidity"] == report["liquidity"]
    assert all(raw >= 0 for token, raw in done.deltas.items() if token != NATIVE)
    if pair == "coin":
        assert {leg.token for leg in held.legs} == {NATIVE, chain.tokens["USDC"].address}


def test_a_v3_position_goes_to_another_fee_in_one_call(chain: World) -> None:
    account = rich_account(chain)
    old, _ = open_v3_position(chain, account)
    params = {"position_id": old, "target_version": "v3", "target_fee": 3_000}
    plan = plan_of(chain, account, "uniswap_lp_migrate_position", **params)
    report = report_of("uniswap_lp_migrate_position", run_plan(chain, account, plan))
    assert (report["old_position_id"], report["target_version"]) == (old, "v3")
    assert report["new_position_id"].isdecimal() and int(report["liquidity"]) > 0
    again, _ = open_v3_position(chain, account)
    for wrong in ({"target_fee": 500}, {"target_fee": None}, {"pool": key(chain, 2).pool_id}):
        with pytest.raises(InvalidParams):
            plan_of(chain, account, "uniswap_lp_migrate_position", **{**params, "position_id": again, **wrong})


def test_a_pool_that_moved_beyond_the_slippage_stops_a_migration_and_the_tokens_are_the_golems(chain: World) -> None:
    account, stranger = rich_account(chain), chain.new_account(10 * ETH, {"USDC": 3_000_000 * USD})
    old, _ = open_v3_position(chain, account)
    plan = plan_of(chain, account, "uniswap_lp_migrate_position", position_id=old)
    pushed = {"token_in": "USDC", "token_out": "ETH", "amount": str(800_000 * USD), "slippage_bps": 5_000}
    run_plan(chain, stranger, plan_swap(chain, stranger, route="v4:500", **pushed))
    with pytest.raises(AssertionError):
        run_plan(chain, account, plan)
    assert held_of(chain, account) == ()


def test_a_migration_into_a_pool_with_a_hook_says_so(chain: World) -> None:
    account = rich_account(chain)
    pool = open_hooked_pool(chain, EXIT_TAXER)
    wanted = {"token0": "DAI", "token1": "USDC", "price_lower": "0.9", "price_upper": "1.1", "amount0": str(ETH)}
    old, _ = open_v3_position(chain, account, **wanted, fee=100)
    plan = plan_of(chain, account, "uniswap_lp_migrate_position", position_id=old, pool=pool.pool_id)
    assert [each.address for each in plan.hooks] == [EXIT_TAXER.address]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"target_fee": 10_000}, "POOL_NOT_FOUND"),
        ({"pool": "0x" + "ab" * 32}, "POOL_NOT_FOUND"),
        ({"target_version": "v2"}, "INVALID_PARAMS"),
        ({"position_id": "999999"}, "POSITION_NOT_FOUND"),
        ({"position_id": "v4:1"}, "INVALID_PARAMS"),
    ],
)
def test_what_cannot_be_migrated_is_refused_with_its_code(chain: World, changes: dict[str, Any], code: str) -> None:
    account = rich_account(chain)
    old, _ = open_v3_position(chain, account)
    with pytest.raises(GolemError) as refused:
        plan_of(chain, account, "uniswap_lp_migrate_position", **{"position_id": old, **changes})
    assert refused.value.code == code


def test_another_pool_and_a_stranger_are_refused(chain: World) -> None:
    account, stranger = rich_account(chain), rich_account(chain)
    old, _ = open_v3_position(chain, account)
    with pytest.raises(InvalidParams):
        plan_of(chain, account, "uniswap_lp_migrate_position", position_id=old, pool=key(chain, 0).pool_id)
    with pytest.raises(PositionNotFound):
        plan_of(chain, stranger, "uniswap_lp_migrate_position", position_id=old)
    with pytest.raises(PoolNotFound) as refused:
        plan_of(chain, account, "uniswap_lp_migrate_position", position_id=old, target_fee=100)
    assert refused.value.data["target_fees"] == [500]
    newer = open_position(chain, account, "coin")
    moved = {"position_id": newer, "new_price_lower": "2850", "new_price_upper": "3142", "fee": 3_000}
    with pytest.raises(InvalidParams, match="own pool"):
        plan_of(chain, account, "uniswap_lp_rebalance_position", **moved)


def test_coin_that_v3_would_keep_or_pay_to_somebody_else_is_not_known(chain: World) -> None:
    account = rich_account(chain)
    old, _ = open_v3_position(chain, account)
    plan = plan_of(chain, account, "uniswap_lp_migrate_position", position_id=old)
    (index,) = [i for i, each in enumerate(plan.calls) if each.to == deployment_on(31337).v3_position_manager]
    (steps,) = decode_input(v3_plans.MULTICALL, plan.calls[index].data)
    reader = make_context(chain).chain()

    def read(changed: list[bytes]) -> Any:
        call = v3_plans.bundle(manager=plan.calls[index].to, steps=changed, label="otherwise")
        return read_calls([call], account=account.address, chain=reader)

    assert set(read(list(steps)).recipients) == {account.address}
    for changed in (steps[:-1], steps[:2], [*steps, steps[-1]], [steps[0], *steps[2:]]):
        with pytest.raises(UnknownCall):
            read(list(changed))
