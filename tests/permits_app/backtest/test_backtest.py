"""A draft of the policy on what a golem really asked for: what flips, what it was worth, and what stays refused."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from permits_app.actions.change_policy import change_policy
from permits_app.actions.sweep_changes import forget_denials
from permits_app.approvals.policy_state import apply_differences, read_policy_state
from permits_app.backtest.least_policy import Suggestion, suggest_least_policy
from permits_app.backtest.policy_replay import replay_permits
from permits_app.errors import PolicyRejected
from permits_app.models import ActionPermit, AllowlistEntry, DeniedCall, SpendingLimits
from permits_app.safety import hook_chain
from permits_app.safety.hook_inputs_json import decode_facts, encode_facts
from permits_app.safety.load_call_records import RecordReader
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import swap_call
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
            action_type="transfer",
            venue="wallet",
            token_in=None,
            token_out=None,
            token="USDC",
            amount="1000000",
            recipient="0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        )
    return live_golem


def test_the_policy_of_now_flips_nothing(history: LiveGolem) -> None:
    replay = replay_permits(golem=history.golem, policy=read_policy_state(history.golem))
    assert [line.flips for line in replay.lines] == [False] * 4
    assert [line.was for line in replay.lines] == [
        "allowed",
        "allowed",
        "spending_limiter.per_transaction",
        "allowlist_guard.recipient",
    ]


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
    state = read_policy_state(history.golem)
    least = apply_differences(state, suggest_least_policy(golem=history.golem, now=clock.now()).as_changes())
    replay = replay_permits(golem=history.golem, policy=least)
    assert [line.becomes for line in replay.lines[:2]] == ["allowed", "allowed"]
    assert len(least["allowlist"]) < len(state["allowlist"])
    for row, names in (
        ("limits", ("per_transaction_micro_usd", "per_day_micro_usd", "per_session_micro_usd", "writes_per_hour")),
        ("cage", ("max_concentration_bps", "max_assets")),
    ):
        for name in names:
            less = {**least, row: {**least[row], name: str(int(least[row][name]) - 1)}}
            lines = replay_permits(golem=history.golem, policy=less).lines[:2]
            assert "allowed" != lines[1].becomes, name
    for key in least["allowlist"]:
        without = {**least, "allowlist": {k: v for k, v in least["allowlist"].items() if k != key}}
        assert replay_permits(golem=history.golem, policy=without).flipped, key


def test_nothing_is_suggested_for_a_period_without_decisions(live_golem: LiveGolem) -> None:
    assert suggest_least_policy(golem=live_golem.golem, now=clock.now()) == Suggestion((), 0)
    live_golem.preview()
    assert suggest_least_policy(golem=live_golem.golem, now=clock.now() + timedelta(days=8)) == Suggestion((), 0)


def test_the_suggestion_can_be_applied_as_it_is(history: LiveGolem) -> None:
    suggestion = suggest_least_policy(golem=history.golem, now=clock.now())
    outcome = change_policy(
        golem=history.golem, changes=suggestion.as_changes(), owner=history.owner, reason="least", now=clock.now()
    )
    assert outcome.request is None or all(not each.loosens for each in outcome.applied)
    assert outcome.applied


def test_both_allowed_and_refused_calls_keep_what_the_hooks_judged(history: LiveGolem) -> None:
    kept: list[Any] = [*ActionPermit.objects.order_by("created_at"), *DeniedCall.objects.order_by("denied_at")]
    assert len(kept) == 4
    for row in kept:
        facts = decode_facts(row.facts, at=clock.now())
        assert facts is not None
        assert facts.portfolio is not None
        assert facts.portfolio.total_before > 20_000 * 10**6
        assert len(json.dumps(row.facts)) < 2_000
    first, second = (decode_facts(row.facts, at=row.created_at) for row in kept[:2])
    assert first is not None and second is not None
    assert (first.usage.writes_last_hour, second.usage.writes_last_hour) == (0, 1)
    assert second.mark is not None
    assert second.mark.value_micro_usd > 0


def test_facts_cost_a_preview_no_statement(live_golem: LiveGolem, django_assert_max_num_queries: Any) -> None:
    live_golem.preview(amount="1000000")
    call = swap_call(live_golem)
    call = replace(call, records=RecordReader(call))
    hook_chain.run(call)
    with django_assert_max_num_queries(0):
        assert encode_facts(call)["assets"]


def test_a_refusal_at_the_reservation_is_kept_too(live_golem: LiveGolem) -> None:
    value = live_golem.permit(live_golem.preview(amount="100000000")["permit_id"]).value_micro_usd
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_transaction_micro_usd=value - 1)
    with pytest.raises(PolicyRejected):
        live_golem.preview(amount="100000000", slippage_bps=40)
    (row,) = DeniedCall.objects.all()
    assert row.rule == "spending_limiter.per_transaction"
    assert row.value_micro_usd > 100_000_000
    (line,) = replay_permits(
        golem=live_golem.golem, policy=_draft(live_golem, per_transaction_micro_usd=2 * value)
    ).flipped
    assert line.was == "spending_limiter.per_transaction"


def test_a_refusal_before_the_holdings_were_read_is_judged_on_them_all_the_same(live_golem: LiveGolem) -> None:
    AllowlistEntry.objects.filter(golem=live_golem.golem, label__icontains="WETH").delete()
    with pytest.raises(PolicyRejected):
        live_golem.preview()
    listed = {**read_policy_state(live_golem.golem)}
    weth = live_golem.world.tokens["WETH"].address
    listed["allowlist"] = {**listed["allowlist"], f"{CHAIN_ID}:TOKEN:{weth}": "WETH"}
    (line,) = replay_permits(golem=live_golem.golem, policy=listed).lines
    assert (line.was, line.becomes) == ("policy_cage.approved_asset", "allowed")
    narrow = {**listed, "cage": {**listed["cage"], "max_concentration_bps": "500"}}
    (line,) = replay_permits(golem=live_golem.golem, policy=narrow).lines
    assert line.becomes == "policy_cage.max_concentration"


def test_a_row_from_before_facts_were_kept_is_said_to_be_unjudged(history: LiveGolem) -> None:
    ActionPermit.objects.filter(golem=history.golem).update(facts={})
    replay = replay_permits(golem=history.golem, policy=_draft(history, per_transaction_micro_usd=0))
    assert [line.unknown for line in replay.lines[:2]] == ["recorded before facts were kept"] * 2
    assert not replay.flipped
