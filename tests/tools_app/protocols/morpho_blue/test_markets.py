"""Lending and borrowing at the real Morpho Blue: plans do what they say, to the base unit, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context, report_of
from tests.tools_app.protocols.morpho_blue.golem import (
    ETH,
    MORPHO,
    PARAMS,
    USDC,
    act_as,
    make_golem,
    pass_time,
    set_price,
    usdc_market,
)
from tools_app.core.errors import GolemError, InsufficientBalance, InvalidParams, Recovery
from tools_app.protocols.morpho_blue.addresses import LOCAL, known_markets
from tools_app.protocols.morpho_blue.errors import (
    LiquidationAtALoss,
    NotLiquidatable,
    OracleUnusable,
    TooMuchAsked,
)
from tools_app.protocols.morpho_blue.reads import MARKET, MARKET_PARAMS, ask_markets
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.lending import MarketClosed, MarketNotFound, NothingThere
from tools_app.toolkit.positions import HealthTooLow, PositionsUnreadable, drive

pytestmark = pytest.mark.protocols("morpho")


def test_a_loan_lives_from_the_first_unit_lent_to_the_last_share(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    lent = golem.act("morpho_supply_market", market_id=market, amount=str(20_000 * USDC))
    assert lent.plan.action_class is ActionClass.NEW_POSITION
    report = report_of("morpho_supply_market", lent)
    assert report["assets_supplied"] == str(20_000 * USDC)
    assert int(report["shares_received"]) > 20_000 * USDC
    assert float(report["supply_apy"]) > 1
    (position,) = golem.positions()
    assert position.health_bps is None
    assert [leg.raw for leg in position.legs] == [20_000 * USDC - 1]

    pass_time(chain, 86_400)
    part = golem.act("morpho_withdraw_market", market_id=market, amount=str(5_000 * USDC))
    assert part.plan.action_class is ActionClass.DECREASE_POSITION
    rest = golem.act("morpho_withdraw_market", market_id=market, amount="max")
    assert rest.plan.action_class is ActionClass.CLOSE_POSITION
    withdrawn = report_of("morpho_withdraw_market", rest)
    assert int(withdrawn["assets_withdrawn"]) > 15_000 * USDC
    assert golem.positions() == ()


def test_a_debt_lives_from_collateral_to_the_last_share_repaid(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    borrowed = golem.act(
        "morpho_borrow_market", market_id=market, amount=str(10_000 * USDC), collateral_amount=str(10 * ETH)
    )
    assert borrowed.plan.collateral_ratio_bps == 30_000
    report = report_of("morpho_borrow_market", borrowed)
    assert (report["borrowed"], report["ltv"], report["liquidation_ltv"]) == (str(10_000 * USDC), "33.33", "86.00")
    (position,) = golem.positions()
    assert position.label == "Morpho market USDC against WETH"
    assert [(leg.raw, leg.cover_bps) for leg in position.legs] == [(10 * ETH, 8_600), (-10_000 * USDC - 1, 0)]
    assert position.health_bps == 25_799
    assert not position.claim_tokens

    more = golem.act("morpho_supply_market", market_id=market, amount=str(ETH), asset="WETH")
    assert more.plan.action_class is ActionClass.INCREASE_POSITION
    pass_time(chain, 30 * 86_400)
    part = golem.act("morpho_repay_market", market_id=market, amount=str(4_000 * USDC))
    assert int(report_of("morpho_repay_market", part)["remaining_debt"]) > 6_400 * USDC
    less = golem.act("morpho_withdraw_market", market_id=market, amount=str(2 * ETH), asset="WETH")
    assert less.plan.collateral_ratio_bps and less.plan.collateral_ratio_bps > 40_000
    rest = golem.act("morpho_repay_market", market_id=market, amount="max")
    assert report_of("morpho_repay_market", rest)["remaining_debt"] == "0"
    out = golem.act("morpho_withdraw_market", market_id=market, amount="max", asset="WETH")
    assert out.plan.action_class is ActionClass.CLOSE_POSITION
    assert golem.positions() == ()
    assert chain.rpc.balance_of(chain.tokens["WETH"].address, golem.address) == 50 * ETH


def test_300_days_of_interest_are_told_as_the_contract_counts_them(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_supply_market", market_id=market, amount=str(1_000 * USDC))
    golem.act("morpho_borrow_market", market_id=market, amount=str(9_000 * USDC), collateral_amount=str(20 * ETH))
    pass_time(chain, 300 * 86_400)
    (told,) = golem.positions()
    # The contract adds the interest itself, in a block of the same second.
    now = chain.timestamp()
    act_as(chain, "lender", f"accrueInterest({PARAMS})", known_markets(31337)[0].as_tuple)
    seconds = chain.timestamp() - now
    (counted,) = golem.positions()
    owed = -min(leg.raw for leg in told.legs)
    assert 13_000 * USDC < owed < 15_500 * USDC
    for before, after in zip(told.legs, counted.legs, strict=True):
        assert abs(after.raw - before.raw) <= abs(before.raw) * seconds // (180 * 86_400) + 1
    golem.act("morpho_repay_market", market_id=market, amount="max")
    golem.act("morpho_withdraw_market", market_id=market, amount="max")
    golem.act("morpho_withdraw_market", market_id=market, amount="max", asset="WETH")
    assert golem.positions() == ()


def test_the_position_to_the_unit_is_what_the_contract_pays_out(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_supply_market", market_id=market, amount="123456789")
    pass_time(chain, 11 * 86_400)
    chain.rpc.call("evm_setNextBlockTimestamp", chain.timestamp() + 1)
    plan = golem.plan("morpho_withdraw_market", market_id=market, amount="max")
    result = golem.simulate(plan)
    (before,) = result.positions_before or ()
    assert result.positions_after == ()
    paid = int.from_bytes(result.calls[-1].output[:32], "big")
    assert before.legs[0].raw == paid >= plan.receives[0].expected


@pytest.mark.parametrize("engine", ["pyevm", "rpc"])
def test_both_engines_measure_the_same_change(chain: World, engine: str) -> None:
    golem, market = make_golem(chain), usdc_market()
    plan = golem.plan(
        "morpho_borrow_market", market_id=market, amount=str(5_000 * USDC), collateral_amount=str(5 * ETH)
    )
    result = golem.simulate(plan, engine=engine)
    assert result.positions_before == ()
    (after,) = result.positions_after or ()
    assert {leg.token: leg.raw for leg in after.legs} == {
        chain.tokens["WETH"].address: 5 * ETH,
        chain.tokens["USDC"].address: -5_000 * USDC - 1,
    }


def refuse(golem: Any, error: type[GolemError], tool: str, **params: Any) -> GolemError:
    """The refusal of a plan; every one of them names a next step."""
    with pytest.raises(error) as refused:
        golem.plan(tool, **params)
    assert refused.value.next_step in Recovery
    return refused.value


def test_a_borrow_under_the_floor_is_refused_with_the_most_that_passes(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_supply_market", market_id=market, amount=str(10 * ETH), asset="WETH")
    refused = refuse(golem, HealthTooLow, "morpho_borrow_market", market_id=market, amount=str(17_500 * USDC))
    most = int(refused.data["most"])
    assert 17_190 * USDC < most < 17_200 * USDC
    golem.act("morpho_borrow_market", market_id=market, amount=str(most))
    (position,) = golem.positions()
    assert position.health_bps is not None and position.health_bps >= 15_000
    again = refuse(golem, HealthTooLow, "morpho_borrow_market", market_id=market, amount=str(10 * USDC))
    assert again.data["most"] == "0"


def test_collateral_under_a_debt_comes_out_down_to_the_floor_only(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_borrow_market", market_id=market, amount=str(10_000 * USDC), collateral_amount=str(10 * ETH))
    refused = refuse(golem, HealthTooLow, "morpho_withdraw_market", market_id=market, amount="max", asset="WETH")
    most = int(refused.data["most"])
    assert 4 * ETH < most < 42 * ETH // 10
    golem.act("morpho_withdraw_market", market_id=market, amount=str(most), asset="WETH")
    (position,) = golem.positions()
    assert position.health_bps is not None and 15_000 <= position.health_bps < 15_010


def test_more_than_is_owed_or_there_is_refused_and_max_passes(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    refuse(golem, NothingThere, "morpho_repay_market", market_id=market, amount="max")
    refuse(golem, NothingThere, "morpho_withdraw_market", market_id=market, amount="max")
    golem.act("morpho_borrow_market", market_id=market, amount=str(1_000 * USDC), collateral_amount=str(10 * ETH))
    refused = refuse(golem, TooMuchAsked, "morpho_repay_market", market_id=market, amount=str(1_001 * USDC))
    assert 1_000 * USDC < int(refused.data["most"]) < 1_001 * USDC
    refuse(golem, TooMuchAsked, "morpho_withdraw_market", market_id=market, amount=str(11 * ETH), asset="WETH")
    golem.act("morpho_supply_market", market_id=market, amount=str(500 * USDC))
    refuse(golem, TooMuchAsked, "morpho_withdraw_market", market_id=market, amount=str(501 * USDC))


def test_a_borrowed_token_that_is_sold_already_cannot_be_repaid(chain: World) -> None:
    golem, market = make_golem(chain, WETH=20 * ETH), usdc_market()
    golem.act("morpho_borrow_market", market_id=market, amount=str(1_000 * USDC), collateral_amount=str(10 * ETH))
    usdc = chain.tokens["USDC"].address
    chain.transact(golem.account, usdc, "transfer(address,uint256)", chain.actors.makers[0].address, 1_000 * USDC)
    refused = refuse(golem, InsufficientBalance, "morpho_repay_market", market_id=market, amount="max")
    assert refused.data["available"] == "0"


def test_a_market_without_liquidity_gives_what_it_has(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    params = known_markets(31337)[0].as_tuple
    golem.act("morpho_supply_market", market_id=market, amount=str(10_000 * USDC))
    lender = chain.rpc.read(MORPHO, "market(bytes32)", bytes.fromhex(market[2:]), returns="(uint128,uint128,uint128)")
    free = lender[0] - lender[2] - 4_000 * USDC
    owner = derive_account("morpho lender").address
    act_as(chain, "lender", f"withdraw({PARAMS},uint256,uint256,address,address)", params, free, 0, owner, owner)
    refused = refuse(golem, MarketClosed, "morpho_withdraw_market", market_id=market, amount="max")
    assert refused.data["reason"] == "liquidity"
    available = refused.data["room"]
    assert 3_900 * USDC < int(available) < 4_200 * USDC
    refuse(
        golem,
        MarketClosed,
        "morpho_borrow_market",
        market_id=market,
        amount=str(5_000 * USDC),
        collateral_amount=str(10 * ETH),
    )
    golem.act("morpho_withdraw_market", market_id=market, amount=available)


def test_an_oracle_that_is_off_or_silent_takes_no_new_risk_and_holds_nobody(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_borrow_market", market_id=market, amount=str(5_000 * USDC), collateral_amount=str(10 * ETH))
    for percent in (110, 90, 0):
        set_price(chain, percent=percent)
        for tool, params in (
            ("morpho_borrow_market", {"amount": "1000000"}),
            ("morpho_supply_market", {"amount": "1000000"}),
            ("morpho_withdraw_market", {"amount": str(ETH), "asset": "WETH"}),
        ):
            refuse(golem, OracleUnusable, tool, market_id=market, **params)
    (position,) = golem.positions()
    # Without a price nothing is known to cover the debt.
    assert position.health_bps == 0
    golem.act("morpho_supply_market", market_id=market, amount=str(ETH), asset="WETH")
    golem.act("morpho_repay_market", market_id=market, amount="max")
    golem.act("morpho_withdraw_market", market_id=market, amount="max", asset="WETH")
    assert golem.positions() == ()


def test_collateral_counts_at_the_lower_of_oracle_and_feeds(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_supply_market", market_id=market, amount=str(10 * ETH), asset="WETH")
    rooms = []
    for percent in (100, 104, 96):
        set_price(chain, percent=percent)
        refused = refuse(golem, HealthTooLow, "morpho_borrow_market", market_id=market, amount=str(20_000 * USDC))
        rooms.append(int(refused.data["most"]))
    assert abs(rooms[1] - rooms[0]) < USDC // 10
    assert rooms[2] < rooms[0] * 97 // 100


def test_what_is_no_market_or_not_ones_own_is_refused(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    refuse(golem, MarketNotFound, "morpho_supply_market", market_id="0x" + "11" * 32, amount="1")
    refuse(golem, InvalidParams, "morpho_supply_market", market_id=market, amount="1", asset="DAI")
    refuse(
        golem,
        InvalidParams,
        "morpho_supply_market",
        market_id=market,
        amount="1",
        on_behalf_of=chain.actors.makers[0].address,
    )
    refuse(golem, InsufficientBalance, "morpho_supply_market", market_id=market, amount=str(10**15))
    assert golem.positions() == ()


def test_a_market_may_be_named_by_its_parameters(chain: World) -> None:
    golem = make_golem(chain)
    params = known_markets(31337)[1]
    fields = {
        "loanToken": params.loan_token,
        "collateralToken": params.collateral_token,
        "oracle": params.oracle,
        "irm": params.irm,
        "lltv": str(params.lltv),
    }
    outcome = golem.act("morpho_supply_market", market_id=fields, amount=str(100 * ETH))
    assert outcome.plan.details["market_id"] == params.id


def test_an_uncovered_borrower_is_liquidated_for_the_exact_price(chain: World) -> None:
    golem, debtor, market = make_golem(chain), make_golem(chain), usdc_market()
    debtor.act("morpho_borrow_market", market_id=market, amount=str(10_000 * USDC), collateral_amount=str(6 * ETH))
    wanted = {"market_id": market, "borrower": debtor.address, "seized_assets": str(ETH)}
    refuse(golem, NotLiquidatable, "morpho_liquidate", **wanted)
    set_price(chain, percent=60)
    refuse(golem, InvalidParams, "morpho_liquidate", **{**wanted, "borrower": golem.address})
    refuse(golem, TooMuchAsked, "morpho_liquidate", **{**wanted, "seized_assets": str(7 * ETH)})
    outcome = golem.act("morpho_liquidate", **wanted)
    report = report_of("morpho_liquidate", outcome)
    assert report["collateral_seized"] == str(ETH)
    assert 1_700 * USDC < int(report["debt_repaid"]) < 1_800 * USDC
    assert float(report["profit_usd"]) > 1_200
    # By the feeds it is worth half now, and no longer pays.
    chain.transact(chain.actors.deployer, chain.tokens["WETH"].feed, "setAnswer(int256)", 1_500 * 10**8)
    refuse(golem, LiquidationAtALoss, "morpho_liquidate", **wanted)


def test_markets_and_positions_are_told_with_their_rates(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_borrow_market", market_id=market, amount=str(10_000 * USDC), collateral_amount=str(10 * ETH))
    ctx = make_context(chain, address=golem.address)
    listed = answer_of(ctx, "morpho_get_market_info")
    assert [row["loan_token"]["symbol"] for row in listed["markets"]] == ["USDC", "DAI"]
    first = listed["markets"][0]
    assert (first["market_id"], first["lltv"], first["oracle"]) == (market, "86.00", LOCAL["oracle_weth_usdc"])
    assert 60 <= float(first["utilization"]) < 61
    assert 80 < float(first["borrow_apy"]) < 85 and 40 < float(first["supply_apy"]) < float(first["borrow_apy"])
    assert float(first["tvl"]) > 5_000_000
    assert [
        row["loan_token"]["symbol"] for row in answer_of(ctx, "morpho_get_market_info", asset="DAI")["markets"]
    ] == ["DAI"]
    assert len(answer_of(ctx, "morpho_get_market_info", min_tvl="4000000")["markets"]) == 1
    told = answer_of(ctx, "morpho_get_user_position", account=golem.address)
    (row,) = told["markets"]
    assert (row["collateral"], row["health_factor"], row["is_liquidatable"]) == (str(10 * ETH), "2.5799", False)
    assert answer_of(ctx, "morpho_get_user_position", account=chain.actors.makers[1].address)["markets"] == []


def test_a_market_whose_parameters_do_not_come_is_unreadable_and_says_why() -> None:
    def answer(calls: Sequence[ReadCall]) -> list[ReadOutcome]:
        told = {MARKET_PARAMS: ReadOutcome(False, (), "paused"), MARKET: ReadOutcome(True, (1,) * 6)}
        return [told.get(call.signature, ReadOutcome(True, (1,))) for call in calls]

    with pytest.raises(PositionsUnreadable, match="parameters: paused"):
        drive(ask_markets(31_337, ["0x" + "11" * 32]), answer)
