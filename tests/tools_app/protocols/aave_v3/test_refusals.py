"""What Aave would revert and what our floor of health forbids is refused: a code, a reason, what would pass."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import World
from tests.tools_app.protocols.aave_v3.desk import DAI, ETH, USD, Desk, open_desk
from tools_app.core.errors import GolemError, InsufficientBalance, InvalidParams, Recovery
from tools_app.toolkit.lending import MarketClosed, MarketNotFound, NothingThere
from tools_app.toolkit.positions import HealthTooLow

pytestmark = pytest.mark.protocols("aave_v3")


def refuse(desk: Desk, error: type[GolemError], tool: str, **params: Any) -> GolemError:
    with pytest.raises(error) as told:
        desk.plan(tool, **params)
    return told.value


def govern(chain: World, signature: str, *args: Any) -> None:
    configurator = chain.protocols["aave_v3"]["pool_configurator"]
    chain.transact(derive_account("aave_v3 deployer"), configurator, signature, *args)


def test_a_loan_below_the_floor_is_refused_with_the_most_that_passes(desk: Desk) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    error = refuse(desk, HealthTooLow, "aave_borrow", asset="USDC", amount=str(7_000 * USD))
    assert error.data["least_health_bps"] == "15001" and int(error.data["health_bps"]) < 15_001
    most = int(error.data["most"])
    assert 6_590 * USD < most <= 6_600 * USD
    desk.do("aave_borrow", asset="USDC", amount=str(most))
    refuse(desk, HealthTooLow, "aave_borrow", asset="USDC", amount=str(USD))


def test_a_loan_without_collateral_is_refused(desk: Desk) -> None:
    assert refuse(desk, HealthTooLow, "aave_borrow", asset="USDC", amount="1000").data["most"] == "0"


def test_collateral_that_a_debt_needs_is_not_taken_out(desk: Desk) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    desk.do("aave_borrow", asset="USDC", amount=str(6_000 * USD))
    error = refuse(desk, HealthTooLow, "aave_withdraw", asset="WETH", amount=str(3 * ETH))
    assert 0 < int(error.data["most"]) < ETH
    refuse(desk, HealthTooLow, "aave_disable_collateral", asset="WETH")


@pytest.mark.parametrize(
    ("tool", "params", "error"),
    [
        ("aave_withdraw", {"asset": "WETH", "amount": "max"}, NothingThere),
        ("aave_repay", {"asset": "USDC", "amount": "max"}, NothingThere),
        ("aave_enable_collateral", {"asset": "WETH", "use_as_collateral": True}, NothingThere),
        ("aave_supply", {"asset": "WETH", "amount": str(11 * ETH)}, InsufficientBalance),
        ("aave_supply", {"asset": "ETH", "amount": "1"}, MarketNotFound),
        ("aave_supply", {"asset": "FEE", "amount": "1"}, MarketNotFound),
        ("aave_supply", {"asset": "WETH", "amount": "1", "on_behalf_of": "0x" + "11" * 20}, InvalidParams),
        ("aave_supply", {"asset": "WETH", "amount": "-1"}, InvalidParams),
        ("aave_supply", {"asset": "WETH", "amount": "1.5"}, InvalidParams),
        ("aave_supply", {"asset": "WETH", "amount": "0"}, InvalidParams),
        ("aave_borrow", {"asset": "USDC", "amount": "max"}, InvalidParams),
        ("aave_borrow", {"asset": "USDC", "amount": "1", "interest_rate_mode": "fixed"}, InvalidParams),
    ],
)
def test_what_cannot_be_done_is_told_before_it_is_tried(
    desk: Desk, tool: str, params: dict[str, Any], error: type[GolemError]
) -> None:
    assert refuse(desk, error, tool, **params).as_problem()["recovery"]


@pytest.mark.parametrize(
    ("asset", "mode", "reason"), [("WBTC", "variable", "not_borrowable"), ("USDC", "stable", "no_stable_rate")]
)
def test_what_the_market_does_not_lend_is_refused(desk: Desk, asset: str, mode: str, reason: str) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    error = refuse(desk, MarketClosed, "aave_borrow", asset=asset, amount="1000", interest_rate_mode=mode)
    assert error.data["reason"] == reason


@pytest.mark.parametrize(
    ("signature", "reason"),
    [("setReservePause(address,bool)", "paused"), ("setReserveFreeze(address,bool)", "frozen")],
)
def test_a_paused_or_frozen_market_takes_nothing(desk: Desk, signature: str, reason: str) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(ETH))
    govern(desk.chain, signature, desk.token("WETH"), True)
    error = refuse(desk, MarketClosed, "aave_supply", asset="WETH", amount=str(ETH))
    assert (error.data["reason"], error.next_step) == (reason, Recovery.WAIT)
    assert error.as_problem()["cleared_by"]
    if reason == "frozen":
        desk.do("aave_withdraw", asset="WETH", amount="max")


@pytest.mark.parametrize(
    ("signature", "tool", "reason"),
    [
        ("setSupplyCap(address,uint256)", "aave_supply", "supply_cap"),
        ("setBorrowCap(address,uint256)", "aave_borrow", "borrow_cap"),
    ],
)
def test_a_full_cap_is_told_with_the_room_that_is_left(desk: Desk, signature: str, tool: str, reason: str) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    govern(desk.chain, signature, desk.token("USDC"), 1)
    error = refuse(desk, MarketClosed, tool, asset="USDC", amount=str(USD))
    assert (error.data["reason"], error.data["room"]) == (reason, "0")


def test_isolated_collateral_lends_dollars_alone_and_only_up_to_its_ceiling(chain: World) -> None:
    desk = open_desk(chain, USDT=10_000 * USD, WETH=ETH)
    desk.do("aave_supply", asset="USDT", amount=str(10_000 * USD))
    desk.do("aave_enable_collateral", asset="USDT", use_as_collateral=True) if not _is_collateral(desk) else None
    assert refuse(desk, MarketClosed, "aave_borrow", asset="WETH", amount="1000").data["reason"] == "isolation"
    desk.do("aave_borrow", asset="USDC", amount=str(100 * USD))
    govern(chain, "setDebtCeiling(address,uint256)", desk.token("USDT"), 100_50)
    error = refuse(desk, MarketClosed, "aave_borrow", asset="USDC", amount=str(USD))
    assert error.data["reason"] == "debt_ceiling" and int(error.data["room"]) <= USD // 2
    desk.do("aave_supply", asset="WETH", amount=str(ETH))
    assert refuse(desk, MarketClosed, "aave_enable_collateral", asset="WETH").data["reason"] == "isolation"


def _is_collateral(desk: Desk) -> bool:
    position = desk.position()
    return position is not None and position.legs[0].cover_bps > 0


def test_an_account_in_e_mode_borrows_what_is_in_its_category_and_counts_its_threshold(chain: World) -> None:
    desk = open_desk(chain, USDC=10_000 * USD)
    desk.do("aave_supply", asset="USDC", amount=str(10_000 * USD))
    chain.transact(desk.account, chain.protocols["aave_v3"]["pool"], "setUserEMode(uint8)", 1)
    position = desk.position()
    assert position is not None and position.legs[0].cover_bps == 9_300
    assert refuse(desk, MarketClosed, "aave_borrow", asset="WETH", amount="1000").data["reason"] == "e_mode"
    desk.do("aave_borrow", asset="DAI", amount=str(6_000 * DAI))
    position = desk.position()
    assert position is not None and position.health_bps is not None and 15_490 <= position.health_bps <= 15_501
