"""Rights that a plan gives through Permit2: declared, asked for after the calls, and never left behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from permits_app.hook_rejection import Reject
from permits_app.reviewers.safety_guardian import review
from permits_app.safety.hook import Allow, HookCall
from permits_app.safety.hooks.simulator import Simulator
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import OTHER, USDC, swap_call
from tools_app.standards import erc20, permit2
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.plan import AllowanceLeft, Call

HOOK = Simulator()
AMOUNT = 5_000_000
FAR = 2**40


def beside_the_swap(live: LiveGolem, *more: Call, declared: tuple[AllowanceLeft, ...]) -> HookCall:
    """The demo swap, with calls before it that give rights."""
    call = swap_call(live)
    assert call.plan is not None
    plan = replace(
        call.plan, calls=(*more, *call.plan.calls), allowances=(*call.plan.allowances, *declared), deadline=FAR
    )
    return replace(call, plan=plan)


def give(spender: str) -> Call:
    return permit2.approve(token=USDC, spender=spender, amount=AMOUNT, expiration=FAR)


def through(spender: str, granted: int = AMOUNT) -> AllowanceLeft:
    return AllowanceLeft(USDC, spender, granted, 0, through=PERMIT2)


@pytest.fixture
def spender(live_golem: LiveGolem) -> str:
    """A contract that the plan calls."""
    plan = swap_call(live_golem).plan
    assert plan is not None
    return plan.calls[-1].to


def test_a_right_through_permit2_that_is_declared_and_taken_back_passes(live_golem: LiveGolem, spender: str) -> None:
    revoke = permit2.revoke(token=USDC, spender=spender)
    verdict = HOOK.check(beside_the_swap(live_golem, give(spender), revoke, declared=(through(spender),)))

    assert isinstance(verdict, Allow), verdict


def test_a_right_through_permit2_that_is_left_is_refused_by_what_permit2_answers(
    live_golem: LiveGolem, spender: str
) -> None:
    refused = HOOK.check(beside_the_swap(live_golem, give(spender), declared=(through(spender),)))

    assert isinstance(refused, Reject)
    assert refused.rule == "simulator.right_left"


@pytest.mark.parametrize("declared", ["nothing", "less", "another spender", "the token's own"])
def test_a_right_through_permit2_that_is_not_what_is_declared_is_refused(
    live_golem: LiveGolem, spender: str, declared: str
) -> None:
    said = {
        "nothing": (),
        "less": (through(spender, AMOUNT - 1),),
        "another spender": (through(OTHER),),
        "the token's own": (AllowanceLeft(USDC, spender, AMOUNT, 0),),
    }[declared]
    revoke = permit2.revoke(token=USDC, spender=spender)
    refused = HOOK.check(beside_the_swap(live_golem, give(spender), revoke, declared=said))

    assert isinstance(refused, Reject)
    assert refused.rule == "simulator.unexpected_approval"


def test_the_guardian_reads_who_may_take_how_much_until_when_from_the_bytes(
    live_golem: LiveGolem, spender: str
) -> None:
    uncalled = permit2.approve(token=USDC, spender=OTHER, amount=AMOUNT, expiration=FAR + 1)
    back = permit2.revoke(token=USDC, spender=OTHER)
    reasons = " ".join(review(beside_the_swap(live_golem, uncalled, back, declared=(through(OTHER),))).reasons)

    assert f"{OTHER} would be allowed to take {USDC.address}, and this plan never calls it" in reasons
    assert f"the calls say deadline {FAR + 1}, the plan {FAR}" in reasons


def test_what_a_plan_did_not_use_of_permit2s_own_approval_is_the_tokens_matter(
    live_golem: LiveGolem, spender: str
) -> None:
    approve = erc20.approve_exact(token=USDC, spender=PERMIT2, amount=AMOUNT)
    calls = (approve, give(spender), permit2.revoke(token=USDC, spender=spender))
    declared = (AllowanceLeft(USDC, PERMIT2, AMOUNT, 0), through(spender))
    refused = HOOK.check(beside_the_swap(live_golem, *calls, declared=declared))

    assert isinstance(refused, Reject)
    assert refused.rule == "simulator.allowance_left"
