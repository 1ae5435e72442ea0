"""What an agent asks beyond the owner's slippage, or for too long, is permitted for the bytes that are within both."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from permits_app.approvals.approval_rules import WARDEN_DELAY_SECONDS
from permits_app.models import ActionPermit, OutboundTransaction, Warden
from permits_app.permits.plan_store import decode_plan
from tests.adversary.conftest import SWAP, Adversary
from tests.adversary.conftest import adversary as adversary
from tools_app.chain.abi import decode_input
from tools_app.core import clock
from tools_app.protocols.uniswap.v3.plans import EXACT_IN_SINGLE, MULTICALL_UNTIL
from tools_app.toolkit.enums import RiskTier

MOST_BPS = 100
MOST_SECONDS = 3_600


def permit_for(adversary: Adversary, **asked: Any) -> ActionPermit:
    status, answer = adversary.preview(**{**SWAP, "venue": "uniswap", **asked})
    assert status == 200, answer
    return ActionPermit.objects.get(pk=answer["permit_id"])


def test_what_is_signed_holds_the_owners_slippage_and_not_the_larger_one_asked_for(adversary: Adversary) -> None:
    permit = permit_for(adversary, slippage_bps=500, deadline=86_400)
    assert (permit.params["slippage_bps"], permit.params["deadline"]) == (MOST_BPS, MOST_SECONDS)
    said = {each["hook"]: each for each in permit.hook_decisions}
    assert said["spending_limiter"]["decision"] == "AllowModified"
    assert "slippage_bps 100 for 500" in said["spending_limiter"]["note"]
    assert [each["decision"] for each in permit.hook_decisions].count("Allow") == 5
    now = clock.now()
    assert adversary.ask("commit_action", {"permit_id": str(permit.pk)})[1]["status"] == "COMMITTED"
    swap = OutboundTransaction.objects.filter(permit=permit).latest("nonce")
    sent = next(call for call in decode_plan(permit).calls if call.to == swap.to)
    until, steps = decode_input(MULTICALL_UNTIL, sent.data)
    (order,) = decode_input(EXACT_IN_SINGLE, steps[0])
    [flow] = decode_plan(permit).receives
    assert order[5] == flow.bound >= flow.expected * (10_000 - MOST_BPS) // 10_000
    assert until <= now.timestamp() + MOST_SECONDS + 1


@pytest.mark.parametrize(
    ("name", "asked", "given"),
    [
        ("slippage_bps", MOST_BPS - 1, MOST_BPS - 1),
        ("slippage_bps", MOST_BPS, MOST_BPS),
        ("slippage_bps", MOST_BPS + 1, MOST_BPS),
        ("deadline", MOST_SECONDS - 1, MOST_SECONDS - 1),
        ("deadline", MOST_SECONDS, MOST_SECONDS),
        ("deadline", MOST_SECONDS + 1, MOST_SECONDS),
    ],
)
def test_only_what_is_beyond_the_edge_is_changed(adversary: Adversary, name: str, asked: int, given: int) -> None:
    permit = permit_for(adversary, **{name: asked})
    assert permit.params[name] == given
    changed = any(each["decision"] == "AllowModified" for each in permit.hook_decisions)
    assert changed is (asked != given)


@pytest.mark.parametrize(("asked", "given"), [(MOST_SECONDS, MOST_SECONDS), (MOST_SECONDS + 1, MOST_SECONDS)])
def test_what_a_deadline_has_for_a_wait_is_not_taken_from_it(adversary: Adversary, asked: int, given: int) -> None:
    Warden.objects.create(golem=adversary.live.golem, is_on=True)
    permit = permit_for(adversary, deadline=asked)
    wait = WARDEN_DELAY_SECONDS[RiskTier(permit.risk_tier)] + settings.GOLEM_WARDEN_WINDOW_SECONDS
    assert permit.params["deadline"] == given + wait
