"""Positions are opened, grown, harvested and closed by their plans on the real position manager, to the wei."""

from __future__ import annotations

from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.liquidity
import tools_app.protocols.uniswap.tools.withdrawals  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context, report_of, run_plan
from tools_app.core.errors import GolemError
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.v3.positions import read_position
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import PlanOutcome, TxPlan

ETH = 10**18
UNITS = {"USDC": 10**6, "WETH": ETH, "DAI": ETH, "WBTC": 10**8, "USDT": 10**6}
PRICE = {"USDC": 1, "DAI": 1, "WETH": 3_000, "WBTC": 60_000}


def plan_of(chain: World, account: Any, tool: str, **params: Any) -> TxPlan:
    plan: TxPlan = call_tool(make_context(chain, address=account.address), tool, **params)
    return plan


def check_promises(outcome: PlanOutcome) -> None:
    for flow in outcome.plan.spends:
        assert -outcome.deltas[flow.token.address] == flow.expected <= flow.bound
    for flow in outcome.plan.receives:
        assert outcome.deltas[flow.token.address] == flow.expected >= flow.bound


def trade_back_and_forth(chain: World, fee: int, *, usd: int = 300_000) -> None:
    """Others swap USDC for WETH and back through one V3 pool, which pays fees to its positions."""
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    router = chain.contracts["uniswap_v3_swap_router_02"]
    trader = chain.new_account(ETH, {"USDC": usd * 10**6})
    swap = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    for token, other in ((usdc, weth), (weth, usdc)):
        held = chain.rpc.balance_of(token, trader.address)
        chain.transact(trader, token, "approve(address,uint256)", router, held)
        chain.transact(trader, router, swap, (token, other, fee, trader.address, held, 0, 0))


def open_position(chain: World, account: Any, **params: Any) -> tuple[str, PlanOutcome]:
    defaults: dict[str, Any] = {
        "token0": "WETH",
        "token1": "USDC",
        "price_lower": "2700",
        "price_upper": "3300",
        "fee": 500,
        "amount0": str(2 * ETH),
    }
    plan = plan_of(chain, account, "uniswap_lp_add_liquidity", **{**defaults, **params})
    outcome = run_plan(chain, account, plan)
    return report_of("uniswap_lp_add_liquidity", outcome)["position_id"], outcome


def rich_account(chain: World) -> Any:
    return chain.new_account(5 * ETH, {"USDC": 50_000 * 10**6, "WETH": 20 * ETH, "DAI": 50_000 * ETH, "WBTC": 10**8})


def test_a_position_lives_from_mint_to_close_exactly_as_planned(chain: World) -> None:
    account = rich_account(chain)
    position_id, minted = open_position(chain, account)
    check_promises(minted)
    assert minted.plan.action_class is ActionClass.NEW_POSITION
    added = report_of("uniswap_lp_add_liquidity", minted)
    assert added["liquidity"] == minted.plan.details["liquidity"]
    assert int(position_id) > 0

    grown = run_plan(
        chain,
        account,
        plan_of(
            chain,
            account,
            "uniswap_lp_increase_liquidity",
            position_id=position_id,
            amount0="7777777777",
            amount1="3000000000",
        ),
    )
    check_promises(grown)
    assert grown.plan.action_class is ActionClass.INCREASE_POSITION
    assert report_of("uniswap_lp_increase_liquidity", grown)["liquidity_added"] == grown.plan.details["liquidity"]

    trade_back_and_forth(chain, 500)
    collected = run_plan(chain, account, plan_of(chain, account, "uniswap_lp_collect_fees", position_id=position_id))
    check_promises(collected)
    fees = report_of("uniswap_lp_collect_fees", collected)
    assert int(fees["fees_collected0"]) > 0
    assert int(fees["fees_collected1"]) > 0

    trade_back_and_forth(chain, 500)
    half = run_plan(
        chain,
        account,
        plan_of(
            chain,
            account,
            "uniswap_lp_remove_liquidity",
            position_id=position_id,
            percent_to_remove=50,
            collect_fees=False,
        ),
    )
    check_promises(half)
    assert half.plan.action_class is ActionClass.DECREASE_POSITION
    assert report_of("uniswap_lp_remove_liquidity", half)["fees_collected0"] == "0"

    rest = run_plan(chain, account, plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id))
    check_promises(rest)
    assert rest.plan.action_class is ActionClass.CLOSE_POSITION
    closed = report_of("uniswap_lp_remove_liquidity", rest)
    assert int(closed["fees_collected0"]) > 0
    ctx = make_context(chain, address=account.address)
    position = read_position(ctx.chain(), deployment_on(31337), position_id)
    assert (position.liquidity, position.fees0, position.fees1) == (0, 0, 0)


