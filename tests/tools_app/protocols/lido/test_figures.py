"""What the reads say, and the yield that is sold, held against the chain and against sums done by hand."""

from __future__ import annotations

from typing import Any

import pytest

import tools_app.protocols.lido.tools.figures
import tools_app.protocols.lido.tools.sell_earned_yield
import tools_app.protocols.lido.tools.stake
import tools_app.protocols.lido.tools.withdraw
import tools_app.protocols.uniswap.tools.quotes
import tools_app.protocols.uniswap.tools.swaps  # noqa: F401  declares the tools
from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context, report_of, run_plan
from tests.tools_app.protocols.lido.staking import ETH, act, as_admin, at, list_of, report
from tools_app.apps import load_registry
from tools_app.core.errors import GolemError
from tools_app.protocols.lido.math import Rebase, SharesMoved, estimate_ready, measure_earned, rate_change, yearly_bps

pytestmark = [pytest.mark.django_db, pytest.mark.protocols("lido")]
DAY = 86_400


def ask(chain: World, who: Any, tool: str, **params: Any) -> Any:
    load_registry()
    return answer_of(make_context(chain, address=who.address), tool, **params)


def make_market(chain: World, *, other: str, ether: int, price_bps: int = 10_000) -> None:
    """Somebody makes a V2 pool of wstETH and a token of the world at the fair price, or so many basis points of it."""
    maker = chain.new_account(3 * ether, {other: 10 * 3_000 * ether // (10**12 if other == "USDC" else 1) // 1_000})
    act(chain, maker, "lido_stake", amount=str(ether))
    shares = chain.rpc.balance_of(at("wsteth"), maker.address)
    worth = chain.rpc.read(at("steth"), "getPooledEthByShares(uint256)", shares, returns="(uint256)")[0]
    amount = worth * price_bps // 10_000 * (3_000 if other == "USDC" else 1) // (10**12 if other == "USDC" else 1)
    chain.fund(maker.address, 0, {other: amount})
    router, token = chain.contracts["uniswap_v2_router"], chain.tokens[other].address
    for each, held in ((at("wsteth"), shares), (token, amount)):
        chain.transact(maker, each, "approve(address,uint256)", router, held)
    chain.transact(
        maker,
        router,
        "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
        at("wsteth"),
        token,
        shares,
        amount,
        0,
        0,
        maker.address,
        2**40,
        gas=8_000_000,
    )


def test_the_position_tells_both_tokens_their_ether_and_the_queue(chain: World) -> None:
    account = chain.new_account(30 * ETH)
    act(chain, account, "lido_stake", amount=str(10 * ETH))
    act(chain, account, "lido_stake", amount=str(5 * ETH), output_token="stETH")
    act(chain, account, "lido_unstake", amounts=[str(2 * ETH)])
    told = ask(chain, account, "lido_get_position")
    assert abs(int(told["eth_equivalent"]) - 15 * ETH) < 20 and told["is_simulated"] is True
    assert int(told["wst_eth_balance"]) == chain.rpc.balance_of(at("wsteth"), account.address)
    (request,) = told["open_withdrawal_requests"]
    assert request["eth"] == str(2 * ETH) and not request["is_final"] and request["estimated_ready_at"]
    assert told["yield_earned_since_last_harvest"] == "0"
    report(chain, earned=130 * ETH)
    grown = ask(chain, account, "lido_get_position")
    gain = int(grown["eth_equivalent"]) - int(told["eth_equivalent"])
    assert 0 < gain and abs(int(grown["yield_earned_since_last_harvest"]) - gain) < 1_000
    other = ask(chain, chain.new_account(ETH), "lido_get_position", account=account.address)
    assert other["eth_equivalent"] == grown["eth_equivalent"]


def test_the_rates_are_those_of_the_oracles_reports(chain: World) -> None:
    told = ask(chain, chain.new_account(ETH), "lido_get_rates")
    assert len(told["data_points"]) >= 29
    assert 2 < float(told["estimated_apy"]) < 3 and float(told["min_apy"]) <= float(told["average_apy"])
    assert 1.17 < float(told["share_rate"]) < 1.19
    assert 0 < float(told["delta_7d"]) < float(told["delta_30d"])
    report(chain, lost=1_000 * ETH)
    worse = ask(chain, chain.new_account(ETH), "lido_get_rates", days=7)
    assert float(worse["min_apy"]) < 0 and float(worse["share_rate"]) < float(told["share_rate"])


def test_the_oracle_tells_when_it_is_late_and_who_reported(chain: World) -> None:
    account = chain.new_account(ETH)
    fine = ask(chain, account, "lido_get_oracle_status")
    assert (fine["epochs_overdue"], fine["is_oracle_stalled"], fine["quorum_reached"]) == (0, False, True)
    assert fine["quorum_size"] == 2 and fine["members"] == 3
    as_admin(chain, "oracle", "setPunctual(bool)", False)
    chain.rpc.call("evm_increaseTime", DAY)
    chain.rpc.call("evm_mine")
    late = ask(chain, account, "lido_get_oracle_status")
    assert late["epochs_overdue"] == 225 and not late["is_oracle_stalled"] and not late["quorum_reached"]
    frame = chain.rpc.read(at("consensus"), "getCurrentFrame()", returns="(uint256,uint256)")
    for number in (1, 2):
        member = derive_account(f"lido oracle member {number}")
        chain.transact(member, at("consensus"), "submitReport(uint256,bytes32,uint256)", frame[0], b"\1" * 32, 1)
    told = ask(chain, account, "lido_get_oracle_status")
    assert told["quorum_reached"] and told["quorum_members_reporting"] == 2
    chain.rpc.call("evm_increaseTime", 2 * DAY)
    chain.rpc.call("evm_mine")
    assert ask(chain, account, "lido_get_oracle_status")["is_oracle_stalled"]


def test_leaving_is_weighed_between_the_queue_and_a_market(chain: World) -> None:
    account = chain.new_account(30 * ETH)
    assert ask(chain, account, "lido_exit_decision")["decision"] == "nothing_held"
    act(chain, account, "lido_stake", amount=str(10 * ETH))
    told = ask(chain, account, "lido_exit_decision")
    assert told["decision"] == "queue" and told["market_eth"] is None and told["queue_wait_seconds"] > 0
    as_admin(chain, "queue", "pauseFor(bool)", True)
    assert ask(chain, account, "lido_exit_decision")["decision"] == "hold"
    # Nothing is staked while the queue is paused, for the market neither.
    as_admin(chain, "queue", "pauseFor(bool)", False)
    make_market(chain, other="WETH", ether=400 * ETH)
    as_admin(chain, "queue", "pauseFor(bool)", True)
    told = ask(chain, account, "lido_exit_decision")
    assert told["decision"] == "sell" and 0 < float(told["market_discount_pct"]) < 4


def test_yield_is_sold_on_a_market_and_principal_is_not(chain: World) -> None:
    account = chain.new_account(300 * ETH)
    act(chain, account, "lido_stake", amount=str(200 * ETH))
    make_market(chain, other="USDC", ether=400 * ETH)
    with pytest.raises(GolemError) as nothing:
        ask(chain, account, "lido_harvest_yield")
    assert nothing.value.code == "NOTHING_TO_HARVEST"
    report(chain, earned=140 * ETH)
    load_registry()
    (held,) = (each for each in list_of(chain, account) if each.ref.id == "wsteth")
    plan = call_tool(make_context(chain, address=account.address), "lido_harvest_yield")
    assert not plan.spends and plan.receives[0].token.symbol == "USDC"
    outcome = run_plan(chain, account, plan)
    told = report_of("lido_harvest_yield", outcome)
    assert int(told["usdc_received"]) >= int(plan.details["least_usdc"]) > 0
    assert int(told["wst_eth_sold"]) == int(plan.details["amount"])
    (after,) = (each for each in list_of(chain, account) if each.ref.id == "wsteth")
    change = next(each for each in plan.changes if each.ref == held.ref)
    assert change.bound <= after.legs[0].raw - held.legs[0].raw < 0
    assert after.legs[0].raw >= 200 * ETH - 20, "what was put in is still there"
    with pytest.raises(GolemError) as again:
        call_tool(make_context(chain, address=account.address), "lido_harvest_yield")
    assert again.value.code == "NOTHING_TO_HARVEST", "it was harvested already"


def test_a_harvest_takes_no_market_that_pays_too_little(chain: World) -> None:
    account = chain.new_account(300 * ETH)
    act(chain, account, "lido_stake", amount=str(200 * ETH))
    report(chain, earned=140 * ETH)
    with pytest.raises(GolemError) as none:
        ask(chain, account, "lido_harvest_yield")
    assert none.value.code == "NO_SECONDARY_MARKET"
    make_market(chain, other="USDC", ether=400 * ETH, price_bps=9_000)
    with pytest.raises(GolemError) as cheap:
        ask(chain, account, "lido_harvest_yield")
    assert cheap.value.code == "NO_SECONDARY_MARKET" and int(cheap.value.data["offered"]) > 0
    plan = call_tool(make_context(chain, address=account.address), "lido_harvest_yield", min_usdc_out="1")
    assert plan.receives[0].bound >= plan.receives[0].expected * 9 // 10


def test_what_a_market_sells_cheaper_than_the_pool_is_bought_there(chain: World) -> None:
    make_market(chain, other="WETH", ether=400 * ETH, price_bps=9_500)
    load_registry()
    account = chain.new_account(30 * ETH)
    outcome = act(chain, account, "lido_stake", amount=str(ETH))
    told = report_of("lido_stake", outcome)
    assert told["route"] == "secondary_market" and not outcome.plan.receives
    (held,) = list_of(chain, account)
    assert held.legs[0].raw > ETH * 102 // 100
    assert held.legs[0].raw >= outcome.plan.changes[-1].bound


def test_a_paused_pool_sends_to_a_market_only_within_the_slippage(chain: World) -> None:
    make_market(chain, other="WETH", ether=400 * ETH, price_bps=10_010)
    load_registry()
    account = chain.new_account(30 * ETH)
    assert call_tool(make_context(chain, address=account.address), "lido_stake", amount=str(ETH)).details["route"] == (
        "direct"
    )
    as_admin(chain, "steth", "pauseStaking()")
    with pytest.raises(GolemError) as paused:
        ask(chain, account, "lido_stake", amount=str(ETH), max_slippage_bps=1)
    assert paused.value.code == "STAKING_PAUSED"
    ctx = make_context(chain, address=account.address)
    plan = call_tool(ctx, "lido_stake", amount=str(ETH), max_slippage_bps=200)
    assert plan.details["route"] == "secondary_market"


# ---- sums ----------------------------------------------------------------------------------------------------------


def rebase(day: int, before: int, after: int) -> Rebase:
    return Rebase(day * DAY, DAY, before, after, (day, 0))


def test_yield_counts_what_was_held_at_each_rebase_since_the_last_sale() -> None:
    one = 10**18
    rebases = [rebase(1, one, one + 100), rebase(2, one + 100, one + 250), rebase(3, one + 250, one + 200)]
    assert measure_earned(shares_now=2 * one, moves=[], rebases=rebases).wei == 400
    bought = SharesMoved((2, 5), one)
    assert measure_earned(shares_now=2 * one, moves=[bought], rebases=rebases).wei == 100 + 150 - 100
    sold = SharesMoved((2, 1), -one, is_sale=True)
    earned = measure_earned(shares_now=one, moves=[sold], rebases=rebases)
    assert (earned.wei, earned.rate_delta) == (-50, -50)
    assert measure_earned(shares_now=0, moves=[], rebases=[]).wei == 0


def test_rates_of_a_span_without_reports_are_unknown_and_not_zero() -> None:
    rebases = [rebase(1, 100, 110)]
    assert rate_change(rebases, since=2 * DAY) is None and yearly_bps(rebases, since=2 * DAY) is None
    assert rate_change(rebases, since=0) == 10 and yearly_bps(rebases, since=0) == 365 * 1_000


def test_the_queue_is_estimated_from_what_is_buffered_and_what_may_leave() -> None:
    report_at = 1_000
    args: dict[str, Any] = {"next_report_at": report_at, "is_bunker": False}
    assert estimate_ready(queued_wei=10, buffered_wei=10, **args) == report_at
    slow = estimate_ready(queued_wei=57_600 * ETH, buffered_wei=0, **args)
    assert slow == report_at + 5 * DAY
    assert estimate_ready(next_report_at=1, queued_wei=1, buffered_wei=9, is_bunker=True) is None
