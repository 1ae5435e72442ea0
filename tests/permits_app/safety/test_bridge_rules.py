"""What arrives on another chain, judged by what the plan says of it: where, whose, by when, as what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from archetypes_app.toolset import view_golem
from permits_app.hook_rejection import Reject
from permits_app.models import AllowlistEntry
from permits_app.safety.bridge_rules import judge_crossing
from permits_app.safety.hook import HookCall
from tests.factories.golems import make_golem, make_owner
from tests.permits_app.safety.calls import ACCOUNT, NOW, OTHER, USDC, plain_call
from tests.tools_app.portfolio.paper_bank import Paper, read_paper
from tools_app.toolkit.plan import Arrival, TxPlan

pytestmark = pytest.mark.django_db
HOME, AWAY = 31337, 31338
AT = int(NOW.timestamp())


@pytest.fixture
def call() -> HookCall:
    """A golem of two chains that may hold nothing on the second one."""
    golem = make_golem(owner=make_owner(), address=ACCOUNT, home_chain_id=HOME)
    golem.other_chain_ids = [AWAY]
    return plain_call(None, golem=golem, view=view_golem(golem), chain=read_paper(Paper()))


def judge(call: HookCall, **changes: Any) -> Reject:
    arrival = Arrival("bridge", AWAY, USDC.address, 5, ACCOUNT, AT + 600)
    plan = TxPlan(HOME, (), arrivals=(replace(arrival, **changes),))
    refusal = judge_crossing(replace(call, plan=plan))
    assert refusal is not None
    return refusal


@pytest.mark.parametrize(
    ("left", "rule"),
    [
        (-1, "arrival_time"),
        (0, "arrival_time"),
        (1, "arrival_asset"),
        (86_400, "arrival_asset"),
        (86_401, "arrival_time"),
    ],
)
def test_something_may_arrive_from_the_next_second_on_for_a_day(call: HookCall, left: int, rule: str) -> None:
    """What may not be held there is asked next."""
    refusal = judge(call, by=AT + left)
    assert refusal.rule == f"policy_cage.{rule}"
    if rule == "arrival_time":
        assert (refusal.observed, refusal.limit) == (f"{left} s", "1 to 86400 s")


@pytest.mark.parametrize("chain_id", [HOME, 1])
def test_nothing_arrives_where_it_is_sent_from_or_where_the_golem_is_not(call: HookCall, chain_id: int) -> None:
    refusal = judge(call, chain_id=chain_id)
    assert (refusal.rule, refusal.data["chain_id"]) == ("policy_cage.arrival_chain", chain_id)


def test_who_gets_it_is_told_beside_who_has_to(call: HookCall) -> None:
    refusal = judge(call, recipient=OTHER)
    assert (refusal.rule, refusal.observed, refusal.limit) == ("policy_cage.arrival_recipient", OTHER, ACCOUNT)


@pytest.mark.parametrize("slip", ["another golem's", "another chain's", "a contract", "another token"])
def test_what_arrives_is_on_the_golems_own_list_of_tokens_of_that_chain(call: HookCall, slip: str) -> None:
    other = make_golem(owner=call.golem.owner, name="Borea")
    row: dict[str, Any] = {"golem": call.golem, "chain_id": AWAY, "kind": "TOKEN", "address": USDC.address}
    slips: dict[str, dict[str, Any]] = {
        "another golem's": {"golem": other},
        "another chain's": {"chain_id": HOME},
        "a contract": {"kind": "CONTRACT"},
        "another token": {"address": OTHER},
    }
    AllowlistEntry.objects.create(**{**row, **slips[slip]})
    assert judge(call).rule == "policy_cage.arrival_asset"
    AllowlistEntry.objects.create(**row)
    assert judge(call).rule != "policy_cage.arrival_asset", "its worth is asked next, and no node answers"
