"""The owner's limit of actions that differ in numbers only: what is alike, where the limit lies, and at the door."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.models import Golem
from permits_app.actions.query import describe_limits
from permits_app.errors import ActionRepeated, PolicyRejected
from permits_app.models import SpendingLimits
from permits_app.models.spending import ALIKE_WINDOW
from permits_app.permits.equal_actions import hash_alike, hash_meant
from permits_app.safety.call_records import PastCall
from permits_app.safety.loop_and_breaker_rules import LOOP_HORIZON, LOOP_WINDOW, judge_alike, list_alike
from tests.live_golem import SWAP, LiveGolem
from tests.permits_app.safety.calls import NOW
from tools_app import runner
from tools_app.core import clock
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.registry import REGISTRY

OPENING = ActionClass.NEW_POSITION


@pytest.mark.parametrize(("before", "most", "passes"), [(2, 3, True), (3, 3, False), (19, 20, True), (19, 19, False)])
def test_one_more_than_the_limit_is_refused_and_the_windows_size_is_no_limit(
    before: int, most: int, passes: bool
) -> None:
    alike = [NOW - timedelta(minutes=minute) for minute in range(before)]
    assert (judge_alike(alike=alike, most=most, action_class=OPENING) is None) is passes
    assert ALIKE_WINDOW == LOOP_WINDOW


def test_it_passes_again_once_enough_of_them_are_an_hour_old() -> None:
    alike = tuple(NOW - timedelta(minutes=minute) for minute in range(5))
    refused = judge_alike(alike=alike, most=3, action_class=OPENING)
    assert refused is not None
    assert (refused.rule, refused.error) == ("rate_limiter.alike", ActionRepeated)
    assert refused.resets_at == (NOW - timedelta(minutes=2) + LOOP_HORIZON).isoformat()
    assert "propose_standing_plan" in refused.would_pass and refused.resets_at in refused.would_pass
    assert judge_alike(alike=alike[:2], most=3, action_class=OPENING) is None


@pytest.mark.parametrize("leaving", [ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION])
def test_getting_out_is_never_too_alike(leaving: ActionClass) -> None:
    assert judge_alike(alike=[NOW] * 19, most=1, action_class=leaving) is None


def test_only_calls_of_the_window_that_share_its_hash_are_alike() -> None:
    earlier = [PastCall("swap", "0x1", NOW, "0xa"), PastCall("swap", "0x2", NOW, "0xb"), PastCall("note", "0x3", NOW)]
    assert list_alike(earlier=earlier, alike_hash="0xa") == (NOW,)
    assert list_alike(earlier=earlier, alike_hash="") == ()
    beyond = [PastCall("swap", "0x1", NOW, "0xb")] * (LOOP_WINDOW - 1) + [PastCall("swap", "0x1", NOW, "0xa")]
    assert list_alike(earlier=beyond, alike_hash="0xa") == ()


def hashes(golem: Golem, **changes: Any) -> tuple[str, str]:
    tool = REGISTRY.get("uniswap_execute_swap")
    body = {name: value for name, value in {**SWAP, **changes}.items() if name not in ("action_type", "venue")}
    params = runner.check_params(tool=tool, params=body)
    return (
        hash_alike(golem=golem, tool=tool, params=params),
        hash_meant(golem=golem, tool=tool, params=params),
    )


def test_what_differs_in_numbers_is_alike_and_what_differs_in_tokens_or_chain_is_not(live_golem: LiveGolem) -> None:
    golem, usdc = live_golem.golem, live_golem.world.tokens["USDC"].address
    alike, equal = hashes(golem)
    for numbers in ({"amount": "500000001"}, {"amount": "499000000", "slippage_bps": 77}, {"deadline": 90}):
        one, other = hashes(golem, **numbers)
        assert one == alike and other != equal, numbers
    assert hashes(golem, token_in=usdc)[0] == alike, "another spelling of the same token"
    assert hashes(golem, token_in="DAI")[0] != alike
    assert hashes(golem, token_in="WETH", token_out="USDC")[0] != alike
    assert hashes(Golem(pk=golem.pk, address=golem.address, home_chain_id=1))[0] != alike


def test_an_owners_limit_of_alike_actions_is_kept_at_the_door(live_golem: LiveGolem) -> None:
    """Three swaps of slightly other amounts pass, the fourth does not; another pair does, and so does no limit."""
    limits = SpendingLimits.objects.filter(golem=live_golem.golem)
    limits.update(most_alike_calls=3)
    made = [live_golem.preview(amount=str(500_000_000 + step)) for step in range(3)]
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview(amount="500000999")
    assert refused.value.data["rule"] == "rate_limiter.alike"
    assert (refused.value.code, refused.value.as_problem()["recovery"]) == ("ACTION_REPEATED", "WAIT")
    assert live_golem.preview(token_in="DAI", amount=str(10**18))["status"] == "CREATED"
    assert live_golem.commit(made[0]["permit_id"])["status"] == "COMMITTED", "what was permitted is not alike to itself"
    limits.update(most_alike_calls=20)
    assert live_golem.preview(amount="500000999")["status"] == "CREATED"


def test_an_agent_reads_it_beside_its_limits(live_golem: LiveGolem) -> None:
    told = describe_limits(live_golem.golem, None, clock.now())
    assert told["most_alike_calls"] == 20
