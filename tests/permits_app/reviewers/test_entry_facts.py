"""What is known speaks against an entry before the reviewers, and for nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from permits_app.models import HealthAlert
from permits_app.reviewers import risk_assessor, safety_guardian
from permits_app.reviewers.entry_facts import ALERT_LASTS
from permits_app.safety.hook import HookCall
from tests.golem_project.heartbeat.test_known_market import buy, follow_pool, read_on
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import live_call, swap_call

ENTRY = {"token0": "WETH", "token1": "USDC", "price_lower": "1", "price_upper": "100000", "amount1": "500000000"}


@pytest.fixture
def entry(live_golem: LiveGolem) -> HookCall:
    return live_call(live_golem, "uniswap_lp_add_liquidity", ENTRY)


def test_a_one_sided_flow_is_a_veto_of_an_entry_and_a_warning_of_a_trade(live_golem: LiveGolem, settings: Any) -> None:
    index = follow_pool(live_golem, settings)
    buy(index)
    read_on(index)
    call = live_call(live_golem, "uniswap_lp_add_liquidity", ENTRY)
    found = risk_assessor.review(call)
    assert not found.is_approved and "one-sided: VPIN 0.9" in " ".join(found.reasons)
    assert found.figures[f"known_{index.pool.address}"]["missing"] == []
    guarded = safety_guardian.review(call)
    assert guarded.is_approved and "one-sided: VPIN 0.9" in " ".join(guarded.warnings), guarded.reasons
    trade = risk_assessor.review(swap_call(live_golem, token_in="WETH", token_out="USDC", amount=str(10**16)))
    assert trade.is_approved and "one-sided: VPIN 0.9" in " ".join(trade.warnings), trade.reasons


def test_without_an_index_the_reviewers_judge_as_before(entry: HookCall) -> None:
    found = risk_assessor.review(entry)
    assert found.is_approved and not any(name.startswith("known_") for name in found.figures)
    assert safety_guardian.review(entry).warnings == ()


def test_an_alert_that_was_breached_within_ten_minutes_is_a_veto_of_an_entry(
    live_golem: LiveGolem, entry: HookCall
) -> None:
    alert = HealthAlert.objects.create(
        golem=live_golem.golem, protocol="aave_v3", chain_id=31337, min_health_bps=15_000, last_triggered_at=entry.now
    )
    found = risk_assessor.review(entry)
    assert not found.is_approved and "below the 1.50 that a health alert asks for" in " ".join(found.reasons)
    trade = risk_assessor.review(swap_call(live_golem))
    assert trade.is_approved and "health alert" in " ".join(trade.warnings)
    HealthAlert.objects.filter(pk=alert.pk).update(last_triggered_at=entry.now - ALERT_LASTS + timedelta(seconds=1))
    assert not risk_assessor.review(entry).is_approved
    HealthAlert.objects.filter(pk=alert.pk).update(last_triggered_at=entry.now - ALERT_LASTS)
    assert risk_assessor.review(entry).is_approved


def test_a_pool_that_holds_less_than_twenty_times_what_goes_in_is_a_veto_of_an_entry(
    entry: HookCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert risk_assessor.review(entry).is_approved
    monkeypatch.setattr("tools_app.subsystems.intel.entry_doubts.LEAST_DEPTH_TIMES", 10**9)
    found = risk_assessor.review(entry)
    assert not found.is_approved and "times what would go in" in " ".join(found.reasons)
