"""What an account has at Uniswap is listed whole, worth the feeds' ratio, and left step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import tools_app.protocols.uniswap.tools.liquidity
import tools_app.protocols.uniswap.tools.swaps
import tools_app.protocols.uniswap.tools.withdrawals  # noqa: F401  declares the tools
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import call_tool, make_context, run_plan
from tests.tools_app.protocols.uniswap.test_liquidity import ETH, open_position, rich_account, trade_back_and_forth
from tools_app.portfolio.holdings import measure_holdings
from tools_app.protocols.uniswap import positions as held_here
from tools_app.protocols.uniswap.addresses import deployment_on, find_deployment
from tools_app.protocols.uniswap.pool_addresses import v2_pair_address, v3_pool_address
from tools_app.protocols.uniswap.protocol import PROTOCOL
from tools_app.protocols.uniswap.v2.math import protocol_shares
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.markets import PositionNotFound
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.positions import Act, Position, PositionRef, Stuck, drive

ADD_V2 = "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)"
FAR = 2**40
USD = {"USDC": (1, 10**6), "WETH": (3_000, 10**18)}


def list_of(chain: World, account: Any, hints: Sequence[PositionRef] = ()) -> tuple[Position, ...]:
    reader = make_context(chain, address=account.address).chain()
    assert PROTOCOL.positions is not None
    return drive(PROTOCOL.positions.list(CHAIN_ID, account.address, hints), reader.call_many)


def worth(chain: World, position: Position) -> int:
    """Micro-USD of its legs, by hand."""
    by_address = {chain.tokens[symbol].address: figures for symbol, figures in USD.items()}
    return sum(leg.raw * by_address[leg.token][0] * 10**6 // by_address[leg.token][1] for leg in position.legs)


def push_price(chain: World, *, usd: int, fee: int = 500) -> None:
    """Somebody buys WETH for so many dollars at one V3 pool, and stays there."""
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    router = chain.contracts["uniswap_v3_swap_router_02"]
    trader = chain.new_account(ETH, {"USDC": usd * 10**6})
    chain.transact(trader, usdc, "approve(address,uint256)", router, usd * 10**6)
    swap = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    chain.transact(trader, router, swap, (usdc, weth, fee, trader.address, usd * 10**6, 0, 0))


def add_shares(chain: World, account: Any, token_a: str, token_b: str, amount_a: int, amount_b: int) -> dict[str, Any]:
    router = chain.contracts["uniswap_v2_router"]
    for token, amount in ((token_a, amount_a), (token_b, amount_b)):
        chain.transact(account, token, "approve(address,uint256)", router, amount)
    return chain.transact(
        account, router, ADD_V2, token_a, token_b, amount_a, amount_b, 0, 0, account.address, FAR, gas=5_000_000
    )


def views_of(outcome: PlanOutcome) -> list[Any]:
    return [log for receipt in outcome.receipts for log in receipt.logs]


def test_an_account_without_positions_costs_one_batch(chain: World) -> None:
    account = chain.new_account(ETH)
    reader = make_context(chain, address=account.address).chain()
    batches = []

    def count(calls: Sequence[ReadCall]) -> Sequence[ReadOutcome]:
        batches.append(len(calls))
        return reader.call_many(calls)

    assert PROTOCOL.positions is not None
    assert drive(PROTOCOL.positions.list(CHAIN_ID, account.address, ()), count) == ()
    assert len(batches) == 1


def test_a_v3_position_is_worth_what_went_in_and_a_moved_pool_adds_nothing(chain: World) -> None:
    account = rich_account(chain)
    token_id, minted = open_position(chain, account)
    (held,) = list_of(chain, account)
    assert str(held.ref) == f"uniswap/nft/{CHAIN_ID}/{token_id}"
    assert {leg.token for leg in held.legs} == {chain.tokens["USDC"].address, chain.tokens["WETH"].address}
    put_in = -sum(
        minted.deltas[chain.tokens[symbol].address] * dollars * 10**6 // unit for symbol, (dollars, unit) in USD.items()
    )
    assert 0.99 * put_in < worth(chain, held) <= 1.001 * put_in
    assert "unpriced" not in held.facts
    before = worth(chain, held)
    push_price(chain, usd=400_000)
    (moved,) = list_of(chain, account)
    fees = int(moved.facts["fees0"]) * 3_000 // 10**12 + int(moved.facts["fees1"])
    assert worth(chain, moved) <= before + fees + 2
    assert moved.facts["at_pool_price0"] != held.facts["at_pool_price0"]


def test_an_account_buried_under_positions_is_told_its_own_and_that_there_are_more(
    chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = rich_account(chain)
    ids = [open_position(chain, account, amount0=str(ETH // 10))[0] for _ in range(4)]
    assert {held.ref.id for held in list_of(chain, account)} == set(ids)
    monkeypatch.setattr(held_here, "MOST_NFTS", 2)
    monkeypatch.setattr(held_here, "STEP_OF_NEWEST", 1)
    own = PositionRef("uniswap", "nft", CHAIN_ID, ids[0])
    gone = PositionRef("uniswap", "nft", CHAIN_ID, "999999")
    strangers = PositionRef("uniswap", "nft", CHAIN_ID, "1")
    found = {held.ref.id: held for held in list_of(chain, account, [own, gone, strangers])}
    assert found.keys() == {ids[0], *ids[2:], held_here.BEYOND}
    beyond = found[held_here.BEYOND]
    assert not beyond.is_whole and beyond.facts["not_read"] == "1" and beyond.label.startswith("1 more")
    assert PROTOCOL.exits is not None and isinstance(PROTOCOL.exits.next_step(beyond, {}, 0), Stuck)
    # What counts it says so. What it leaves out nobody met with, so that it is held against an earlier value.
    holdings = measure_holdings(chain=make_context(chain).chain(), account=account.address, hints=[own])
    assert not holdings.is_complete and holdings.is_steady
    assert holdings.problems == ("POSITIONS_NOT_COUNTED: 1 more Uniswap V3 positions, not read",)
    assert sum(each.micro_usd or 0 for each in holdings.positions if each.ref.id == ids[0]) > 0


def test_what_is_read_of_a_buried_account_is_the_same_after_one_more_is_opened() -> None:
    windows = {held_here._Nfts.of(count, ()).first for count in range(1_001, 1_065)}
    assert len(windows) == 1
    for count in (999, 1_000, 1_001, 1_064, 5_000):
        nfts = held_here._Nfts.of(count, ())
        assert count - nfts.first <= held_here.MOST_NFTS and nfts.first < count


def test_a_v3_position_is_left_step_by_step_until_nothing_is_in_it(chain: World) -> None:
    account = rich_account(chain)
    _, minted = open_position(chain, account)
    assert PROTOCOL.positions is not None and PROTOCOL.exits is not None
    born = PROTOCOL.positions.born(views_of(minted), account.address, CHAIN_ID)
    trade_back_and_forth(chain, 500)
    steps = []
    while held := list_of(chain, account):
        assert (held[0].ref,) == born
        step = PROTOCOL.exits.next_step(held[0], {}, 0)
        assert isinstance(step, Act)
        steps.append(step.tool)
        plan = call_tool(make_context(chain, address=account.address), step.tool, **step.params)
        run_plan(chain, account, plan)
    assert steps == ["uniswap_lp_remove_liquidity"]


@pytest.mark.parametrize("moved_usd", [0, 400_000])
def test_every_plan_says_exactly_what_it_changes_in_positions(chain: World, moved_usd: int) -> None:
    account = rich_account(chain)
    if moved_usd:
        push_price(chain, usd=moved_usd)
    token_id = ""
    for tool, params in (
        (
            "uniswap_lp_add_liquidity",
            {
                "token0": "WETH",
                "token1": "USDC",
                "price_lower": "2700",
                "price_upper": "3900",
                "fee": 500,
                "amount0": str(ETH // 2),
            },
        ),
        ("uniswap_lp_increase_liquidity", {"amount0": "7777777777", "amount1": "3000000000"}),
        ("uniswap_lp_collect_fees", {}),
        ("uniswap_lp_remove_liquidity", {"percent_to_remove": 30, "collect_fees": False}),
        ("uniswap_lp_remove_liquidity", {}),
    ):
        if tool == "uniswap_lp_collect_fees":
            trade_back_and_forth(chain, 500)
        before = list_of(chain, account)
        named = {"position_id": token_id} if token_id else {}
        plan = call_tool(make_context(chain, address=account.address), tool, **params, **named)
        run_plan(chain, account, plan)
        after = list_of(chain, account)
        token_id = token_id or after[0].ref.id
        assert {change.ref for change in plan.changes} == (
            {after[0].ref} if before and after else {before[0].ref} if before else {None}
        )
        for change in plan.changes:
            measured = sum(each.raw_of(change.token) for each in after) - sum(
                each.raw_of(change.token) for each in before
            )
            assert abs(measured - change.expected) <= 2, (tool, change, measured)
            assert measured >= change.bound
    assert list_of(chain, account) == ()


def test_v2_shares_are_found_in_pairs_of_registered_tokens_and_worth_the_feeds_ratio(chain: World) -> None:
    account = rich_account(chain)
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    before = {token: chain.rpc.balance_of(token, account.address) for token in (usdc, weth)}
    add_shares(chain, account, usdc, weth, 3_000 * 10**6, ETH)
    (held,) = list_of(chain, account)
    pair = chain.pool("v2", "USDC", "WETH").address
    assert str(held.ref) == f"uniswap/share/{CHAIN_ID}/{pair}"
    assert held.claim_tokens == frozenset({pair})
    spent = (before[usdc] - chain.rpc.balance_of(usdc, account.address)) + (
        before[weth] - chain.rpc.balance_of(weth, account.address)
    ) * 3_000 // 10**12
    assert 0.99 * spent < worth(chain, held) <= 1.001 * spent


@pytest.mark.parametrize("percents", [(100,), (40, 100)])
def test_v2_shares_are_given_back_for_what_the_plan_says_until_none_are_left(
    chain: World, percents: tuple[int, ...]
) -> None:
    account = rich_account(chain)
    usdc, weth = chain.tokens["USDC"].address, chain.tokens["WETH"].address
    add_shares(chain, account, usdc, weth, 3_000 * 10**6, ETH)
    for percent in percents:
        (held,) = list_of(chain, account)
        assert PROTOCOL.exits is not None
        step = PROTOCOL.exits.next_step(held, {}, 0)
        assert isinstance(step, Act)
        ctx = make_context(chain, address=account.address)
        plan = call_tool(ctx, step.tool, **step.params, percent_to_remove=percent)
        outcome = run_plan(chain, account, plan)
        for flow in plan.receives:
            assert outcome.deltas[flow.token.address] == flow.expected > flow.bound
        left = {token: each.raw_of(token) for each in list_of(chain, account) for token in (usdc, weth)}
        for change in plan.changes:
            measured = left.get(change.token, 0) - held.raw_of(change.token)
            # A share of a pair is worth what the feeds say of its reserves, to nine digits.
            assert abs(measured - change.expected) <= max(2, abs(measured) // 10**9) and measured >= change.bound
    assert list_of(chain, account) == ()
    pair = chain.pool("v2", "USDC", "WETH").address
    router = chain.contracts["uniswap_v2_router"]
    assert chain.rpc.read(pair, "allowance(address,address)", account.address, router, returns="(uint256)") in (
        0,
        (0,),
        [0],
    )


def test_what_is_no_pair_of_the_factory_is_given_nothing(chain: World) -> None:
    account = rich_account(chain)
    for address in (chain.tokens["USDC"].address, chain.contracts["uniswap_v2_router"]):
        with pytest.raises(PositionNotFound):
            call_tool(make_context(chain, address=account.address), "uniswap_lp_remove_shares", pair=address)


def test_shares_of_a_pair_that_is_not_registered_are_found_by_their_hint_and_said_to_be_unpriced(chain: World) -> None:
    account = rich_account(chain)
    coin = chain.deploy(account, "SimulatedToken", "(string,string,uint8)", "Odd coin", "ODD", 18)
    chain.transact(account, coin, "mint(address,uint256)", account.address, 10 * ETH)
    usdc = chain.tokens["USDC"].address
    from tests.tools_app.factories import view_receipt

    receipt = view_receipt(add_shares(chain, account, usdc, coin, 100 * 10**6, 10 * ETH))
    assert PROTOCOL.positions is not None
    (hint,) = PROTOCOL.positions.born(receipt.logs, account.address, CHAIN_ID)
    assert list_of(chain, account) == ()
    (held,) = list_of(chain, account, [hint, PositionRef("uniswap", "share", CHAIN_ID, usdc)])
    assert held.ref == hint
    assert held.facts["unpriced"] == [coin]
    # What has a price is not taken from the pool's word; what has none is there, so that no sum passes for whole.
    assert held.raw_of(usdc) == 0
    assert held.raw_of(coin) > 0


def test_pools_lie_where_their_factories_say(world: World) -> None:
    here = deployment_on(CHAIN_ID)
    for pool in world.pools:
        at = (
            v2_pair_address(here.v2_factory, pool.token0, pool.token1)
            if pool.version == "v2"
            else v3_pool_address(here.v3_factory, pool.token0, pool.token1, pool.fee_tier)
        )
        assert at == pool.address
    mainnet = find_deployment(1)
    assert mainnet is not None
    usdc, weth = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
    assert v2_pair_address(mainnet.v2_factory, usdc, weth) == "0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc"
    assert v3_pool_address(mainnet.v3_factory, usdc, weth, 500) == "0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640"


def test_the_pairs_own_share_of_its_growth_is_not_the_golems() -> None:
    assert protocol_shares(1_000, 200, 200, 0) == 0
    assert protocol_shares(1_000, 200, 200, 200 * 200) == 0
    assert protocol_shares(1_200, 200, 200, 100 * 100) == 1_200 * 100 // (5 * 200 + 100)
