"""Loops are built and left in one plan on a real lender and real pools, and health is bounded at every step."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import report_of, run_plan
from tests.tools_app.protocols.aave_v3.desk import ETH, USD, Desk, open_desk
from tools_app.core.errors import GolemError, InsufficientBalance, InvalidParams
from tools_app.subsystems.lending.family import UnknownLender
from tools_app.subsystems.lending.loop_plan import MOST_LOOPS, LeverageOutOfReach
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.lending import MarketClosed, MarketNotFound, NoReceiver, NothingThere
from tools_app.toolkit.positions import PositionChange

pytestmark = pytest.mark.protocols("aave_v3")
ANSWERS_TRUE = "0x600160005260206000f3"
"""Code that answers every call with true."""
PAIR = {"collateral_asset": "WETH", "borrow_asset": "USDC", "protocol": "aave"}


@pytest.fixture
def desk(chain: World) -> Desk:
    return open_desk(chain, WETH=10 * ETH)


def carry_out(desk: Desk, tool: str, **params: Any) -> dict[str, Any]:
    """Plan and send it; flows and changes are as promised, and nothing is left allowed."""
    plan = desk.plan(tool, **params)
    before = desk.position()
    outcome = run_plan(desk.chain, desk.account, plan)
    for flow in plan.spends:
        assert -outcome.deltas[flow.token.address] <= flow.bound
    for flow in plan.receives:
        assert outcome.deltas[flow.token.address] >= flow.bound
    after = desk.position()
    for change in plan.changes:
        assert _moved(before, after, change) >= change.bound, (change, _moved(before, after, change))
    assert desk.allowance(desk.token("WETH")) == desk.allowance(desk.token("USDC")) == 0
    for address, delta in outcome.deltas.items():
        declared = {flow.token.address for flow in (*plan.spends, *plan.receives)}
        assert delta == 0 or address in declared or address.startswith("0xEeee")
    return desk_report(tool, outcome)


def desk_report(tool: str, outcome: Any) -> dict[str, Any]:
    found: dict[str, Any] = report_of(tool, outcome)
    return found


def _moved(before: Any, after: Any, change: PositionChange) -> int:
    return sum(
        (-1 if each is before else 1) * each.raw_of(change.token) for each in (before, after) if each is not None
    )


def build(desk: Desk, leverage: str = "1.8", amount: int = 4 * ETH) -> dict[str, Any]:
    return carry_out(
        desk, "lending_execute_leverage_loop", initial_amount=str(amount), target_leverage=leverage, **PAIR
    )


def test_a_loop_is_built_as_it_was_previewed_and_left_again(desk: Desk) -> None:
    told = desk.ask("lending_build_loop", initial_amount=str(4 * ETH), target_leverage="1.8", **PAIR)
    assert told["is_target_reached"] and told["loop_count"] >= 1
    report = build(desk)
    assert abs(float(report["leverage_after"]) - 1.8) < 0.03
    assert abs(int(report["collateral_after"]) - int(told["final_collateral"])) < 4 * ETH // 50
    health = desk.ask("lending_get_loop_health", account=desk.address, protocol="aave_v3")
    assert health["risk_level"] == "safe" and abs(float(health["leverage_ratio"]) - 1.8) < 0.03

    half = carry_out(desk, "lending_unwind_loop", account=desk.address, protocol="aave", percent_to_unwind=50)
    assert float(half["leverage_after"]) < 1.45
    assert int(half["assets_used"]["amount"]) > 0
    plan = desk.plan("lending_unwind_loop", account=desk.address, protocol="aave", percent_to_unwind=100)
    assert plan.action_class is ActionClass.CLOSE_POSITION
    left = carry_out(desk, "lending_unwind_loop", account=desk.address, protocol="aave", percent_to_unwind=100)
    assert desk.position() is None
    assert int(left["assets_recovered"]["amount"]) > 3 * ETH
    # Fees and slippage of the way there and back, and no more.
    assert desk.chain.rpc.balance_of(desk.token("WETH"), desk.address) > 9_900 * ETH // 1_000


def test_every_step_of_a_loop_keeps_the_floor(desk: Desk) -> None:
    plan = desk.plan("lending_execute_leverage_loop", initial_amount=str(4 * ETH), target_leverage="2", **PAIR)
    assert all(change.least_health_bps == 15_001 for change in plan.changes)
    pool = desk.chain.protocols["aave_v3"]["pool"]
    for call in plan.calls:
        receipt = desk.chain.send(desk.account, call.to, "0x" + call.data.hex(), gas=5_000_000)
        assert receipt["status"] == "0x1", call.label
        position = desk.position()
        if call.to == pool and position is not None and position.health_bps is not None:
            assert position.health_bps >= 14_990


def test_a_leverage_out_of_reach_names_the_most_that_is(desk: Desk) -> None:
    with pytest.raises(LeverageOutOfReach) as told:
        desk.plan("lending_execute_leverage_loop", initial_amount=str(4 * ETH), target_leverage="4", **PAIR)
    assert 1.9 < float(told.value.data["most"]) < 2.3
    assert (
        len(
            desk.plan("lending_execute_leverage_loop", initial_amount=str(4 * ETH), target_leverage="2.1", **PAIR).calls
        )
        <= 2 + 5 * MOST_LOOPS
    )


def test_a_loan_in_danger_is_led_back_to_its_target(desk: Desk) -> None:
    build(desk, leverage="2.1", amount=8 * ETH)
    feed = desk.chain.tokens["WETH"].feed
    desk.chain.transact(desk.chain.actors.deployer, feed, "setAnswer(int256)", 2_300 * 10**8)
    before = desk.ask("lending_get_loop_health", account=desk.address, protocol="aave")
    assert before["risk_level"] in ("warning", "danger")
    report = carry_out(
        desk, "lending_auto_deleverage", account=desk.address, target_health_factor="1.6", protocol="aave"
    )
    assert float(report["health_factor_after"]) >= 1.59
    assert int(report["assets_used"]["amount"]) > ETH // 10 and report["assets_recovered"]["amount"] == "0"
    after = desk.ask("lending_get_loop_health", account=desk.address, protocol="aave")
    assert float(after["health_factor"]) >= 1.59
    with pytest.raises(NothingThere):
        desk.plan("lending_auto_deleverage", account=desk.address, target_health_factor="1.5", protocol="aave")


@pytest.mark.parametrize(
    ("tool", "params", "error"),
    [
        ("lending_execute_leverage_loop", {"target_leverage": "1"}, InvalidParams),
        ("lending_execute_leverage_loop", {"target_leverage": "11"}, InvalidParams),
        ("lending_execute_leverage_loop", {"protocol": "nobody"}, UnknownLender),
        ("lending_execute_leverage_loop", {"initial_amount": str(11 * ETH)}, InsufficientBalance),
        ("lending_execute_leverage_loop", {"borrow_asset": "WBTC"}, MarketClosed),
        ("lending_execute_leverage_loop", {"borrow_asset": "FEE"}, MarketNotFound),
        ("lending_execute_leverage_loop", {"borrow_asset": "WETH"}, MarketNotFound),
    ],
)
def test_a_loop_that_cannot_be_is_refused_before_it_is_tried(
    desk: Desk, tool: str, params: dict[str, str], error: type[GolemError]
) -> None:
    wanted = {**PAIR, "initial_amount": str(ETH), "target_leverage": "1.5", **params}
    with pytest.raises(error):
        desk.plan(tool, **wanted)


def test_nobody_unwinds_what_is_another_s_and_nothing_is_unwound_where_nothing_is_owed(desk: Desk) -> None:
    with pytest.raises(InvalidParams):
        desk.plan("lending_unwind_loop", account="0x" + "11" * 20, protocol="aave", percent_to_unwind=10)
    with pytest.raises(NothingThere):
        desk.plan("lending_unwind_loop", account=desk.address, protocol="aave", percent_to_unwind=10)


def test_rates_are_compared_and_everything_lent_and_owed_is_shown(desk: Desk) -> None:
    build(desk)
    rates = desk.ask("lending_compare_rates", asset="USDC", rate_type="borrow")
    assert "aave_v3" in {row["protocol"] for row in rates["rates"]}
    assert desk.ask("lending_compare_rates", asset="WBTC", rate_type="borrow")["rates"] == []
    shown = desk.ask("lending_get_health_dashboard", account=desk.address)
    assert len(shown["positions"]) == 1 and {leg["side"] for leg in shown["positions"][0]["legs"]} == {
        "supplied",
        "owed",
    }
    assert float(shown["overall_health_factor"]) >= 1.49
    single = desk.ask("aave_get_rates", asset="USDC")
    assert single["variable_borrow_apy"] == next(r["apy"] for r in rates["rates"] if r["protocol"] == "aave_v3")
    owed, lent = int(single["total_borrowed"]), int(single["total_supplied"])
    assert 0 < owed < lent
    assert float(single["utilization_rate"]) == pytest.approx(100 * owed / lent, abs=0.0001), "percent of what was lent"
    risk = desk.ask("aave_get_liquidation_risk", account=desk.address)
    assert risk["risk_level"] in ("safe", "warning") and float(risk["liquidation_prices"][0]["price_usd"]) < 3_000


def test_a_plain_account_takes_no_flash_loan(desk: Desk) -> None:
    with pytest.raises(NoReceiver) as told:
        desk.plan("lending_flash_loan", asset="USDC", amount=str(USD), receiver_calldata="0x", provider="aave")
    assert told.value.as_problem()["recovery"] == "ASK_OWNER"
    assert told.value.data["account_kind"] == "plain" and "Safe" in str(told.value.data["can"])


def test_a_contract_that_does_not_answer_the_lender_takes_no_flash_loan(desk: Desk) -> None:
    for code in ("0x00", "0x5f5ffd"):
        desk.chain.rpc.call("anvil_setCode", desk.address, code)
        with pytest.raises(NoReceiver) as told:
            desk.plan("lending_flash_loan", asset="USDC", amount=str(USD), receiver_calldata="0x", provider="aave")
        assert told.value.data["account_kind"] == "contract"


def test_an_account_that_answers_gets_a_flash_loan_planned_with_its_fee(desk: Desk) -> None:
    desk.chain.fund(desk.address, 0, {"USDC": 10 * USD})
    desk.chain.rpc.call("anvil_setCode", desk.address, ANSWERS_TRUE)
    loan = {"asset": "USDC", "receiver_calldata": "0x", "provider": "aave"}
    plan = desk.plan("lending_flash_loan", amount=str(1_000 * USD), **loan)
    assert plan.details["fee"] == str(plan.spends[0].bound) == str(USD // 2)
    with pytest.raises(MarketClosed):
        desk.plan("lending_flash_loan", amount=str(10**15), **loan)
