"""What a tool says of its own plan only makes it stricter: who is paid, what is borrowed and what one protocol holds
altogether are measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import ActionPermit, PolicyCage
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.enums import ActionClass, RiskLayer
from tools_app.toolkit.registry import REGISTRY

DAI = 10**18
NO_SWAP = {"token_in": None, "token_out": None, "venue": NAME}


@pytest.fixture
def saver(db: None, bank: Bank) -> Iterator[LiveGolem]:
    golem = make_live_golem(bank.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=golem.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    allow_addresses(golem=golem.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    yield golem
    bank.modules["tools"].SLIPS.clear()


def ask(golem: LiveGolem, action: str, amount: int | None, **more: Any) -> dict[str, Any]:
    return golem.preview(action_type=action, amount=None if amount is None else str(amount), **{**NO_SWAP, **more})


def wait_for_claim(saver: LiveGolem, bank: Bank) -> None:
    saver.commit(ask(saver, "bank_deposit", 100 * DAI)["permit_id"])
    saver.commit(ask(saver, "bank_request", 40 * DAI)["permit_id"])
    bank.world.rpc.call("evm_increaseTime", 86_401)
    bank.world.rpc.call("evm_mine")


@pytest.mark.parametrize("forgets", [False, True], ids=["promised", "unsaid"])
def test_a_claim_that_pays_somebody_else_is_refused_whether_or_not_its_plan_promises_it(
    saver: LiveGolem, bank: Bank, forgets: bool
) -> None:
    wait_for_claim(saver, bank)
    bank.set_mood(6)
    if forgets:
        bank.modules["tools"].SLIPS["forgets_receives"] = 1
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_claim", None, request_id="0")
    rule = "value_vanishes" if forgets else "receives_too_little"
    assert refused.value.data["rule"] == f"simulator.{rule}"


def test_a_claim_that_pays_the_golem_is_one_though_its_plan_promises_nothing(saver: LiveGolem, bank: Bank) -> None:
    wait_for_claim(saver, bank)
    bank.modules["tools"].SLIPS["forgets_receives"] = 1
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_claim", None, request_id="0")
    # Money that comes unsaid is a surprise, and no theft.
    assert refused.value.data["rule"] == "simulator.unexpected_arrive"


@pytest.mark.parametrize("declared", [ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION])
def test_a_loan_is_one_whatever_its_tool_declares(saver: LiveGolem, bank: Bank, declared: ActionClass) -> None:
    saver.commit(ask(saver, "bank_deposit", 1_000 * DAI)["permit_id"])
    # The tool says so of itself, as a slip of its author would; it is gone from the registry after this test.
    object.__setattr__(REGISTRY.get("bank_borrow"), "action_class", declared)
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_borrow", DAI // 10)
    assert refused.value.data["rule"] == "simulator.class_laxer"
    assert refused.value.data["measured"] == "INCREASE_POSITION"


@pytest.mark.parametrize("declared", [RiskLayer.LOW, RiskLayer.BOUNDED])
def test_a_loan_is_leverage_whatever_layer_its_tool_declares(saver: LiveGolem, bank: Bank, declared: RiskLayer) -> None:
    saver.commit(ask(saver, "bank_deposit", 1_000 * DAI)["permit_id"])
    assert ask(saver, "bank_borrow", DAI // 10)["risk_tier"] == "HIGH"
    # By its layer alone it would be an action of STANDARD, which nobody is asked about.
    object.__setattr__(REGISTRY.get("bank_borrow"), "risk_layer", declared)
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_borrow", DAI // 11)
    assert refused.value.data["rule"] == "simulator.layer_laxer"
    assert ask(saver, "bank_deposit", 100 * DAI)["status"] == "CREATED"


def test_a_stated_ratio_does_not_stand_for_the_health_that_was_measured(saver: LiveGolem, bank: Bank) -> None:
    saver.commit(ask(saver, "bank_deposit", 1_000 * DAI)["permit_id"])
    cover = 1_000 * DAI * 8_000 // 10_000 * DAI // bank.read("priceOfLoan()")
    with pytest.raises(GolemError) as refused:
        # The plan states a collateral ratio of 1,000%.
        ask(saver, "bank_borrow", cover * 10 // 12)
    assert refused.value.code == "HEALTH_TOO_LOW"


def test_two_deposits_that_each_fit_are_one_share_of_one_protocol(saver: LiveGolem, bank: Bank) -> None:
    PolicyCage.objects.filter(golem=saver.golem).update(max_position_bps=700)
    first = ask(saver, "bank_deposit", 4_000 * DAI)
    saver.commit(first["permit_id"])
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_deposit", 900 * DAI)
    assert refused.value.data["rule"].startswith("policy_cage.")
    assert ActionPermit.objects.filter(action_type="bank_deposit").count() == 1
    assert ask(saver, "bank_deposit", 100 * DAI)["status"] == "CREATED"


def test_a_deposit_that_says_less_than_it_puts_in_is_held_to_what_was_measured(saver: LiveGolem, bank: Bank) -> None:
    PolicyCage.objects.filter(golem=saver.golem).update(max_position_bps=700)
    bank.modules["tools"].SLIPS["says_less"] = 4_000 * DAI
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_deposit", 5_000 * DAI)
    assert refused.value.data["rule"] == "policy_cage.max_position"
    assert refused.value.data["protocol"] == NAME
    bank.modules["tools"].SLIPS.clear()
    assert ask(saver, "bank_deposit", 4_000 * DAI)["status"] == "CREATED"
