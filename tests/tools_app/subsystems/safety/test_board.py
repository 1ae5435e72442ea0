"""The risk board tells what an account holds, owes and could lose, equal to sums made from the chain another way."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import tools_app.subsystems.safety.exposure_tools
import tools_app.subsystems.safety.health_tools
import tools_app.subsystems.safety.stress_tools
import tools_app.subsystems.safety.unwinding_tools  # noqa: F401  declares the tools
from tests.evm.world import World
from tests.tools_app.factories import answer_of, make_context
from tests.tools_app.protocols.aave_v3.desk import ETH, USD, Desk, open_desk
from tools_app.core.errors import InvalidParams

pytestmark = [pytest.mark.protocols("aave_v3"), pytest.mark.django_db]


@pytest.fixture
def desk(chain: World) -> Desk:
    """Four WETH put in as collateral of the ten, and 4,000 USDC borrowed."""
    desk = open_desk(chain, WETH=10 * ETH)
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    desk.do("aave_borrow", asset="USDC", amount=str(4_000 * USD))
    return desk


def price_of(desk: Desk, symbol: str) -> Fraction:
    """Dollars of one token, straight from its feed."""
    feed = desk.chain.tokens[symbol].feed
    [answer] = desk.chain.rpc.read(feed, "latestAnswer()", returns="(int256)")
    return Fraction(int(answer), 10**8)


def account_data(desk: Desk) -> tuple[int, int, int]:
    """Collateral and debt in 8 decimals of a dollar, and the health in 18, in the pool's own words."""
    pool = desk.chain.protocols["aave_v3"]["pool"]
    told = desk.chain.rpc.read(
        pool,
        "getUserAccountData(address)",
        desk.address,
        returns="(uint256,uint256,uint256,uint256,uint256,uint256)",
    )
    return int(told[0]), int(told[1]), int(told[5])


def ask(desk: Desk, query: str, **params: Any) -> Any:
    return desk.ask(query, **params)


def test_the_health_of_an_account_is_what_its_lender_says_and_its_worth_what_the_feeds_say(desk: Desk) -> None:
    told = ask(desk, "safety_get_portfolio_health")
    collateral, debt, health = account_data(desk)
    assert float(told["collateral_usd"]) == pytest.approx(collateral / 1e8, rel=1e-4)
    assert float(told["debt_usd"]) == pytest.approx(debt / 1e8, rel=1e-4)
    [position] = told["positions"]
    assert float(position["health_factor"]) == pytest.approx(health / 1e18, abs=0.011)
    assert position["is_simulated"] is False and position["protocol"] == "aave_v3"
    held = sum(
        Fraction(desk.chain.rpc.balance_of(desk.token(symbol), desk.address), 10**places) * price_of(desk, symbol)
        for symbol, places in (("WETH", 18), ("USDC", 6))
    )
    coin = Fraction(int(desk.chain.rpc.call("eth_getBalance", desk.address, "latest"), 16), ETH) * price_of(
        desk, "WETH"
    )
    whole = held + coin + Fraction(collateral, 10**8)
    assert float(told["total_value_usd"]) == pytest.approx(float(whole), rel=1e-4)
    assert float(told["net_worth_usd"]) == pytest.approx(float(whole - Fraction(debt, 10**8)), rel=1e-4)
    assert float(told["net_worth_usd"]) < float(told["total_value_usd"])


