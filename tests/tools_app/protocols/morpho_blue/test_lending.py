"""Morpho as one lender among others: markets with rates, a pair's room and health, and calls that do what they say."""

from __future__ import annotations

from fractions import Fraction

import pytest

import tools_app.subsystems.lending.tools  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.tools_app.factories import make_context, run_plan
from tests.tools_app.protocols.measured import Golem
from tests.tools_app.protocols.morpho_blue.golem import (
    ETH,
    MORPHO,
    USDC,
    make_golem,
    pass_time,
    set_price,
    usdc_market,
)
from tools_app.protocols.morpho_blue.protocol import PROTOCOL
from tools_app.toolkit.lending import Lending, LendingPair, MarketNotFound, Verb
from tools_app.toolkit.positions import drive

pytestmark = pytest.mark.protocols("morpho")


def lending() -> Lending:
    assert PROTOCOL.lending is not None
    return PROTOCOL.lending


def read_pair(golem: Golem, collateral: str = "WETH", debt: str = "USDC") -> LendingPair:
    reader, tokens = make_context(golem.chain, address=golem.address).chain(), golem.chain.tokens
    reads = lending().pair(31337, golem.address, tokens[collateral].address, tokens[debt].address)
    return drive(reads, reader.call_many)


def do(golem: Golem, verb: Verb, amount: int | None) -> None:
    (call,) = lending().calls(read_pair(golem), verb, amount)
    assert golem.chain.send(golem.account, call.to, "0x" + call.data.hex())["status"] == "0x1", call.label


def test_every_market_of_an_asset_is_told_with_its_rates(chain: World) -> None:
    reader = make_context(chain).chain()
    (market,) = drive(lending().markets(31337, chain.tokens["USDC"].address), reader.call_many)
    assert (market.protocol, market.market, market.label) == ("morpho", usdc_market(), "Morpho USDC against WETH")
    assert market.collateral == chain.tokens["WETH"].address
    assert market.utilization_bps == 6_000
    # The mock's rate is its use: 60% a year, compounded to 82.2%; lenders earn 36%, compounded to 43.3%.
    assert market.borrow_ppm is not None and abs(market.borrow_ppm - 822_118) < 100
    assert abs(market.supply_ppm - 433_329) < 100
    assert drive(lending().markets(31337, chain.tokens["WBTC"].address), reader.call_many) == ()


def test_the_four_verbs_move_what_the_pair_says(chain: World) -> None:
    golem = make_golem(chain)
    for symbol in ("USDC", "WETH"):
        spender = lending().spender(read_pair(golem), Verb.SUPPLY)
        assert spender == MORPHO
        chain.transact(golem.account, chain.tokens[symbol].address, "approve(address,uint256)", spender, 10**30)
    do(golem, Verb.SUPPLY, 10 * ETH)
    pair = read_pair(golem)
    assert (pair.collateral_raw, pair.debt_raw, pair.threshold_bps) == (10 * ETH, 0, 8_600)
    assert pair.rate == Fraction(3_000 * USDC, ETH)
    most = pair.most_debt(collateral=10 * ETH, floor_bps=15_000)
    assert most == 17_200 * USDC
    do(golem, Verb.BORROW, most)
    pair = read_pair(golem)
    assert pair.debt_raw in range(most, most + 100)
    health = pair.health_bps(collateral=pair.collateral_raw, debt=pair.debt_raw)
    (position,) = golem.positions()
    assert health is not None and position.health_bps is not None and abs(position.health_bps - health) <= 1
    reader = make_context(chain, address=golem.address).chain()
    assert drive(lending().leg_rates(position), reader.call_many) == (0, pair.borrow_ppm)
    do(golem, Verb.REPAY, 1_000 * USDC)
    do(golem, Verb.REPAY, None)
    do(golem, Verb.WITHDRAW, ETH)
    do(golem, Verb.WITHDRAW, None)
    assert golem.positions() == ()


def test_a_pair_nobody_lends_is_not_found_and_one_without_a_price_is_closed(chain: World) -> None:
    golem = make_golem(chain)
    with pytest.raises(MarketNotFound):
        read_pair(golem, debt="USDT")
    set_price(chain, percent=0)
    pair = read_pair(golem)
    assert (pair.borrow_room, pair.rate) == (0, 0) and pair.closed


def test_a_flash_loan_costs_nothing_and_gives_what_the_contract_holds(chain: World) -> None:
    reader, usdc = make_context(chain).chain(), chain.tokens["USDC"].address
    terms = drive(lending().flash_terms(31337, usdc), reader.call_many)
    assert terms is not None
    assert (terms.liquidity, terms.fee_ppm) == (chain.rpc.balance_of(usdc, MORPHO), 0)
    call = lending().flash_call(31337, MORPHO, usdc, 5, b"")
    # An account that is no contract cannot be called back.
    golem = make_golem(chain)
    assert chain.send(golem.account, call.to, "0x" + call.data.hex())["status"] == "0x0"


def test_a_loan_whose_dollars_were_spent_is_led_out_whole_with_its_own_collateral(chain: World) -> None:
    golem = make_golem(chain, WETH=10 * ETH)
    golem.act("morpho_supply_market", market_id=usdc_market(), asset="WETH", amount=str(10 * ETH))
    golem.act("morpho_borrow_market", market_id=usdc_market(), amount=str(8_000 * USDC))
    usdc = chain.tokens["USDC"].address
    chain.transact(golem.account, usdc, "transfer(address,uint256)", chain.actors.makers[0].address, 8_000 * USDC)
    plan = golem.plan("lending_unwind_loop", account=golem.address, percent_to_unwind=100, protocol="morpho")
    run_plan(chain, golem.account, plan)
    assert golem.positions() == ()
    assert chain.rpc.balance_of(chain.tokens["WETH"].address, golem.address) > 7_200 * ETH // 1_000


@pytest.mark.parametrize("minutes", [0, 1])
def test_a_loan_near_its_floor_is_led_out_whole_in_one_plan_of_several_rounds(chain: World, minutes: int) -> None:
    golem = make_golem(chain, WETH=10 * ETH)
    golem.act("morpho_supply_market", market_id=usdc_market(), asset="WETH", amount=str(10 * ETH))
    golem.act("morpho_borrow_market", market_id=usdc_market(), amount=str(17_000 * USDC))
    usdc = chain.tokens["USDC"].address
    chain.transact(golem.account, usdc, "transfer(address,uint256)", chain.actors.makers[0].address, 17_000 * USDC)
    plan = golem.plan("lending_unwind_loop", account=golem.address, percent_to_unwind=100, protocol="morpho")
    assert plan.details["rounds"] > 1
    golem.check_measured(plan)
    # Interest grows between the preview and the commit; shares say the same then.
    pass_time(chain, 60 * minutes)
    golem.check_flows(run_plan(chain, golem.account, plan))
    assert golem.positions() == ()


def test_a_half_of_a_loan_near_its_floor_is_paid_back_to_the_unit(chain: World) -> None:
    golem = make_golem(chain, WETH=10 * ETH)
    golem.act(
        "morpho_borrow_market", market_id=usdc_market(), amount=str(17_000 * USDC), collateral_amount=str(10 * ETH)
    )
    plan = golem.plan("lending_unwind_loop", account=golem.address, percent_to_unwind=80, protocol="morpho")
    assert plan.details["rounds"] > 1
    golem.check_measured(plan)
    golem.check_flows(run_plan(chain, golem.account, plan))
    assert abs(read_pair(golem).debt_raw - 3_400 * USDC) < USDC
