"""Standing plans: an agent proposes equal trades, its owners agree once, the heartbeat trades, a halt ends them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.models import Heartbeat
from archetypes_app.models.tick import PlannerKind
from golem_project.heartbeat.strategies.standing_plans import StandingTrades, read_standing_plans
from permits_app.actions.halt import halt_golem
from permits_app.models import ActionPermit, ActionRecord, ChangeRequest, StandingPlan
from permits_app.safety.loop_and_breaker_rules import LOOP_MOST_IDENTICAL
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.golem_project.heartbeat.strategies.test_strategies import USDC, WETH, look
from tests.golem_project.heartbeat.test_rule_planner import done_in
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import approve, carry_out
from tests.permits_app.tools.test_wallet import read
from tools_app.core import clock
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.models import AuditEntry

USD = 10**6
PURCHASE = {
    "action_type": "propose_standing_plan",
    "venue": "golem",
    "token_in": "USDC",
    "token_out": "WETH",
    "amount": str(100 * USD),
    "every_hours": 24,
    "times": 3,
    "ends_in_days": 30,
}
Owners = tuple[LiveGolem, Any, Any]


def propose(owners: Owners, **changes: Any) -> ChangeRequest:
    live, _, _ = owners
    permit = live.preview(**{**PURCHASE, **changes})
    assert (permit["status"], permit["missing"]) == ("AWAITING_APPROVAL", ["approval"])
    return ChangeRequest.objects.get(permit_id=permit["permit_id"])


def agree(owners: Owners, **changes: Any) -> StandingPlan:
    request = approve(propose(owners, **changes), owners[2])
    assert carry_out(request, chain=owners[0].world).state == "EXECUTED"
    return StandingPlan.objects.latest("created_at")


def later(hours: int) -> None:
    """As if everything that was done was done so many hours before."""
    for row in ActionRecord.objects.all():
        ActionRecord.objects.filter(pk=row.pk).update(created_at=row.created_at - timedelta(hours=hours))
    for permit in ActionPermit.objects.all():
        ActionPermit.objects.filter(pk=permit.pk).update(created_at=permit.created_at - timedelta(hours=hours))
    Heartbeat.objects.update(state={})


def told(live: LiveGolem) -> list[dict[str, Any]]:
    plans: list[dict[str, Any]] = read(live, "golem_get_standing_plans")["plans"]
    return plans


def test_owners_read_the_whole_plan_and_nothing_is_traded_before_they_agree(two_owners: Owners) -> None:
    live, _, other = two_owners
    turn_on(live.golem, rule={})
    request = propose(two_owners)
    assert "give 100 USDC for WETH at uniswap every 24 hours, 3 times at most, until 20" in request.title
    assert request.shown["differences"][0]["after"] in request.title.removeprefix("Agree to: ") + "…"
    assert done_in(tick(live.golem)) == [] and told(live) == []
    assert carry_out(approve(request, other), chain=live.world).state == "EXECUTED"
    (plan,) = told(live)
    assert (plan["done"], plan["times"], plan["amount"]) == (0, 3, str(100 * USD))


@pytest.mark.parametrize("planner", [PlannerKind.RULE, PlannerKind.MODEL])
def test_it_is_carried_out_at_its_times_as_often_as_was_agreed_whoever_plans(two_owners: Owners, planner: Any) -> None:
    live, before = two_owners[0], two_owners[0].balance("USDC")
    agree(two_owners)
    turn_on(live.golem, rule={}, planner=planner)
    for done in range(1, 4):
        assert ("swap", "EXECUTED") in done_in(tick(live.golem))
        assert live.balance("USDC") == before - done * 100 * USD
        assert ("swap", "EXECUTED") not in done_in(tick(live.golem)), "once a period"
        later(24)
    assert ("swap", "EXECUTED") not in done_in(tick(live.golem)), "three times were agreed"
    (plan,) = told(live)
    assert (plan["done"], plan["next_at"]) == (3, None)


def test_equal_trades_of_a_plan_are_no_loop_and_those_of_an_agent_are_told_the_way_round(two_owners: Owners) -> None:
    live = two_owners[0]
    agree(two_owners, every_hours=1, times=LOOP_MOST_IDENTICAL + 1)
    turn_on(live.golem, rule={})
    for _ in range(LOOP_MOST_IDENTICAL + 1):
        assert done_in(tick(live.golem)) == [("swap", "EXECUTED")]
        later(1)
    swap = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": str(50 * USD)}
    for _ in range(LOOP_MOST_IDENTICAL - 1):
        live.commit(live.preview(**swap)["permit_id"])
    with pytest.raises(GolemError) as refused:
        live.preview(**swap)
    assert refused.value.code == "ACTION_REPEATED" and "propose_standing_plan" in refused.value.data["would_pass"]


def test_a_share_is_kept_in_both_directions_and_by_no_more_than_was_agreed(two_owners: Owners) -> None:
    live = two_owners[0]
    agree(two_owners, share_percent=95, amount=str(1_000 * USD), every_hours=1, times=50)
    turn_on(live.golem, rule={})
    weth, usdc = live.balance("WETH"), live.balance("USDC")
    share = usdc * 100 // (usdc + weth * 3_000 // 10**12)
    tick(live.golem)
    moved = live.balance("USDC") - usdc
    assert moved != 0 and (moved > 0) is (share < 95)
    assert abs(moved) <= 1_010 * USD


def test_a_halt_ends_every_plan_and_a_resume_brings_none_back(two_owners: Owners) -> None:
    live = two_owners[0]
    plan = agree(two_owners)
    halt_golem(golem=live.golem, reason="seen enough", actor="owner:1", now=clock.now())
    plan.refresh_from_db()
    assert plan.ended_at is not None and plan.ended_by == "system:halt"
    assert AuditEntry.objects.filter(event="StandingPlanEnded", golem_id=live.golem.pk).count() == 1
    assert read_standing_plans(golem_id=live.golem.pk, is_live=True, now=clock.now()) == ()
    assert told(live) == []


def test_its_agent_ends_a_plan_without_asking_and_another_golems_is_none(two_owners: Owners) -> None:
    live = two_owners[0]
    plan = agree(two_owners)
    end = {"action_type": "end_standing_plan", "venue": "golem", "token_in": None, "token_out": None, "amount": None}
    permit = live.preview(**end, plan_id=str(plan.pk))
    assert ActionPermit.objects.get(pk=permit["permit_id"]).tool_name == "golem_end_standing_plan"
    live.commit(permit["permit_id"])
    assert told(live) == []
    with pytest.raises(GolemError) as refused:
        live.preview(**end, plan_id=str(plan.pk))
    assert refused.value.code == "STANDING_PLAN_NOT_FOUND"


def test_a_plan_whose_time_is_over_trades_no_more(two_owners: Owners) -> None:
    live = two_owners[0]
    agree(two_owners, ends_in_days=1)
    at = clock.now()
    assert len(read_standing_plans(golem_id=live.golem.pk, is_live=True, now=at)) == 1
    assert read_standing_plans(golem_id=live.golem.pk, is_live=True, now=at + timedelta(days=1)) == ()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"token_out": "USDC"}, "token_out"),
        ({"trades_at": "nowhere"}, "trades_at"),
        ({"every_hours": 0}, "every_hours"),
        ({"every_hours": 745}, "every_hours"),
        ({"ends_in_days": 366}, "ends_in_days"),
        ({"times": 1_001}, "times"),
    ],
)
def test_a_plan_that_says_no_trade_is_refused_with_its_field(
    two_owners: Owners, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidParams) as refused:
        two_owners[0].preview(**{**PURCHASE, **changes})
    assert field in refused.value.data["fields"]


def test_a_plan_that_stands_is_not_asked_for_again_and_a_golem_has_eight(two_owners: Owners) -> None:
    agree(two_owners)
    with pytest.raises(GolemError) as again:
        propose(two_owners)
    assert again.value.code == "CHANGE_UNCHANGED"
    for number in range(7):
        agree(two_owners, amount=str((200 + number) * USD))
    with pytest.raises(InvalidParams, match="at most 8"):
        propose(two_owners, amount=str(900 * USD))


KEPT = StandingTrades("standing:1", "kept", "USDC", "WETH", "uniswap", 10_000 * USD, 1, 50, share_percent=50)


@pytest.mark.parametrize(
    ("usdc", "sold"),
    [(6_000, []), (6_500, []), (6_510, ["USDC"]), (5_540, []), (5_530, ["WETH"])],
)
def test_a_share_that_is_off_by_its_band_is_left_alone_and_traded_beyond(usdc: float, sold: list[str]) -> None:
    """Two WETH are worth 6,000; the band is two percent of both."""
    names = {WETH.address: "WETH", USDC.address: "USDC"}
    assert [names[wish.params["token_in"]] for wish in KEPT.plan(look(usdc=usdc))] == sold
    assert KEPT.plan(look(usdc=usdc, price=None)) == ()


def test_no_more_than_was_agreed_is_traded_at_once_in_either_direction() -> None:
    small = replace(KEPT, amount_raw=100 * USD)
    assert [int(wish.params["amount"]) for wish in small.plan(look(usdc=9_000))] == [100 * USD]
    (other,) = small.plan(look(usdc=1_000))
    assert int(other.params["amount"]) == 10**18 // 30, "a hundred dollars of WETH at three thousand"
    (from_nothing,) = small.plan(look(usdc=0))
    assert int(from_nothing.params["amount"]) == 10**18 // 30, "also where nothing is held of what the amount counts"
