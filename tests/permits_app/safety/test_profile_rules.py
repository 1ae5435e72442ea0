"""What a conservative profile refuses of one call: several pools, ranges under fifty ticks; never a way out."""

from __future__ import annotations

import pytest

from archetypes_app.models import ToolProfile
from permits_app.errors import PolicyRejected
from permits_app.safety.profile_rules import judge_hops, judge_profile, judge_range
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import plain_call, swap_call
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import TxPlan


def plan(**details: object) -> TxPlan:
    return TxPlan(31337, (), details=details)


@pytest.mark.parametrize(("hops", "passes"), [(1, True), (2, False), (3, False)])
def test_one_pool_passes_and_two_do_not(hops: int, passes: bool) -> None:
    assert (judge_hops(plan(route=[{}] * hops)) is None) == passes


@pytest.mark.parametrize(("ticks", "passes"), [(49, False), (50, True), (60, True)])
def test_a_range_has_at_least_fifty_ticks(ticks: int, passes: bool) -> None:
    refusal = judge_range(plan(tick_lower=-ticks, tick_upper=0))
    assert (refusal is None) == passes
    if refusal is not None:
        assert (refusal.observed, refusal.limit) == (f"{ticks} ticks", "at least 50 ticks")


def test_what_has_neither_route_nor_range_passes() -> None:
    assert judge_hops(plan()) is None
    assert judge_range(plan()) is None
    assert judge_range(plan(tick_lower=0)) is None
    assert judge_range(plan(tick_upper=0)) is None


def test_a_conservative_golem_swaps_through_one_pool_only(live_golem: LiveGolem) -> None:
    two, one = swap_call(live_golem, token_out="FEE"), swap_call(live_golem)
    assert two.plan is not None
    assert len(two.plan.details["route"]) > 1
    assert judge_profile(two, is_conservative=False) is None
    refusal = judge_profile(two, is_conservative=True)
    assert refusal is not None
    assert refusal.rule == "policy_cage.conservative_hops"
    assert judge_profile(one, is_conservative=True) is None


def test_the_preview_of_a_conservative_golem_says_so(live_golem: LiveGolem) -> None:
    live_golem.golem.profiles.set(ToolProfile.objects.filter(name="conservative"))
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview(token_in="USDC", token_out="FEE", amount="100000000")
    assert refused.value.data["hook"] == "policy_cage"
    assert live_golem.preview()["status"] == "CREATED"


def test_leaving_is_never_stopped() -> None:
    call = plain_call(plan(route=[{}, {}]), action_class=ActionClass.CLOSE_POSITION)
    assert judge_profile(call, is_conservative=True) is None
