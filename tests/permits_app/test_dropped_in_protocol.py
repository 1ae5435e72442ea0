"""A protocol dropped into the folder goes the product's whole way, and no other file changes for it."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.approvals.approval_statement import describe_permit
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import OutcomeRecord
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem, make_live_golem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.registry import REGISTRY

DAI = 10**18
NO_SWAP = {"token_in": None, "token_out": None, "venue": NAME}


@pytest.fixture
def saver(db: None, bank: Bank) -> LiveGolem:
    """A golem with every tool of the bank, whose owner took the allowlist as it is suggested."""
    golem = make_live_golem(bank.world)
    for tool in [tool for tool in REGISTRY if tool.venue == NAME]:
        ToolOverride.objects.create(golem=golem.golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    choices = suggest_allowlist(CHAIN_ID)
    assert {choice.label for choice in choices if choice.address == bank.address} == {"The made-up bank"}
    allow_addresses(golem=golem.golem, choices=choices, actor="system:test", now=clock.now())
    return golem


def ask(golem: LiveGolem, action: str, amount: int, **more: Any) -> dict[str, Any]:
    return golem.preview(action_type=action, amount=str(amount), **{**NO_SWAP, **more})


def test_a_deposit_goes_the_whole_way_and_is_verified_by_what_the_bank_says(saver: LiveGolem, bank: Bank) -> None:
    permit = ask(saver, "bank_deposit", 100 * DAI)
    [said] = permit["expected_outcome"]["positions"]
    assert (said["ref"], said["opens"]) == (f"{NAME}/account/{CHAIN_ID}/{saver.golem.address}", True)
    assert [change["units"] for change in said["changes"]] == ["100 DAI"]
    done = saver.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED", done
    assert OutcomeRecord.objects.get(permit_id=permit["permit_id"]).is_verified
    # The bank's tools have no report of their own.
    result = saver.permit(permit["permit_id"]).result
    [measured], told = result["actual_outcome"]["positions"], result["data"]
    assert (measured["ref"], measured["changes"]) == (said["ref"], said["changes"])
    assert len(told["tx_hashes"]) == 2 and told["block_number"] > 0 and told["gas_used"] > 21_000
    assert [(each["token"], each["change"], each["change_units"]) for each in told["moved"]] == [
        ("DAI", str(-100 * DAI), "-100 DAI")
    ]
    assert bank.read("deposited(address)", saver.golem.address) == 100 * DAI


@pytest.mark.parametrize(
    ("mood", "rule"),
    [(1, "position_unannounced"), (2, "unexpected_approval"), (5, "position_bound")],
)
def test_a_bank_that_does_more_than_it_is_asked_is_refused_at_the_door(
    saver: LiveGolem, bank: Bank, mood: int, rule: str
) -> None:
    bank.set_mood(mood)
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_deposit", 100 * DAI)
    assert refused.value.data["rule"] == f"simulator.{rule}"


def test_a_bank_that_changes_its_mind_after_the_preview_is_refused_at_the_commit(saver: LiveGolem, bank: Bank) -> None:
    permit = ask(saver, "bank_deposit", 100 * DAI)
    bank.set_mood(1)
    done = saver.commit(permit["permit_id"])
    assert done["status"] == "BLOCKED", done
    assert bank.read("owed(address)", saver.golem.address) == 0


def test_a_loan_asks_its_owner_who_sees_what_is_owed_and_the_health_after(saver: LiveGolem, bank: Bank) -> None:
    saver.commit(ask(saver, "bank_deposit", 1_000 * DAI)["permit_id"])
    permit = ask(saver, "bank_borrow", DAI // 10)
    assert permit["status"] == "AWAITING_APPROVAL"
    told = describe_permit(saver.permit(permit["permit_id"]))
    account = f"{NAME}/account/{CHAIN_ID}/{saver.golem.address}"
    assert f"{account}: at most 0.1 WETH less in it, or more owed" in told["bounds"]["promises"]
    [shown] = told["positions"]
    assert (shown["changes"], shown["owed_after"]) == ("-0.1 WETH", "0.1 WETH")
    before, _, _ = shown["health"].partition(",")
    assert float(before) > 1.5 and shown["health"].endswith("no debt before")


def test_a_loan_below_the_owners_floor_is_refused_with_what_would_pass(saver: LiveGolem, bank: Bank) -> None:
    saver.commit(ask(saver, "bank_deposit", 1_000 * DAI)["permit_id"])
    cover = 1_000 * DAI * 8_000 // 10_000 * DAI // bank.read("priceOfLoan()")
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_borrow", cover * 10 // 14)
    assert (refused.value.code, refused.value.data["observed"]) == ("HEALTH_TOO_LOW", "1.39")
    assert refused.value.data["would_pass"]


def test_what_comes_out_of_a_queue_goes_the_whole_way(saver: LiveGolem, bank: Bank) -> None:
    saver.commit(ask(saver, "bank_deposit", 100 * DAI)["permit_id"])
    asked = ask(saver, "bank_request", 40 * DAI)
    assert [each["ref"].split("/")[1] for each in asked["expected_outcome"]["positions"]] == ["account", "request"]
    assert saver.commit(asked["permit_id"])["status"] == "COMMITTED"
    with pytest.raises(GolemError) as early:
        saver.preview(action_type="bank_claim", request_id="0", amount=None, **NO_SWAP)
    assert early.value.data["revert_reason"].startswith("NotReady")
    bank.world.rpc.call("evm_increaseTime", 86_401)
    bank.world.rpc.call("evm_mine")
    claim = saver.preview(action_type="bank_claim", request_id="0", amount=None, **NO_SWAP)
    assert saver.commit(claim["permit_id"])["status"] == "COMMITTED"
    assert OutcomeRecord.objects.get(permit_id=claim["permit_id"]).is_verified


def test_what_only_claims_to_leave_is_refused(saver: LiveGolem, bank: Bank) -> None:
    tool = REGISTRY.get("bank_deposit")
    # The tool says so of itself, as a slip of its author would; it is gone from the registry after this test.
    object.__setattr__(tool, "action_class", ActionClass.DECREASE_POSITION)
    with pytest.raises(GolemError) as refused:
        ask(saver, "bank_deposit", 100 * DAI)
    assert refused.value.data["rule"] == "simulator.class_laxer"
    assert (refused.value.data["declared"], refused.value.data["measured"]) == ("DECREASE_POSITION", "NEW_POSITION")
