"""Delegation at run time: who may ask whom, every hop in the audit log with its parent, and reviews that are hops."""

from __future__ import annotations

from typing import Any

import pytest

from archetypes_app.models import Archetype, Golem, ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.errors import (
    DelegateNeedsModel,
    DelegationCycleDetected,
    DelegationNotAllowed,
    DelegationTargetNotFound,
    DelegationTooDeep,
    PermitNotCommittable,
    PermitNotFound,
    ReviewVetoed,
)
from permits_app.models import ActionPermit, SpendingLimits
from permits_app.reviewers import delegate_to_archetype
from permits_app.reviewers.delegate_to_archetype import DelegationEntry, DelegationHop, close_hop, open_hop
from permits_app.reviewers.review import Review, ReviewVerdict
from permits_app.safety.hook import HookCall
from tests.broken_link import find_broken_link
from tests.live_golem import LiveGolem, make_live_golem
from tools_app.core import clock
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.models import AuditEntry
from tools_app.toolkit.enums import Category

AGENT = DelegationEntry.AGENT


def hop(
    golem: Golem, target: str, *, parent: DelegationHop | None = None, entry: DelegationEntry = AGENT
) -> DelegationHop:
    return open_hop(golem=golem, target=target, entry=entry, actor="key:test", now=clock.now(), parent=parent)


def told(golem: Golem, event: str) -> list[dict[str, Any]]:
    return [entry.data for entry in AuditEntry.objects.filter(golem_id=golem.pk, event=event).order_by("seq")]


@pytest.fixture
def golem(live_golem: LiveGolem) -> Golem:
    return Golem.objects.select_related("archetype").get(pk=live_golem.golem.pk)


def test_a_listed_delegate_is_opened_and_both_ends_are_in_the_audit_log(golem: Golem) -> None:
    opened = hop(golem, "trade-executor")
    close_hop(hop=opened, outcome={"status": "done"}, actor="key:test", now=clock.now())
    assert opened.chain == ("golem-instance", "trade-executor")
    (noted,) = told(golem, "DelegationHop")
    assert (noted["from"], noted["to"], noted["parent_hop_id"]) == ("golem-instance", "trade-executor", None)
    (ended,) = told(golem, "DelegationEnded")
    assert (ended["hop_id"], ended["status"]) == (str(opened.id), "done")
    assert find_broken_link(AuditEntry.objects.filter(golem_id=golem.pk).order_by("seq")) is None


def test_each_hop_names_its_parent(golem: Golem) -> None:
    first = hop(golem, "trade-executor")
    second = hop(golem, "risk-assessor", parent=first)
    assert second.chain == ("golem-instance", "trade-executor", "risk-assessor")
    assert [each["parent_hop_id"] for each in told(golem, "DelegationHop")] == [None, str(first.id)]


@pytest.mark.parametrize(
    ("target", "error"), [("ghost", DelegationTargetNotFound), ("pool-researcher", DelegationNotAllowed)]
)
def test_a_refused_hop_is_noted_with_its_code(golem: Golem, target: str, error: type[GolemError]) -> None:
    with pytest.raises(error):
        hop(golem, target)
    assert [each["code"] for each in told(golem, "DelegationRefused")] == [error.code]
    assert told(golem, "DelegationHop") == []


def test_not_allowed_lists_who_is(golem: Golem) -> None:
    with pytest.raises(DelegationNotAllowed) as refused:
        hop(golem, "safety-guardian")
    assert refused.value.data["frm"] == "golem-instance"
    assert "risk-assessor" in refused.value.data["allowed"]


def test_a_circle_is_detected_even_where_the_stored_graph_has_one(golem: Golem) -> None:
    executor = Archetype.objects.get(name="trade-executor")
    executor.delegates_to.add(Archetype.objects.get(name="golem-instance"))
    with pytest.raises(DelegationCycleDetected) as refused:
        hop(golem, "golem-instance", parent=hop(golem, "trade-executor"))
    assert refused.value.data["cycle"] == ["golem-instance", "trade-executor", "golem-instance"]


def test_the_fourth_hop_is_too_deep_and_the_third_is_not(golem: Golem) -> None:
    rows = [Archetype.objects.create(name=f"d{index}", category="research") for index in range(4)]
    for upper, lower in zip(rows, rows[1:], strict=False):
        upper.delegates_to.add(lower)
    golem.archetype.delegates_to.add(rows[0])
    third = hop(golem, "d2", parent=hop(golem, "d1", parent=hop(golem, "d0")))
    with pytest.raises(DelegationTooDeep) as refused:
        hop(golem, "d3", parent=third)
    assert (refused.value.data["depth"], refused.value.data["max_depth"]) == (4, 3)


