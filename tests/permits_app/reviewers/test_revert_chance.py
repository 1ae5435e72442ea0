"""A call that is likely to revert while its permit waits is vetoed by whoever must review it."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.errors import ReviewVetoed
from permits_app.models import SpendingLimits
from permits_app.reviewers import safety_guardian
from permits_app.reviewers.revert_risk import MOST_REVERT_MILLIONTHS
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.safety.calls import swap_call
from tools_app.chain.node_errors import RpcUnavailable


def test_a_market_that_jumps_further_than_the_plan_tolerates_is_a_veto_above_the_hot_lane_too(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule of the risk-assessor is the guardian's as well, so it holds for every call that must be reviewed."""
    calm = safety_guardian.review(swap_call(live_golem))
    assert calm.is_approved, calm.reasons
    assert int(calm.figures["revert_chance_millionths"]) <= MOST_REVERT_MILLIONTHS
    rival = make_live_golem(live_golem.world, name="Rival", owner_name="owner-b")
    SpendingLimits.objects.filter(golem=rival.golem).update(
        max_price_impact_bps=9_000, max_slippage_bps=9_000, per_day_micro_usd=10**12, per_session_micro_usd=10**12
    )
    # Of the calm before nothing is looked at, however long the chain was when the test began.
    monkeypatch.setattr("permits_app.reviewers.revert_chance.LOOKBACK_BLOCKS", 30)
    # Two blocks a trade and these make thirty, close together: how fast the chain goes is measured by them.
    live_golem.world.rpc.call("anvil_mine", "0x6")
    for index in range(12):
        # All of it the way that hurts who buys ether.
        rival.commit(rival.preview(amount=str(1_500 * 10**6 + index))["permit_id"])
    call = swap_call(live_golem, slippage_bps=1)
    assert "at most 5% are accepted" in " ".join(safety_guardian.review(call).reasons)
    assert int(safety_guardian.review(call).figures["revert_chance_millionths"]) > MOST_REVERT_MILLIONTHS
    with pytest.raises(ReviewVetoed, match="at most 5% are accepted"):
        live_golem.preview(amount="1500000000", slippage_bps=1)


def test_a_history_of_prices_that_cannot_be_read_is_a_veto(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise RpcUnavailable("the node does not serve logs")

    monkeypatch.setattr("permits_app.reviewers.revert_chance.read_prices", fail)
    found = safety_guardian.review(swap_call(live_golem))
    assert not found.is_approved
    assert "a fact could not be read" in " ".join(found.reasons)