def test_debts_come_by_how_near_they_are_and_say_which_fall_ends_them(desk: Desk) -> None:
    told = ask(desk, "safety_get_liquidation_risks")
    [risk] = told["risky_positions"]
    _, _, health = account_data(desk)
    # Cover may fall until it is the debt: one less the inverse of the health.
    assert float(risk["collateral_may_fall_percent"]) == pytest.approx(100 * (1 - 1e18 / health), abs=0.05)
    assert risk["risk_level"] == "safe" and told["total_at_risk_usd"] == "0.000000"
    assert told["most_urgent"] == risk["position"]
    assert risk["tool"] == "aave_repay" and risk["params"]["asset"] == desk.token("USDC")

    feed = desk.chain.tokens["WETH"].feed
    now = int(price_of(desk, "WETH") * 10**8)
    desk.chain.transact(desk.chain.actors.deployer, feed, "setAnswer(int256)", now * 11 * 10**18 // (10 * health))
    worse = ask(desk, "safety_get_liquidation_risks")["risky_positions"][0]
    assert worse["risk_level"] == "danger" and float(worse["health_factor"]) == pytest.approx(1.1, abs=0.011)
    board = ask(desk, "safety_get_risk_dashboard")
    assert board["overall_risk"] == "Danger"
    assert board["pending_actions"][0]["tool"] == "aave_repay" and board["pending_actions"][0]["priority"] == 1
    assert [each["position"] for each in board["critical_positions"]] == [worse["position"]]


def test_the_next_step_that_the_board_names_is_accepted_as_it_stands(desk: Desk) -> None:
    [risk] = ask(desk, "safety_get_liquidation_risks")["risky_positions"]
    plan = desk.plan(risk["tool"], **risk["params"])
    assert plan.calls


def test_an_account_that_owes_nothing_is_safe_and_an_empty_one_is_worth_nothing(chain: World) -> None:
    free = open_desk(chain, WETH=ETH)
    told = ask(free, "safety_get_risk_dashboard")
    assert told["overall_risk"] == "Safe" and told["total_debt_usd"] == "0.000000"
    assert told["critical_positions"] == [] and told["pending_actions"] == []
    nobody = "0x000000000000000000000000000000000000bEEF"
    empty = ask(free, "safety_get_portfolio_health", account=nobody)
    assert empty["account"] == nobody and empty["total_value_usd"] == "0.000000" and empty["positions"] == []


def test_a_fall_is_survived_down_to_the_percent_that_the_board_names(desk: Desk) -> None:
    told = ask(desk, "safety_simulate_price_stress")
    assert [each["price_change_pct"] for each in told["scenarios"]] == [-20, -40, -60]
    deepest = told["max_drawdown_survivable"]
    near = ask(desk, "safety_simulate_price_stress", price_scenarios=[-deepest, -deepest - 1])["scenarios"]
    assert near[0]["survives"] and near[0]["liquidated_positions"] == []
    assert not near[1]["survives"] and len(near[1]["liquidated_positions"]) == 1
    assert float(near[1]["total_loss_usd"]) > float(near[0]["total_loss_usd"]) > 0

    # The chain's own word: at the named fall the pool still calls it healthy, one percent deeper it does not.
    feed = desk.chain.tokens["WETH"].feed
    now = int(price_of(desk, "WETH") * 10**8)
    for percent, is_healthy in ((deepest, True), (deepest + 1, False)):
        desk.chain.transact(desk.chain.actors.deployer, feed, "setAnswer(int256)", now * (100 - percent) // 100)
        assert (account_data(desk)[2] > 10**18) is is_healthy


def test_the_loss_of_a_fall_is_that_of_everything_that_moves_and_of_nothing_that_follows_the_dollar(desk: Desk) -> None:
    told = ask(desk, "safety_simulate_price_stress", price_scenarios=[-10])
    collateral, _, _ = account_data(desk)
    wrapped = Fraction(desk.chain.rpc.balance_of(desk.token("WETH"), desk.address), ETH) * price_of(desk, "WETH")
    coin = Fraction(int(desk.chain.rpc.call("eth_getBalance", desk.address, "latest"), 16), ETH) * price_of(
        desk, "WETH"
    )
    moving = wrapped + coin + Fraction(collateral, 10**8)
    assert "USDC" not in told["falls"] and {"WETH", "ETH"} <= set(told["falls"])
    assert float(told["scenarios"][0]["total_loss_usd"]) == pytest.approx(float(moving / 10), rel=1e-4)


def test_a_depeg_moves_the_one_token_that_is_named(desk: Desk) -> None:
    told = ask(desk, "safety_simulate_price_stress", price_scenarios=[-50], fallen_token="USDC")
    assert told["falls"] == ["USDC"]
    # It holds the 4,000 it owes: what it has falls as what it owes does.
    assert abs(float(told["scenarios"][0]["total_loss_usd"])) < 1


@pytest.mark.parametrize("changes", [[0], [20], [-101], [], [-1.5], [True]])
def test_a_price_change_that_is_no_fall_is_refused(desk: Desk, changes: list[Any]) -> None:
    with pytest.raises(InvalidParams):
        ask(desk, "safety_simulate_price_stress", price_scenarios=changes)


def test_exposure_adds_up_to_everything_that_is_held_and_owed(desk: Desk) -> None:
    told = ask(desk, "safety_get_protocol_exposure")
    whole = ask(desk, "safety_get_portfolio_health")
    for rows in (told["by_protocol"], told["by_chain"], told["by_asset"], told["by_asset_type"]):
        assert sum(float(row["held_usd"]) for row in rows) == pytest.approx(float(whole["total_value_usd"]), rel=1e-6)
        assert sum(float(row["owed_usd"]) for row in rows) == pytest.approx(float(whole["debt_usd"]), rel=1e-6)
        assert [float(row["held_usd"]) for row in rows] == sorted(
            (float(row["held_usd"]) for row in rows), reverse=True
        )
        assert sum(float(row["held_share_percent"]) for row in rows) == pytest.approx(100, abs=0.1)
    lender = next(row for row in told["by_protocol"] if row["name"].startswith("Aave"))
    assert float(lender["owed_usd"]) == pytest.approx(4_000, rel=1e-3)


def test_exposure_says_on_which_issuers_bridges_and_oracles_it_depends(desk: Desk) -> None:
    told = ask(desk, "safety_get_protocol_exposure")
    [circle] = [row for row in told["by_issuer"] if row["name"] == "Circle"]
    dollars = next(row for row in told["by_asset"] if row["name"].startswith("USDC "))
    assert float(circle["held_usd"]) == float(dollars["held_usd"]) > 3_900
    collateral = 4 * price_of(desk, "WETH")
    feed = f"31337:{desk.chain.tokens['WETH'].feed}"
    by_oracle = {row["name"]: float(row["held_usd"]) for row in told["by_oracle"]}
    assert by_oracle[feed] == pytest.approx(float(collateral), rel=1e-6), "all of a position depends on each of them"
    assert told["by_bridge"] == []


def test_leaving_a_loan_names_its_steps_its_cost_and_what_is_missing(desk: Desk) -> None:
    told = ask(desk, "safety_estimate_unwind_cost", kind="Loops")
    [row] = told["positions"]
    assert row["tool"] == "aave_repay" and row["kind"] == "act" and row["wait_seconds"] == 0
    assert float(told["total_unwind_cost_usd"]) == float(row["cost_usd"]) > 0
    urgent = ask(desk, "safety_estimate_unwind_cost", kind="Loops", urgency="Urgent")
    assert float(urgent["total_unwind_cost_usd"]) >= float(told["total_unwind_cost_usd"])
    assert ask(desk, "safety_estimate_unwind_cost", kind="Perps")["positions"] == []

    # Without the borrowed dollars a trade comes first.
    away = desk.chain.actors.deployer.address
    desk.chain.transact(desk.account, desk.token("USDC"), "transfer(address,uint256)", away, 4_000 * USD)
    short = ask(desk, "safety_estimate_unwind_cost", kind="Lending")
    assert short["positions"][0]["kind"] in {"trade", "act"}


def test_a_golem_without_a_wallet_has_to_name_an_account(chain: World) -> None:
    with pytest.raises(InvalidParams, match="name an account"):
        answer_of(make_context(chain), "safety_get_risk_dashboard")


def test_all_chains_are_asked_with_0_and_one_that_is_silent_makes_totals_unknown(desk: Desk) -> None:
    from tools_app.chain.chains import configure_chains
    from tools_app.chain.networks import KNOWN_NETWORKS, with_rpc_urls

    whole = ask(desk, "safety_get_portfolio_health", chain_id=0)
    assert whole["total_value_usd"] == ask(desk, "safety_get_portfolio_health", chain_id=31337)["total_value_usd"]
    context = make_context(desk.chain, address=desk.address)
    here = with_rpc_urls(KNOWN_NETWORKS[31337], [desk.chain.rpc_url])
    silent = with_rpc_urls(KNOWN_NETWORKS[8453], ["http://127.0.0.1:9"])
    configure_chains([here, silent])
    try:
        told = answer_of(context, "safety_get_portfolio_health", chain_id=0)
        board = answer_of(context, "safety_get_risk_dashboard", chain_id=0)
    finally:
        configure_chains([here])
    assert told["total_value_usd"] is told["net_worth_usd"] is told["debt_usd"] is None
    assert any("chain 8453" in each for each in told["not_counted"])
    assert board["overall_risk"] == "Warning" and "unknown" in board["summary"]
    assert len(told["positions"]) == 1
