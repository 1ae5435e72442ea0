"""An agent's large swap that goes two ways: one permit, both calls, one outcome, and what it brought in the audit."""

from __future__ import annotations

import pytest

from permits_app.models import SpendingLimits
from tests.live_golem import LiveGolem

pytestmark = pytest.mark.django_db

ETH = 10**18


@pytest.fixture
def wealthy(live_golem: LiveGolem) -> LiveGolem:
    """A golem that may trade a hundred thousand dollars at once."""
    live_golem.world.fund(live_golem.golem.address, ETH, {"DAI": 200_000 * ETH})
    most = 500_000 * 10**6
    SpendingLimits.objects.filter(golem=live_golem.golem).update(
        per_transaction_micro_usd=most,
        per_tick_micro_usd=most,
        per_session_micro_usd=most,
        per_day_micro_usd=most,
        max_price_impact_bps=300,
        trading_costs_per_day_micro_usd=most,
        trading_costs_per_pair_micro_usd=most,
        trading_costs_per_venue_micro_usd=most,
    )
    return live_golem


def test_a_large_swap_is_permitted_and_committed_as_two_ways_with_one_outcome(wealthy: LiveGolem) -> None:
    found = wealthy.preview(token_in="DAI", token_out="WBTC", amount=str(100_000 * ETH))
    expected = found["expected_outcome"]
    assert len(expected["details"]["parts"]) == 2
    assert [call["label"].split()[0] for call in found["calls"]] == ["Approve", "Swap", "Swap"]
    held, nonce = wealthy.balance("WBTC"), wealthy.mined_nonce()

    done = wealthy.commit(str(found["permit_id"]))

    assert done["status"] == "COMMITTED", done
    (wbtc,) = (each for each in expected["balance_deltas"] if each["symbol"] == "WBTC")
    assert wealthy.balance("WBTC") - held == int(wbtc["raw"])
    assert wealthy.mined_nonce() - nonce == 3