@pytest.mark.parametrize(
    "params",
    [
        {"amount0": str(2 * ETH)},
        {"amount0": None, "amount1": "3000000000"},
        {"amount0": str(ETH), "amount1": "100000000"},
        {"price_lower": "3500", "price_upper": "4000"},
        {"price_lower": "2000", "price_upper": "2500", "amount0": None, "amount1": "1000000000"},
        {"price_lower": "2999.5", "price_upper": "3000.5", "amount0": "1000000000000000"},
        {"token0": "USDC", "token1": "WETH", "price_lower": "0.0003", "price_upper": "0.0004", "amount0": "500000000"},
        {
            "token0": "WETH",
            "token1": "WBTC",
            "price_lower": "0.01",
            "price_upper": "0.2",
            "fee": 3000,
            "amount0": str(ETH),
        },
        {
            "token0": "DAI",
            "token1": "USDC",
            "price_lower": "0.99",
            "price_upper": "1.01",
            "fee": 100,
            "amount0": str(1000 * ETH),
        },
        {"fee": None},
    ],
)
def test_a_mint_takes_exactly_what_its_plan_says(chain: World, params: dict[str, Any]) -> None:
    account = rich_account(chain)
    _, outcome = open_position(chain, account, **params)
    check_promises(outcome)
    assert report_of("uniswap_lp_add_liquidity", outcome)["liquidity"] == outcome.plan.details["liquidity"]


def test_the_given_amounts_are_never_exceeded(chain: World) -> None:
    account = rich_account(chain)
    plan = plan_of(
        chain,
        account,
        "uniswap_lp_add_liquidity",
        token0="WETH",
        token1="USDC",
        price_lower="2500",
        price_upper="3500",
        amount0=str(ETH),
        amount1="2000000000",
    )
    bounds = {flow.token.symbol: flow.bound for flow in plan.spends}
    assert bounds["WETH"] <= ETH
    assert bounds["USDC"] <= 2_000_000_000
    approved = {allowance.token.symbol: allowance.granted for allowance in plan.allowances}
    assert approved == bounds


def test_a_range_is_the_same_named_in_either_order(chain: World) -> None:
    account = rich_account(chain)
    straight = plan_of(
        chain,
        account,
        "uniswap_lp_add_liquidity",
        token0="WETH",
        token1="USDC",
        price_lower="2500",
        price_upper="4000",
        amount0=str(ETH),
        fee=500,
    )
    reversed_ = plan_of(
        chain,
        account,
        "uniswap_lp_add_liquidity",
        token0="USDC",
        token1="WETH",
        price_lower="0.00025",
        price_upper="0.0004",
        amount1=str(ETH),
        fee=500,
    )
    for key in ("tick_lower", "tick_upper", "liquidity", "amount0", "amount1"):
        assert straight.details[key] == reversed_.details[key]


def test_two_positions_in_one_range_are_each_paid_to_the_wei(chain: World) -> None:
    first, second = rich_account(chain), rich_account(chain)
    one, _ = open_position(chain, first)
    trade_back_and_forth(chain, 500, usd=123_457)
    two, _ = open_position(chain, second, amount0="1234567890123456789")
    trade_back_and_forth(chain, 500, usd=98_765)
    for account, position_id in ((second, two), (first, one)):
        plan = plan_of(chain, account, "uniswap_lp_collect_fees", position_id=position_id)
        check_promises(run_plan(chain, account, plan))


