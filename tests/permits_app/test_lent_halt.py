"""A halt leaves a loan at Morpho in one plan: with what the wallet holds, or with the loan's own collateral."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.models import ActionPermit, HaltRecord, HaltSetting
from tests.catalogue.shelf import load_cases
from tests.catalogue.stage import ETH, PURSE, Stage, open_stage
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.standards import erc20
from tools_app.toolkit.case import Case
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan

pytestmark = pytest.mark.protocols("morpho")


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


def test_a_halt_pays_a_debt_back_and_takes_the_collateral_out_in_one_plan(live_golem: LiveGolem) -> None:
    weth = live_golem.world.tokens["WETH"].address
    stage = lend(live_golem, "morpho_borrow_market")
    held = stage.wallet()[weth]
    (permit,) = halt(live_golem)
    assert permit.status == "COMMITTED" and permit.params["tool"] == "morpho_repay_market"
    assert stage.positions() == ()
    assert stage.wallet()[weth] == held + 10 * ETH


def test_a_halt_that_may_sell_leads_a_loan_out_whole_where_one_round_is_too_little(live_golem: LiveGolem) -> None:
    stage = lend(live_golem, "morpho_loop")
    reader = stage.reader()
    for symbol in PURSE:
        token = reader.token(stage.world.tokens[symbol].address)
        held = erc20.balance_of(reader, token, stage.account)
        stage.send(TxPlan(31337, (erc20.transfer(token=token, recipient="0x" + "44" * 20, amount=held),)))
    (permit,) = halt(live_golem, sell_on_halt=True)
    assert permit.status == "COMMITTED" and permit.params["tool"] == "lending_unwind_loop"
    assert len([call for call in permit.calls if "Repay" in call["label"]]) > 1
    assert stage.positions() == ()
