"""Maker as one lender among others: fees compared, vaults on the dashboard, led out with their own collateral."""

from __future__ import annotations

import pytest

import tools_app.subsystems.lending.read_tools
import tools_app.subsystems.lending.tools  # noqa: F401  declares the tools
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import answer_of, make_context, run_plan
from tests.tools_app.protocols.maker.test_vaults import WAD, make_golem, open_vault, refuse
from tests.tools_app.protocols.measured import Golem
from tools_app.protocols.maker_sky.lending import MakerLending
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.lending import MarketClosed, MarketNotFound, Verb
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import drive

pytestmark = pytest.mark.protocols("maker")
LENDER = {"protocol": "maker"}
LENDING = MakerLending()


@pytest.fixture
def golem(chain: World) -> Golem:
    """Ten WETH in a vault that owes 8,000 DAI, all of which were spent."""
    golem = make_golem(chain, WETH=10 * WAD)
    open_vault(golem, ink=10 * WAD, drawn=8_000 * WAD)
    dai = chain.tokens["DAI"].address
    chain.transact(golem.account, dai, "transfer(address,uint256)", chain.actors.makers[0].address, 8_000 * WAD)
    return golem


def unwind(golem: Golem, percent: int) -> TxPlan:
    """Planned and mined, and every flow as promised."""
    plan = golem.plan("lending_unwind_loop", account=golem.address, percent_to_unwind=percent, **LENDER)
    outcome = run_plan(golem.chain, golem.account, plan)
    for flow in plan.receives:
        assert outcome.deltas[flow.token.address] >= flow.bound
    return plan


def test_its_fees_stand_beside_those_of_other_lenders(golem: Golem) -> None:
    ctx = make_context(golem.chain, address=golem.address)
    rows = answer_of(ctx, "lending_compare_rates", asset="DAI", rate_type="borrow")["rates"]
    mine = {row["market"]: row["apy"] for row in rows if row["protocol"] == "maker"}
    assert mine["ETH-A"] == "5.0000" and "ETH-C" in mine
    assert {row["is_simulated"] for row in rows if row["protocol"] == "maker"} == {True}
    assert not any(row["is_simulated"] for row in rows if row["protocol"] in ("aave", "aave_v3", "morpho", "spark"))
    lent = answer_of(ctx, "lending_compare_rates", asset="DAI", rate_type="supply")["rates"]
    assert "maker" not in {row["protocol"] for row in lent}, "nobody lends to Maker"


def test_a_vault_stands_on_the_dashboard_with_its_fee_and_its_health(golem: Golem) -> None:
    ctx = make_context(golem.chain, address=golem.address)
    told = answer_of(ctx, "lending_get_health_dashboard", account=golem.address)
    (row,) = told["positions"]
    (position,) = golem.positions()
    assert row["position"] == str(position.ref) and row["health_factor"] == "2.58"
    assert row["is_simulated"] is True
    sides = {leg["side"]: (leg["symbol"], leg["apy"]) for leg in row["legs"]}
    assert sides == {"supplied": ("WETH", "0.0000"), "owed": ("DAI", "5.0000")}
    health = answer_of(ctx, "lending_get_loop_health", account=golem.address, **LENDER)
    assert health["health_factor"] == "2.58" and health["risk_level"] == "safe"
    assert health["is_simulated"] is True


def test_a_vault_whose_dai_was_spent_is_led_out_whole_with_its_own_collateral(golem: Golem) -> None:
    chain, weth, dai = golem.chain, golem.chain.tokens["WETH"].address, golem.chain.tokens["DAI"].address
    half = unwind(golem, 50)
    assert half.action_class is ActionClass.DECREASE_POSITION
    (position,) = golem.positions()
    assert -4_001 * WAD < position.raw_of(dai) < -3_999 * WAD
    whole = unwind(golem, 100)
    assert whole.action_class is ActionClass.CLOSE_POSITION
    assert golem.positions() == ()
    # 8,000 DAI are 2.67 WETH; what swaps cost comes on top.
    assert chain.rpc.balance_of(weth, golem.address) > 7_200 * WAD // 1_000
    place = chain.protocols["maker"]["join_dai"]
    allowed = chain.rpc.read(dai, "allowance(address,address)", golem.address, place, returns="(uint256)")
    assert allowed in ((0,), 0)


def test_a_part_leaves_no_less_than_a_vault_may_owe(golem: Golem) -> None:
    dai = golem.chain.tokens["DAI"].address
    unwind(golem, 99)
    (position,) = golem.positions()
    # A hundred DAI are the least; 99 of a hundred would have left eighty.
    assert -101 * WAD < position.raw_of(dai) <= -100 * WAD


def test_what_maker_does_not_offer_here_is_refused(golem: Golem) -> None:
    pair = {"collateral_asset": "WETH", "borrow_asset": "DAI", "initial_amount": "1", "target_leverage": "1.5"}
    golem.chain.fund(golem.address, 0, {"WETH": WAD})
    closed = refuse(golem, MarketClosed, "lending_execute_leverage_loop", **pair, **LENDER)
    assert "maker tools" in str(closed.detail)
    other = {**pair, "borrow_asset": "USDC"}
    refuse(golem, MarketNotFound, "lending_execute_leverage_loop", **other, **LENDER)
    # Nor does a pair that is there give calls for it.
    reader = make_context(golem.chain, address=golem.address).chain()
    weth, dai = (golem.chain.tokens[symbol].address for symbol in ("WETH", "DAI"))
    found = drive(LENDING.pair(CHAIN_ID, golem.address, weth, dai), reader.call_many)
    for verb in (Verb.SUPPLY, Verb.BORROW):
        with pytest.raises(MarketClosed):
            LENDING.calls(found, verb, WAD)
