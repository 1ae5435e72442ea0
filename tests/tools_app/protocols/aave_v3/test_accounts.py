"""A loan from the first supply to the last withdrawal on Aave's real contracts, each step as its plan said."""

from __future__ import annotations

import pytest

from tests.evm.world import World
from tests.tools_app.protocols.aave_v3.desk import DAI, ETH, USD, Desk, open_desk
from tools_app.protocols.aave_v3.protocol import PROTOCOL
from tools_app.standards.aave_like.positions import REPAY_SPARE_BPS
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.positions import Act, NeedsTrade

pytestmark = pytest.mark.protocols("aave_v3")


def test_a_loan_lives_from_supply_to_withdrawal_exactly_as_planned(desk: Desk) -> None:
    assert desk.position() is None
    # Two where the process has not met the pool yet: its reserves first.
    assert desk.batches <= 2
    supplied = desk.report("aave_supply", asset="WETH", amount=str(4 * ETH))
    assert supplied["a_tokens_received"] == str(4 * ETH)
    assert supplied["health_factor_after"] is None
    position = desk.position()
    assert desk.batches == 2
    assert position is not None and [leg.cover_bps for leg in position.legs] == [8_250]
    assert position.health_bps is None and len(position.claim_tokens) == 3

    borrowed = desk.report("aave_borrow", asset="USDC", amount=str(6_000 * USD), interest_rate_mode="variable")
    assert (borrowed["borrowed"], borrowed["health_factor_after"]) == (str(6_000 * USD), "1.65")
    position = desk.position()
    assert position is not None and position.health_bps is not None
    assert 16_400 < position.health_bps <= 16_500
    answered = desk.ask("aave_get_health_factor", account=desk.address)
    assert answered["health_factor"] == "1.64" or answered["health_factor"] == "1.65"

    part = desk.do("aave_repay", asset="USDC", amount=str(1_000 * USD))
    assert part.plan.action_class is ActionClass.DECREASE_POSITION
    rest = desk.report("aave_repay", asset="USDC", amount="max")
    # What is owed is rounded by the base unit.
    assert int(rest["repaid"]) >= 5_000 * USD - 1 and rest["debt_remaining"] == "0"
    closed = desk.do("aave_withdraw", asset="WETH", amount="max")
    assert closed.plan.action_class is ActionClass.CLOSE_POSITION
    assert desk.position() is None
    assert desk.chain.rpc.balance_of(desk.token("WETH"), desk.address) >= 10 * ETH


def test_what_is_taken_out_with_a_debt_keeps_the_floor(desk: Desk) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    desk.do("aave_borrow", asset="DAI", amount=str(3_000 * DAI))
    outcome = desk.do("aave_withdraw", asset="WETH", amount="max")
    assert outcome.plan.details["health_factor_after"] == "1.50"
    assert outcome.plan.changes[0].least_health_bps == 15_001
    position = desk.position()
    assert position is not None and position.health_bps is not None and 15_001 <= position.health_bps <= 15_002


def test_collateral_is_switched_off_and_on(desk: Desk) -> None:
    desk.do("aave_supply", asset="USDC", amount=str(5_000 * USD))
    desk.do("aave_disable_collateral", asset="USDC")
    position = desk.position()
    assert position is not None and position.legs[0].cover_bps == 0
    assert desk.report("aave_enable_collateral", asset="USDC", use_as_collateral=True)["use_as_collateral"] is True
    position = desk.position()
    assert position is not None and position.legs[0].cover_bps == 8_000


def test_a_debt_at_the_stable_rate_is_a_debt_of_its_own(desk: Desk) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(8 * ETH))
    desk.do("aave_borrow", asset="DAI", amount=str(1_000 * DAI), interest_rate_mode="variable")
    desk.do("aave_borrow", asset="DAI", amount=str(2_000 * DAI), interest_rate_mode="stable")
    position = desk.position()
    assert position is not None and len([leg for leg in position.legs if leg.raw < 0]) == 2
    summary = desk.ask("aave_get_user_summary", account=desk.address)
    assert {row["rate_mode"] for row in summary["borrowed"]} == {"variable", "stable"}
    desk.do("aave_repay", asset="DAI", amount="max", interest_rate_mode="stable")
    assert len(desk.ask("aave_get_user_summary", account=desk.address)["borrowed"]) == 1


def test_a_repayment_takes_no_more_than_is_owed_and_leaves_no_allowance(desk: Desk) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    desk.do("aave_borrow", asset="USDC", amount=str(1_000 * USD))
    plan = desk.plan("aave_repay", asset="USDC", amount=str(9_000 * USD))
    assert 1_000 * USD < plan.spends[0].bound < 1_001 * USD
    desk.do("aave_repay", asset="USDC", amount=str(9_000 * USD))
    position = desk.position()
    assert position is not None and not position.has_debt


def test_interest_of_a_year_changes_neither_a_full_repayment_nor_a_full_withdrawal(desk: Desk) -> None:
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    desk.do("aave_borrow", asset="USDC", amount=str(1_000 * USD))
    desk.chain.rpc.call("evm_increaseTime", 300 * 86_400)
    desk.chain.rpc.call("evm_mine")
    desk.do("aave_repay", asset="USDC", amount="max")
    desk.do("aave_withdraw", asset="WETH", amount="max")
    assert desk.position() is None


def test_an_account_is_left_step_by_step_until_nothing_is_there(chain: World) -> None:
    desk = open_desk(chain, WETH=4 * ETH)
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    desk.do("aave_borrow", asset="USDC", amount=str(3_000 * USD))
    exits = PROTOCOL.exits
    assert exits is not None
    seen: list[str] = []
    for _ in range(8):
        position = desk.position()
        if position is None:
            break
        held = {desk.token(each): chain.rpc.balance_of(desk.token(each), desk.address) for each in ("WETH", "USDC")}
        if "aave_repay" not in seen and "aave_withdraw" not in seen:
            # What was borrowed is gone: the way out begins with collateral, then asks for a trade.
            held[desk.token("USDC")] = 0
        step = exits.next_step(position, held, 0)
        # Interest of a second or more is still owed once what was borrowed is paid: who may trade buys it then.
        trade = step.or_trade if isinstance(step, Act) and "aave_repay" in seen else step
        if isinstance(trade, NeedsTrade):
            seen.append("trade")
            owed = -position.raw_of(desk.token("USDC"))
            spare = 0 if trade is step else owed * REPAY_SPARE_BPS // 10_000 + 2 - held[desk.token("USDC")]
            assert (trade.token, trade.raw) == (desk.token("USDC"), owed + spare)
            chain.fund(desk.address, 0, {"USDC": 100 * USD})
            continue
        assert isinstance(step, Act)
        seen.append(step.tool)
        desk.do(step.tool, **step.params)
    assert desk.position() is None
    assert seen[0] == "aave_withdraw" and "aave_repay" in seen and seen[-1] == "aave_withdraw"


def test_the_way_out_asks_for_a_trade_when_what_was_borrowed_is_sold(chain: World) -> None:
    desk = open_desk(chain, WETH=4 * ETH)
    desk.do("aave_supply", asset="WETH", amount=str(4 * ETH))
    most = desk.plan("aave_borrow", asset="USDC", amount=str(1_000 * USD))
    assert most.collateral_ratio_bps is not None
    desk.do("aave_borrow", asset="USDC", amount=str(6_590 * USD))
    position, exits = desk.position(), PROTOCOL.exits
    assert position is not None and exits is not None
    step = exits.next_step(position, {}, 0)
    assert isinstance(step, NeedsTrade) and step.token == desk.token("USDC")