def test_a_delegates_tools_are_its_own_cut_to_the_golems(golem: Golem) -> None:
    opened = hop(golem, "liquidity-manager")
    assert "uniswap_lp_add_liquidity" in opened.toolset
    assert "memory_search" not in opened.toolset
    ToolOverride.objects.create(golem=golem, tool_name="uniswap_lp_add_liquidity", mode=OverrideMode.EXCLUDE)
    assert "uniswap_lp_add_liquidity" not in hop(golem, "liquidity-manager").toolset
    golem.allowed_protocols = ["aave"]
    assert {tool.venue for tool in hop(golem, "liquidity-manager").toolset} & {"uniswap"} == set()
    assert Category.LP not in {tool.category for tool in hop(golem, "trade-executor").toolset}


def test_a_review_by_the_runtime_is_a_hop_of_its_own(live_golem: LiveGolem) -> None:
    permit = live_golem.preview(amount="1500000000")
    assert permit["review"]["verdict"] == "APPROVE"
    (noted,) = told(live_golem.golem, "DelegationHop")
    assert (noted["entry"], noted["from"], noted["to"]) == ("review", "golem-instance", "safety-guardian")
    (ended,) = told(live_golem.golem, "DelegationEnded")
    assert (ended["verdict"], ended["hop_id"]) == ("APPROVE", noted["hop_id"])


def test_below_the_hot_lane_nobody_is_asked(live_golem: LiveGolem) -> None:
    live_golem.preview(amount="900000000")
    assert told(live_golem.golem, "DelegationHop") == []


def test_a_veto_refuses_the_preview_and_is_noted(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    def veto(call: HookCall) -> Review:
        return Review("safety-guardian", ReviewVerdict.VETO, ("no",), ("all",))

    monkeypatch.setattr(delegate_to_archetype, "REVIEWERS", {"safety-guardian": veto})
    with pytest.raises(ReviewVetoed):
        live_golem.preview(amount="1500000000")
    assert [each["verdict"] for each in told(live_golem.golem, "DelegationEnded")] == ["VETO"]
    assert ActionPermit.objects.count() == 0


def test_without_the_guardians_row_nothing_above_the_hot_lane_passes(live_golem: LiveGolem) -> None:
    Archetype.objects.get(name="safety-guardian").delete()
    with pytest.raises(DelegationTargetNotFound):
        live_golem.preview(amount="1500000000")


def ask(live: LiveGolem, target: str, context: str | None) -> dict[str, Any]:
    body = {
        "action_type": "delegate",
        "venue": "golem",
        "target": target,
        "instruction": "Judge it",
        "context": context,
    }
    return live.preview(**body, token_in=None, token_out=None, amount=None)


def test_an_agent_asks_the_risk_assessor_about_its_permit(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    asked = ask(live_golem, "risk-assessor", permit["permit_id"])
    done = live_golem.commit(asked["permit_id"])
    assert done["status"] == "COMMITTED", done
    answer = done["result"]["data"]
    assert (answer["verdict"], answer["reasons"]) == ("APPROVE", [])
    assert answer["chain"] == ["golem-instance", "risk-assessor"]
    assert answer["permit_id"] == permit["permit_id"]
    assert "chance of a revert at most 5%" in answer["checks"]
    (noted,) = told(live_golem.golem, "DelegationHop")
    assert (noted["entry"], noted["instruction"]) == ("agent", "Judge it")
    live_golem.commit(permit["permit_id"])


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("trade-executor", DelegateNeedsModel),
        ("memory-consolidator", DelegateNeedsModel),
        ("safety-guardian", DelegationNotAllowed),
        ("pool-researcher", DelegationNotAllowed),
        ("ghost", DelegationTargetNotFound),
    ],
)
def test_other_targets_are_refused_at_preview(live_golem: LiveGolem, target: str, error: type[GolemError]) -> None:
    permit = live_golem.preview()
    with pytest.raises(error):
        ask(live_golem, target, permit["permit_id"])


@pytest.mark.parametrize("context", [None, "", "please", "00000000-0000-0000-0000-000000000000"])
def test_a_reviewer_needs_a_permit_of_this_golem(live_golem: LiveGolem, context: str | None) -> None:
    with pytest.raises((InvalidParams, PermitNotFound)):
        ask(live_golem, "risk-assessor", context)


def test_another_golems_permit_cannot_be_judged(live_golem: LiveGolem) -> None:
    other = make_live_golem(live_golem.world, name="Other", owner_name="owner-b")
    with pytest.raises(PermitNotFound):
        ask(live_golem, "risk-assessor", other.preview()["permit_id"])


def test_a_permit_that_is_done_is_not_judged(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    live_golem.commit(permit["permit_id"])
    with pytest.raises(PermitNotCommittable):
        ask(live_golem, "risk-assessor", permit["permit_id"])


def test_a_veto_on_request_leaves_the_permit_and_says_why(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_transaction_micro_usd=100_000_000)
    done = live_golem.commit(ask(live_golem, "risk-assessor", permit["permit_id"])["permit_id"])
    answer = done["result"]["data"]
    assert answer["verdict"] == "VETO"
    assert "in one transaction" in " ".join(answer["reasons"])
    assert live_golem.permit(permit["permit_id"]).status == "CREATED"
