"""A draft of the policy on what a golem really asked for: what flips, what it was worth, and what stays refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from archetypes_app.models.tick import HeartbeatTick
from permits_app.actions.change_policy import change_policy
from permits_app.actions.sweep_changes import forget_denials
from permits_app.approvals.backtest import replay_permits, suggest_least_policy, suggestion_as_changes
from permits_app.approvals.policy_state import apply_differences, read_policy_state
from permits_app.errors import PolicyRejected
from permits_app.models import ActionPermit, DeniedCall, SpendEntry, SpendingLimits
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.errors import GolemError


def _draft(live: LiveGolem, **limits: int | str) -> dict[str, Any]:
    changes = [{"row": "limits", "name": name, "after": str(value)} for name, value in limits.items()]
    return apply_differences(read_policy_state(live.golem), changes)


@pytest.fixture
def history(live_golem: LiveGolem) -> LiveGolem:
    """Two swaps that went through, one that was too large, one to a recipient nobody listed."""
    live_golem.commit(live_golem.preview(amount="100000000")["permit_id"])
    live_golem.commit(live_golem.preview(amount="200000000")["permit_id"])
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_transaction_micro_usd=400_000_000)
    with pytest.raises(PolicyRejected):
        live_golem.preview(amount="600000000")
    with pytest.raises(GolemError):
        live_golem.preview(
            action_type="transfer", venue="wallet", token_in=None, token_out=None, token="USDC", amount="1000000",
            recipient="0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        )  # fmt: skip
    return live_golem


def test_the_policy_of_now_flips_nothing(history: LiveGolem) -> None:
    replay = replay_permits(golem=history.golem, policy=read_policy_state(history.golem))
    assert [line.flips for line in replay.lines] == [False] * 4
    assert [line.was for line in replay.lines] == [
        "allowed", "allowed", "spending_limiter.per_transaction", "allowlist_guard.recipient",
    ]  # fmt: skip


def test_a_higher_limit_flips_the_refusal_it_caused_and_no_other(history: LiveGolem) -> None:
    replay = replay_permits(golem=history.golem, policy=_draft(history, per_transaction_micro_usd=700_000_000))
    (line,) = replay.flipped
    assert (line.was, line.becomes) == ("spending_limiter.per_transaction", "allowed")
    assert 599_000_000 < line.value_micro_usd < 601_000_000


def test_a_lower_limit_flips_what_was_allowed(history: LiveGolem) -> None:
    replay = replay_permits(golem=history.golem, policy=_draft(history, per_transaction_micro_usd=150_000_000))
    (line,) = replay.flipped
    assert (line.was, line.becomes) == ("allowed", "spending_limiter.per_transaction")
    assert replay.flipped_worth.startswith("$20")


def test_a_window_counts_only_what_the_draft_let_through(history: LiveGolem) -> None:
    replay = replay_permits(golem=history.golem, policy=_draft(history, per_day_micro_usd=250_000_000))
    assert [line.becomes for line in replay.lines[:2]] == ["allowed", "spending_limiter.per_day"]
    slow = replay_permits(golem=history.golem, policy=_draft(history, writes_per_hour=1))
    assert [line.becomes for line in slow.lines[:2]] == ["allowed", "rate_limiter.per_hour"]


def test_a_tick_counts_its_own_decisions_also_those_that_were_refused(history: LiveGolem) -> None:
    SpendEntry.objects.filter(permit__golem=history.golem).update(heartbeat_tick=5)
    now = clock.now()
    HeartbeatTick.objects.create(
        golem=history.golem, number=5, fence=1, scheduled_at=now - timedelta(hours=1), status="COMPLETE",
        started_at=now - timedelta(hours=1), ended_at=now,
    )  # fmt: skip
    DeniedCall.objects.filter(rule="spending_limiter.per_transaction").update(rule="spending_limiter.per_tick")
    replay = replay_permits(
        golem=history.golem, policy=_draft(history, per_tick_micro_usd=250_000_000, per_transaction_micro_usd=10**10)
    )
    assert [line.becomes for line in replay.lines[:3]] == [
        "allowed", "spending_limiter.per_tick", "spending_limiter.per_tick",
    ]  # fmt: skip


def test_rebalances_are_replayed_by_pace_and_number(history: LiveGolem) -> None:
    ActionPermit.objects.filter(golem=history.golem).update(action_class="REBALANCE")
    for interval, most, becomes in (
        (3_600, 24, "policy_cage.rebalance_interval"), (0, 1, "policy_cage.rebalances_per_day"), (0, 24, "allowed"),
    ):  # fmt: skip
        changes = [
            {"row": "cage", "name": "min_rebalance_interval_seconds", "after": str(interval)},
            {"row": "cage", "name": "max_rebalances_per_day", "after": str(most)},
        ]
        draft = apply_differences(read_policy_state(history.golem), changes)
        assert replay_permits(golem=history.golem, policy=draft).lines[1].becomes == becomes


def test_what_is_not_replayed_is_said_by_name(history: LiveGolem) -> None:
    replay = replay_permits(golem=history.golem, policy=read_policy_state(history.golem))
    assert "drawdown" in replay.left_out and "concentration" in replay.left_out


def test_an_allowlist_that_is_off_lets_the_unlisted_recipient_through(history: LiveGolem) -> None:
    replay = replay_permits(golem=history.golem, policy=_draft(history, allowlist_mode="OFF"))
    assert [line.was for line in replay.flipped] == ["allowlist_guard.recipient"]


def test_refused_plans_are_kept_with_rule_and_value(history: LiveGolem) -> None:
    first = DeniedCall.objects.order_by("denied_at").first()
    assert first is not None
    assert (first.rule, first.action_type) == ("spending_limiter.per_transaction", "swap")
    assert len(first.calls) == 2
    assert first.value_micro_usd > 599_000_000


def test_refused_plans_are_forgotten_after_thirty_days(history: LiveGolem) -> None:
    now = clock.now()
    assert forget_denials(now=now + timedelta(days=29)) == 0
    assert forget_denials(now=now + timedelta(days=31)) == 2


def test_the_least_policy_allows_all_of_the_period_and_not_a_cent_less(history: LiveGolem) -> None:
    suggestion = suggest_least_policy(golem=history.golem, now=clock.now())
    state = read_policy_state(history.golem)
    least = apply_differences(state, suggestion_as_changes(suggestion))
    replay = replay_permits(golem=history.golem, policy=least)
    assert [line.becomes for line in replay.lines[:2]] == ["allowed", "allowed"]
    assert len(least["allowlist"]) < len(state["allowlist"])
    for name in ("per_transaction_micro_usd", "per_day_micro_usd", "per_session_micro_usd", "writes_per_hour"):
        less = {**least, "limits": {**least["limits"], name: str(int(least["limits"][name]) - 1)}}
        lines = replay_permits(golem=history.golem, policy=less).lines[:2]
        assert "allowed" != lines[1].becomes, name
    for key in least["allowlist"]:
        without = {**least, "allowlist": {k: v for k, v in least["allowlist"].items() if k != key}}
        assert replay_permits(golem=history.golem, policy=without).flipped, key


def test_nothing_is_suggested_for_a_period_without_decisions(live_golem: LiveGolem) -> None:
    assert suggest_least_policy(golem=live_golem.golem, now=clock.now()) == ()
    live_golem.preview()
    assert suggest_least_policy(golem=live_golem.golem, now=clock.now() + timedelta(days=8)) == ()


def test_the_suggestion_can_be_applied_as_it_is(history: LiveGolem) -> None:
    suggestion = suggest_least_policy(golem=history.golem, now=clock.now())
    outcome = change_policy(
        golem=history.golem, changes=suggestion_as_changes(suggestion), owner=history.owner, reason="least",
        now=clock.now(),
    )  # fmt: skip
    assert outcome.request is None or all(not each.loosens for each in outcome.applied)
    assert outcome.applied