def test_a_deposit_reverts_when_the_price_has_left_the_slippage(chain: World) -> None:
    account = rich_account(chain)
    plan = plan_of(
        chain,
        account,
        "uniswap_lp_add_liquidity",
        token0="WETH",
        token1="USDC",
        price_lower="2900",
        price_upper="3100",
        fee=500,
        amount0=str(ETH),
        slippage_bps=5,
    )
    whale = chain.new_account(ETH, {"USDC": 1_000_000 * 10**6})
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    router = chain.contracts["uniswap_v3_swap_router_02"]
    chain.transact(whale, usdc, "approve(address,uint256)", router, 10**12)
    chain.transact(
        whale,
        router,
        "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
        (usdc, weth, 500, whale.address, 10**12, 0, 0),
    )
    receipts = [chain.send(account, call.to, "0x" + call.data.hex()) for call in plan.calls]
    assert [receipt["status"] for receipt in receipts] == ["0x1", "0x1", "0x0"]


@pytest.mark.parametrize(
    ("tool", "params", "code"),
    [
        ("add", {"price_lower": "3300", "price_upper": "2700"}, "INVALID_RANGE"),
        ("add", {"price_lower": "3000", "price_upper": "3000"}, "INVALID_RANGE"),
        ("add", {"price_lower": "0", "price_upper": "3000"}, "INVALID_RANGE"),
        ("add", {"token0": "USDC", "token1": "WETH", "price_upper": "9" * 30}, "INVALID_RANGE"),
        ("add", {"price_lower": "3500", "price_upper": "4000", "amount0": None, "amount1": "5"}, "INVALID_RANGE"),
        ("add", {"price_lower": "-1"}, "INVALID_PARAMS"),
        ("add", {"price_lower": 2700.5}, "INVALID_PARAMS"),
        ("add", {"token0": "ETH"}, "INVALID_PARAMS"),
        ("add", {"token0": "USDC"}, "INVALID_PARAMS"),
        ("add", {"amount0": None}, "INVALID_PARAMS"),
        ("add", {"fee": 10_000}, "POOL_NOT_FOUND"),
        ("add", {"token0": "USDT"}, "POOL_NOT_FOUND"),
        ("add", {"amount0": "1"}, "ROUTING_AMOUNT_TOO_SMALL"),
        ("add", {"amount0": str(10**24)}, "INSUFFICIENT_BALANCE"),
        ("remove", {"position_id": "99999999"}, "POSITION_NOT_FOUND"),
        ("remove", {"position_id": "1"}, "POSITION_NOT_FOUND"),
        ("remove", {"position_id": "1", "percent_to_remove": 0}, "INVALID_PARAMS"),
        ("remove", {"position_id": "1", "percent_to_remove": 101}, "INVALID_PARAMS"),
        ("remove", {"position_id": "abc"}, "INVALID_PARAMS"),
        ("collect", {"position_id": "1"}, "POSITION_NOT_FOUND"),
        ("increase", {"position_id": "1", "amount0": "5"}, "POSITION_NOT_FOUND"),
        ("increase", {"position_id": "1"}, "INVALID_PARAMS"),
        ("increase", {"position_id": str(2**256), "amount0": "1"}, "POSITION_NOT_FOUND"),
    ],
)
def test_a_bad_liquidity_call_is_refused_with_its_code(
    chain: World, tool: str, params: dict[str, Any], code: str
) -> None:
    names = {
        "add": "add_liquidity",
        "remove": "remove_liquidity",
        "collect": "collect_fees",
        "increase": "increase_liquidity",
    }
    if tool == "add":
        params = {
            "token0": "WETH",
            "token1": "USDC",
            "price_lower": "2700",
            "price_upper": "3300",
            "amount0": str(ETH),
            **params,
        }
    with pytest.raises(GolemError) as refused:
        plan_of(chain, rich_account(chain), f"uniswap_lp_{names[tool]}", **params)
    assert refused.value.code == code


def test_an_empty_position_says_so(chain: World) -> None:
    account = rich_account(chain)
    position_id, _ = open_position(chain, account, price_lower="3500", price_upper="4000")
    with pytest.raises(GolemError) as refused:
        plan_of(chain, account, "uniswap_lp_collect_fees", position_id=position_id)
    assert refused.value.code == "POSITION_EMPTY"
    run_plan(chain, account, plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id))
    with pytest.raises(GolemError) as again:
        plan_of(chain, account, "uniswap_lp_remove_liquidity", position_id=position_id)
    assert again.value.code == "POSITION_EMPTY"
