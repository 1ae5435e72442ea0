"""The spine: preview, permit, commit, receipt, outcome, audit, ledger - on real Uniswap contracts."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from permits_app.actions.cancel import cancel_permit
from permits_app.actions.expire import expire_lapsed
from permits_app.actions.halt import halt_golem
from permits_app.actions.start_commit import start_commit
from permits_app.errors import PermitAlreadyCommitted, PermitExpired, PermitNotCommittable, PermitNotFound
from permits_app.halts.resume import resume_golem
from permits_app.models import ActionPermit, OutcomeRecord, SpendEntry, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from tests.broken_link import find_broken_link
from tests.live_golem import LiveGolem, make_live_golem
from tests.passing_time import let_pass_until
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry, OutboxEvent


def test_a_swap_moves_exactly_what_its_permit_predicted(live_golem: LiveGolem) -> None:
    before = {symbol: live_golem.balance(symbol) for symbol in ("USDC", "WETH")}
    permit = live_golem.preview()
    predicted = {delta["symbol"]: int(delta["raw"]) for delta in permit["expected_outcome"]["balance_deltas"]}
    done = live_golem.commit(permit["permit_id"])
    moved = {symbol: live_golem.balance(symbol) - before[symbol] for symbol in before}
    assert done["status"] == "COMMITTED"
    assert {symbol: predicted[symbol] for symbol in moved} == moved
    assert moved["USDC"] == -500_000_000
    assert done["result"]["ground_truth_source"] == "receipt"


def test_a_preview_goes_to_the_database_seven_times(live_golem: LiveGolem) -> None:
    live_golem.preview()
    with CaptureQueriesContext(connection) as captured:
        live_golem.preview(amount="400000000")
    # The test is a transaction of its own, so those inside are savepoints.
    borders = ("SAVEPOINT", "RELEASE", "ROLLBACK")
    asked = [row["sql"] for row in captured.captured_queries if not str(row["sql"]).startswith(borders)]
    # The pegs that the golem's owners declare come with its policy.
    assert len(asked) == 7, asked


def test_the_gas_of_each_receipt_is_within_five_percent_of_the_prediction(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    live_golem.commit(permit["permit_id"])
    outcome = OutcomeRecord.objects.get(permit_id=permit["permit_id"])
    assert outcome.gas_used > 0
    assert abs(outcome.gas_used - outcome.gas_expected) * 100 <= 5 * outcome.gas_used


def test_the_outcome_is_verified_and_the_ledger_settles_within_its_reservation(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    live_golem.commit(permit["permit_id"])
    entry = SpendEntry.objects.get(permit_id=permit["permit_id"])
    outcome = OutcomeRecord.objects.get(permit_id=permit["permit_id"])
    assert outcome.is_verified, outcome.findings
    assert entry.state == SpendState.SETTLED
    assert entry.settled_micro_usd is not None
    assert 500_000_000 <= entry.settled_micro_usd <= entry.reserved_micro_usd


def test_the_audit_log_tells_the_story_in_an_unbroken_chain(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    live_golem.commit(permit["permit_id"])
    entries = list(AuditEntry.objects.filter(golem_id=live_golem.golem.pk).order_by("seq"))
    told = [entry.event for entry in entries if entry.data.get("permit_id") == permit["permit_id"]]
    assert told == ["PermitCreated", "PermitCommitStarted", "Transaction", "PermitConsumed"]
    assert find_broken_link(entries) is None


def test_a_changed_audit_entry_is_found_by_its_number(live_golem: LiveGolem) -> None:
    live_golem.preview()
    entries = list(AuditEntry.objects.filter(golem_id=live_golem.golem.pk).order_by("seq"))
    entries[0].data = {"address": "someone else"}
    broken = find_broken_link(entries)
    assert broken is not None
    assert broken.seq == 1


def test_events_of_a_golem_are_numbered_without_gaps(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    live_golem.commit(permit["permit_id"])
    events = OutboxEvent.objects.filter(golem_id=live_golem.golem.pk).order_by("sequence")
    numbers = list(events.values_list("sequence", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    assert {"permit:created", "permit:committed"} <= set(events.values_list("type", flat=True))


def test_a_second_commit_answers_with_the_first_ones_hashes(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    done = live_golem.commit(permit["permit_id"])
    with pytest.raises(PermitAlreadyCommitted) as refused:
        live_golem.start(permit["permit_id"])
    assert refused.value.data["tx_hashes"] == [row["tx_hash"] for row in done["transactions"]]
    assert refused.value.recovery == "CHECK_STATE"


def test_a_permit_is_valid_until_just_before_its_end_and_not_at_it(live_golem: LiveGolem) -> None:
    first = live_golem.permit(live_golem.preview()["permit_id"])
    second = live_golem.permit(live_golem.preview(amount="400000000")["permit_id"])
    start_commit(
        golem=live_golem.golem, permit_id=first.pk, actor="t", now=first.expires_at - timedelta(milliseconds=1)
    )
    with pytest.raises(PermitExpired):
        start_commit(golem=live_golem.golem, permit_id=second.pk, actor="t", now=second.expires_at)
    second.refresh_from_db()
    assert live_golem.permit(str(first.pk)).status == PermitStatus.COMMITTING
    assert second.status == PermitStatus.EXPIRED


def test_a_preview_gives_back_first_what_lapsed_by_its_time(live_golem: LiveGolem) -> None:
    lapsed = live_golem.permit(live_golem.preview()["permit_id"])
    taken = SpendEntry.objects.get(permit=lapsed).reserved_micro_usd
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_day_micro_usd=taken + taken // 2)
    let_pass_until(lapsed.expires_at, chain=live_golem.world)
    live_golem.preview()
    lapsed.refresh_from_db()
    assert lapsed.status == PermitStatus.EXPIRED


def test_an_expired_permit_gives_its_reservation_back(live_golem: LiveGolem) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    assert expire_lapsed(golem_id=live_golem.golem.pk, now=permit.expires_at) == 1
    assert SpendEntry.objects.get(permit=permit).state == SpendState.RELEASED


def test_a_permit_lapses_after_three_heartbeat_ticks(live_golem: LiveGolem) -> None:
    permit = live_golem.permit(live_golem.preview()["permit_id"])
    type(live_golem.golem).objects.filter(pk=live_golem.golem.pk).update(heartbeat_tick=3)
    with pytest.raises(PermitExpired):
        live_golem.start(str(permit.pk))


def test_a_cancelled_permit_cannot_be_committed(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    answer = cancel_permit(
        golem=live_golem.golem, permit_id=UUID(permit["permit_id"]), reason="no", actor="t", now=clock.now()
    )
    assert answer["status"] == "CANCELLED"
    with pytest.raises(PermitNotCommittable):
        live_golem.start(permit["permit_id"])


def test_another_golems_permit_does_not_exist(live_golem: LiveGolem) -> None:
    other = make_live_golem(live_golem.world, name="Other", owner_name="owner-b")
    permit = other.preview()
    with pytest.raises(PermitNotFound):
        live_golem.start(permit["permit_id"])


def test_a_call_changed_in_the_database_is_never_signed(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    row = live_golem.permit(permit["permit_id"])
    row.calls[-1]["value"] = "1"
    ActionPermit.objects.filter(pk=row.pk).update(calls=row.calls)
    live_golem.commit(permit["permit_id"])
    row.refresh_from_db()
    assert row.status == PermitStatus.BLOCKED
    assert row.problem["code"] == "PLAN_HASH_MISMATCH"
    assert live_golem.mined_nonce() == 0


def test_a_limit_changed_after_the_preview_voids_the_permit(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_transaction_micro_usd=9_000_000_000)
    live_golem.commit(permit["permit_id"])
    row = live_golem.permit(permit["permit_id"])
    assert (row.status, row.problem["code"]) == (PermitStatus.BLOCKED, "POLICY_CHANGED")
    assert SpendEntry.objects.get(permit=row).state == SpendState.RELEASED
    assert live_golem.mined_nonce() == 0


def test_a_swap_that_the_market_moved_out_of_its_bounds_is_not_sent(live_golem: LiveGolem) -> None:
    permit = live_golem.preview(slippage_bps=0)
    rival = make_live_golem(live_golem.world, name="Rival", owner_name="owner-b")
    rival.commit(rival.preview(amount="900000000")["permit_id"])
    live_golem.commit(permit["permit_id"])
    row = live_golem.permit(permit["permit_id"])
    assert row.status == PermitStatus.BLOCKED
    assert row.problem["recovery"] in ("FIX_PARAMS", "PREVIEW_AGAIN")
    assert live_golem.mined_nonce() == 0


def test_a_halted_golem_neither_previews_nor_commits_until_its_owner_resumes_it(live_golem: LiveGolem) -> None:
    permit = live_golem.preview()
    report = halt_golem(golem=live_golem.golem, reason="drill", actor="owner:1", now=clock.now())
    assert report["steps"][1]["permit_ids"] == [permit["permit_id"]]
    with pytest.raises(GolemError) as refused:
        live_golem.preview()
    assert refused.value.code == "GOLEM_HALTED"
    resume_golem(golem=live_golem.golem, reason="over", actor="owner:1", now=clock.now())
    assert live_golem.preview()["status"] == "CREATED"


def test_many_small_swaps_cannot_pass_where_one_large_one_would_not(live_golem: LiveGolem) -> None:
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_day_micro_usd=1_200_000_000)
    live_golem.preview(amount="500000000")
    live_golem.preview(amount="500000001")
    with pytest.raises(GolemError) as refused:
        live_golem.preview(amount="500000002")
    assert refused.value.code == "SAFETY_SPENDING_LIMIT_EXCEEDED"
    assert refused.value.data["hook"] == "spending_limiter"
