"""A halt leaves a loan in one plan: with what the wallet holds, or with the loan's own collateral."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import ActionPermit, HaltRecord, HaltSetting, OutboundTransaction
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import ETH, PURSE, Stage, open_stage
from tests.live_golem import LiveGolem
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tools_app.core import clock
from tools_app.protocols.aave_v3.addresses import deployments
from tools_app.standards import erc20
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan

morpho, aave = pytest.mark.protocols("morpho"), pytest.mark.protocols("aave_v3")


def lend(golem: LiveGolem, case: str) -> Stage:
    stage = open_stage(golem, load_cases())
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=(case,)))
    assert len(stage.positions()) == 1
    return stage


def halt(golem: LiveGolem, **setting: Any) -> list[ActionPermit]:
    """The permits of leaving, in order."""
    HaltSetting.objects.create(golem=golem.golem, unwind_on_halt=True, **setting)
    halt_golem(golem=golem.golem, reason="drained", actor="owner:1", now=clock.now())
    carry_out_halt(golem_id=golem.golem.pk, epoch=1, now=clock.now())
    assert HaltRecord.objects.get().completed_at is not None
    return list(ActionPermit.objects.filter(action_type="unwind_position").order_by("created_at"))


def give_away(stage: Stage, *symbols: str) -> None:
    """What the wallet has of these is gone."""
    reader = stage.reader()
    for symbol in symbols:
        token = reader.token(stage.world.tokens[symbol].address)
        held = erc20.balance_of(reader, token, stage.account)
        stage.send(TxPlan(31337, (erc20.transfer(token=token, recipient="0x" + "44" * 20, amount=held),)))


@morpho
def test_a_halt_pays_a_debt_back_and_takes_the_collateral_out_in_one_plan(live_golem: LiveGolem) -> None:
    weth = live_golem.world.tokens["WETH"].address
    stage = lend(live_golem, "morpho_borrow_market")
    held = stage.wallet()[weth]
    (permit,) = halt(live_golem)
    assert permit.status == "COMMITTED" and permit.params["tool"] == "morpho_repay_market"
    assert stage.positions() == ()
    assert stage.wallet()[weth] == held + 10 * ETH


@morpho
def test_a_halt_that_may_sell_leads_a_loan_out_whole_where_one_round_is_too_little(live_golem: LiveGolem) -> None:
    stage = lend(live_golem, "morpho_loop")
    give_away(stage, *PURSE)
    (permit,) = halt(live_golem, sell_on_halt=True)
    assert permit.status == "COMMITTED" and permit.params["tool"] == "lending_unwind_loop"
    assert len([call for call in permit.calls if "Repay" in call["label"]]) > 1
    assert stage.positions() == ()


@aave
def test_a_halt_pays_a_debt_at_aave_back_and_takes_everything_out_in_one_plan(live_golem: LiveGolem) -> None:
    weth, dai = (live_golem.world.tokens[symbol].address for symbol in ("WETH", "DAI"))
    stage = lend(live_golem, "aave_supply_more")
    held = stage.wallet()
    (permit,) = halt(live_golem)
    assert permit.status == "COMMITTED" and permit.params["tool"] == "aave_repay"
    assert stage.positions() == ()
    assert stage.wallet()[weth] >= held[weth] + 4 * ETH
    assert stage.wallet()[dai] >= held[dai] + 2_000 * ETH


@aave
def test_a_halt_leaves_several_debts_at_aave_one_after_the_other_and_the_cover_with_the_last(
    live_golem: LiveGolem,
) -> None:
    stage = lend(live_golem, "aave_borrow_stable")
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=("aave_borrow",)))
    first, last = halt(live_golem)
    assert (first.status, first.params["tool"]) == ("COMMITTED", "aave_repay")
    assert not [call for call in first.calls if "Withdraw" in call["label"]]
    assert [call["label"].split()[0] for call in last.calls if "Withdraw" in call["label"]] == ["Withdraw"]
    assert stage.positions() == ()


@aave
@pytest.mark.protocols("spark")
def test_a_halt_takes_out_first_what_can_leave_and_what_is_locked_once_it_opens(live_golem: LiveGolem) -> None:
    stage = lend(live_golem, "aave_supply")
    stage.prepare(Case("", {}, ActionClass.CLOSE_POSITION, after=("spark_supply",)))
    by_worth = {each.ref.protocol: each for each in stage.holdings().positions}
    dearer = max(by_worth, key=lambda each: by_worth[each].micro_usd or 0)
    assert dearer == "aave_v3", "what is locked would come first by its worth"
    pause(stage, "WETH")
    HaltSetting.objects.create(golem=live_golem.golem, unwind_on_halt=True)
    halt_golem(golem=live_golem.golem, reason="drained", actor="owner:1", now=clock.now())
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
    [step] = [each for each in HaltRecord.objects.get().steps if "spark" in str(each.get("positions", ""))][-1:]
    assert [each["venue"] for each in step["positions"]] == ["spark", "aave_v3"]
    assert {each.ref.protocol for each in stage.positions()} == {"aave_v3"}
    assert HaltRecord.objects.get().completed_at is None
    pause(stage, "WETH", is_paused=False)
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
    assert stage.positions() == ()
    assert HaltRecord.objects.get().completed_at is not None


@aave
def test_a_reserve_that_is_paused_keeps_no_debt_at_aave_from_being_paid_in_a_halt(live_golem: LiveGolem) -> None:
    stage = lend(live_golem, "aave_supply_more")
    pause(stage, "WETH")
    HaltSetting.objects.create(golem=live_golem.golem, unwind_on_halt=True)
    halt_golem(golem=live_golem.golem, reason="drained", actor="owner:1", now=clock.now())
    carry_out_halt(golem_id=live_golem.golem.pk, epoch=1, now=clock.now())
    permit = ActionPermit.objects.filter(action_type="unwind_position").earliest("created_at")
    assert permit.status == "COMMITTED" and permit.bounds["details"]["left_behind"] == ["WETH: paused"]
    (position,) = stage.positions()
    assert not position.has_debt
    assert [leg.token for leg in position.legs] == [live_golem.world.tokens["WETH"].address]
    step = HaltRecord.objects.get().steps[-1]
    assert "MARKET_CLOSED" in str(step), step


def pause(stage: Stage, symbol: str, *, is_paused: bool = True) -> None:
    configurator = (deployments(31337) or {})["pool_configurator"]
    account = derive_account("aave_v3 deployer")
    stage.world.transact(
        account, configurator, "setReservePause(address,bool)", stage.world.tokens[symbol].address, is_paused
    )


@aave
def test_a_halt_that_may_sell_leads_a_loan_at_aave_out_whole(live_golem: LiveGolem) -> None:
    stage = lend(live_golem, "aave_borrow")
    give_away(stage, *PURSE)
    (permit,) = halt(live_golem, sell_on_halt=True)
    assert permit.status == "COMMITTED" and permit.params["tool"] == "lending_unwind_loop"
    assert stage.positions() == ()


@aave
def test_a_safe_leaves_a_loan_at_aave_in_one_transaction(live_golem: LiveGolem) -> None:
    owned = SafeGolem(live_golem)
    live_golem.world.fund(owned.safe.address, 10**19, PURSE)
    stage = lend(live_golem, "aave_supply_more")
    (permit,) = halt(live_golem)
    assert permit.status == "COMMITTED" and permit.params["tool"] == "aave_repay"
    assert stage.positions() == ()
    [sent] = OutboundTransaction.objects.filter(permit=permit)
    assert (sent.sender, sent.to) == (owned.key.address, owned.safe.address)
