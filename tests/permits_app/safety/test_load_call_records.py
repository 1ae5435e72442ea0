"""What the chain reads of the past, row by row: windows, order, other venues, the permit's own, and one round trip."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from permits_app.limits.policy import load_golem
from permits_app.models import ActionPermit, HighWaterMark, KnownContract, OutcomeRecord, SignedPromise
from permits_app.models.permit import PermitStatus
from permits_app.safety.call_records import PastCall, VenueOutcome
from permits_app.safety.hook import HookCall
from permits_app.safety.hooks.rate_limiter import RateLimiter
from permits_app.safety.load_call_records import RecordReader, list_touched, read_records
from tests.factories.golems import make_golem
from tests.factories.requests import make_signed_promise
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import swap_call
from tools_app.portfolio.remembered_positions import remember_positions
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.positions import PositionRef

S = PermitStatus
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(hours=24)


def past(live: LiveGolem, at: datetime, status: PermitStatus = S.COMMITTED, **columns: Any) -> ActionPermit:
    """A permit that was made and ended at `at`."""
    given: dict[str, Any] = {
        "venue": "uniswap",
        "chain_id": 31337,
        "action_class": "NEW_POSITION",
        "tool_name": "t",
        "finished_at": at,
        "action_hash": uuid4().hex,
        **columns,
    }
    row = ActionPermit.objects.create(golem=live.golem, risk_tier="STANDARD", status=status, expires_at=at, **given)
    ActionPermit.objects.filter(pk=row.pk).update(created_at=at)
    return row


@pytest.fixture
def call(live_golem: LiveGolem) -> HookCall:
    return swap_call(live_golem)


def test_a_venue_is_judged_by_its_last_transactions_of_a_day_oldest_first(
    live_golem: LiveGolem, call: HookCall
) -> None:
    at = call.now - HOUR
    past(live_golem, at, S.REVERTED)
    past(live_golem, at - HOUR)
    past(live_golem, call.now - DAY + SECOND)
    past(live_golem, call.now - DAY)
    past(live_golem, at, S.BLOCKED)
    past(live_golem, at, venue="elsewhere")
    past(live_golem, at, chain_id=1)
    past(live_golem, at, is_local=True)
    assert read_records(call).outcomes == (
        VenueOutcome(True, call.now - DAY + SECOND),
        VenueOutcome(True, at - HOUR),
        VenueOutcome(False, at),
    )


def test_what_was_cancelled_is_no_outcome_of_its_venue_until_that_is_taken_back(
    live_golem: LiveGolem, call: HookCall
) -> None:
    """A cancelled plan says nothing of the venue: another transaction took its place."""
    ended: dict[str, Any] = {"ground_truth_source": "receipt", "is_verified": True}
    for ago, columns in (
        (4, {"is_cancelled": True}),
        (3, {"is_cancelled": True, "taken_back_at": call.now}),
        (2, {"is_cancelled": False}),
    ):
        OutcomeRecord.objects.create(permit=past(live_golem, call.now - SECOND * ago), **columns, **ended)
    past(live_golem, call.now - SECOND)
    assert [outcome.at for outcome in read_records(call).outcomes] == [call.now - SECOND * ago for ago in (3, 2, 1)], (
        "the first of four was cancelled"
    )


def test_nothing_that_another_golem_did_is_read(live_golem: LiveGolem, call: HookCall) -> None:
    """The same tool, venue and class, ended and under way, of the same owner."""
    gated = replace(call, action_class=ActionClass.NEW_POSITION)
    gated.cage.is_action_gate_on = True
    rebalance = replace(call, action_class=ActionClass.REBALANCE)
    before = read_records(gated), read_records(rebalance)
    other: Any = SimpleNamespace(golem=make_golem(owner=live_golem.owner, name="Borea"))
    for status, finished_at in ((S.COMMITTED, call.now - HOUR), (S.REVERTED, call.now - HOUR), (S.COMMITTING, None)):
        row = past(other, call.now - HOUR, status, action_class="REBALANCE", finished_at=finished_at)
        OutcomeRecord.objects.create(permit=row, is_verified=True, ground_truth_source="receipt")
    assert (read_records(gated), read_records(rebalance)) == before


def test_what_was_signed_is_under_way_until_its_promise_ends(live_golem: LiveGolem, call: HookCall) -> None:
    """Its permit has ended long ago; what may still be taken has not."""
    bounds: dict[str, Any] = {"spends": [], "receives": [], "changes": [], "promise": {}}
    open_one, ended_one = (past(live_golem, call.now - DAY, bounds=bounds) for _ in range(2))
    make_signed_promise(permit=open_one)
    promise = make_signed_promise(permit=ended_one)
    SignedPromise.objects.filter(pk=promise.pk).update(state="EXPIRED", ended_at=call.now)
    other: Any = SimpleNamespace(golem=make_golem(owner=live_golem.owner, name="Borea"))
    make_signed_promise(permit=past(other, call.now - DAY, bounds=bounds))
    records = read_records(call)
    assert [each.permit_id for each in records.beside] == [str(open_one.pk)]
    assert [each.permit_id for each in records.under_way] == [str(open_one.pk)]
    # What leaves is held to what may be taken beside it, and to no share.
    leaving = read_records(replace(call, action_class=ActionClass.CLOSE_POSITION))
    assert [each.permit_id for each in leaving.beside] == [str(open_one.pk)] and leaving.under_way == ()


def test_ten_reverts_at_a_venue_open_its_breaker_from_the_rows_alone(live_golem: LiveGolem, call: HookCall) -> None:
    for index in range(10):
        past(live_golem, call.now - SECOND * (10 - index), S.REVERTED)
    verdict: Any = RateLimiter().check(call)
    assert verdict.rule == "rate_limiter.circuit_breaker"
    assert len(read_records(call).outcomes) == 10


def test_a_venue_is_judged_by_its_last_hundred_transactions(live_golem: LiveGolem, call: HookCall) -> None:
    columns = {"venue": "uniswap", "chain_id": 31337, "action_class": "NEW_POSITION", "risk_tier": "STANDARD"}
    ActionPermit.objects.bulk_create(
        ActionPermit(
            golem=live_golem.golem,
            status=S.COMMITTED,
            action_hash=f"0x{index}",
            expires_at=call.now,
            finished_at=call.now - SECOND * (index + 1),
            **columns,
        )
        for index in range(102)
    )
    assert [outcome.at for outcome in read_records(call).outcomes] == [
        call.now - SECOND * (100 - index) for index in range(100)
    ]


@pytest.mark.parametrize(("status", "is_tried"), [(S.COMMITTING, True), (S.UNKNOWN, True), (S.CREATED, False)])
def test_a_try_under_way_is_seen_and_the_permits_own_is_not(
    live_golem: LiveGolem, call: HookCall, status: PermitStatus, is_tried: bool
) -> None:
    row = past(live_golem, call.now, status, finished_at=None)
    assert read_records(call).is_venue_tried is is_tried
    assert read_records(replace(call, own_permit_id=row.pk)).is_venue_tried is False


def test_the_loop_guard_sees_nineteen_calls_of_one_hour_newest_first(live_golem: LiveGolem, call: HookCall) -> None:
    past(live_golem, call.now - HOUR, tool_name="an hour ago")
    past(live_golem, call.now - SECOND, S.CANCELLED, tool_name="cancelled")
    own = past(live_golem, call.now - SECOND, tool_name="own")
    for index in range(25):
        past(live_golem, call.now - SECOND * (index + 2), tool_name=f"t{index}", action_hash=f"0x{index}")
    found = read_records(replace(call, own_permit_id=own.pk)).earlier
    assert found == tuple(PastCall(f"t{index}", f"0x{index}", call.now - SECOND * (index + 2)) for index in range(19))


def test_a_call_of_an_hour_ago_is_no_part_of_a_loop(live_golem: LiveGolem, call: HookCall) -> None:
    past(live_golem, call.now - HOUR, tool_name="an hour ago")
    past(live_golem, call.now - HOUR + SECOND, tool_name="just within")
    past(live_golem, call.now, tool_name="now")
    past(live_golem, call.now + SECOND, tool_name="to come")
    assert [each.tool_name for each in read_records(call).earlier] == ["now", "just within"]


def test_rebalances_of_a_day_are_read_for_a_rebalance_alone(live_golem: LiveGolem, call: HookCall) -> None:
    columns: dict[str, Any] = {"action_class": "REBALANCE"}
    past(live_golem, call.now - DAY, **columns)
    past(live_golem, call.now - HOUR, S.REVERTED, **columns)
    past(live_golem, call.now - HOUR, action_class="NEW_POSITION")
    inside = call.now - DAY + SECOND
    past(live_golem, inside, **columns)
    under_way = past(live_golem, call.now - HOUR, S.COMMITTING, finished_at=None, **columns)
    unknown_since = call.now - HOUR * 2
    past(live_golem, unknown_since, S.UNKNOWN, finished_at=None, **columns)
    rebalance = replace(call, action_class=ActionClass.REBALANCE)
    assert sorted(read_records(rebalance).rebalances) == [inside, unknown_since, call.now - HOUR]
    assert sorted(read_records(replace(rebalance, own_permit_id=under_way.pk)).rebalances) == [inside, unknown_since]
    assert read_records(call).rebalances == ()


@pytest.mark.parametrize(
    ("verified", "bps", "right"), [(True, 200, True), (True, 201, False), (False, 0, False), (True, 199, True)]
)
def test_a_prediction_came_true_within_its_tolerance(
    live_golem: LiveGolem, call: HookCall, verified: bool, bps: int, right: bool
) -> None:
    OutcomeRecord.objects.create(
        permit=past(live_golem, call.now), is_verified=verified, divergence_bps=bps, ground_truth_source="receipt"
    )
    gated = replace(call, action_class=ActionClass.NEW_POSITION)
    assert read_records(gated).predictions == ()
    gated.cage.is_action_gate_on = True
    assert read_records(gated).predictions == (right,)
    assert read_records(replace(gated, action_class=ActionClass.REBALANCE)).predictions == ()


def test_the_gate_sees_the_last_fifty_predictions_newest_first(live_golem: LiveGolem, call: HookCall) -> None:
    for index in range(51):
        row = OutcomeRecord.objects.create(
            permit=past(live_golem, call.now - SECOND * index), is_verified=index < 2, ground_truth_source="receipt"
        )
        OutcomeRecord.objects.filter(pk=row.pk).update(created_at=call.now - SECOND * index)
    gated = replace(call, action_class=ActionClass.NEW_POSITION)
    gated.cage.is_action_gate_on = True
    assert read_records(gated).predictions == (True, True, *[False] * 48)


def test_known_code_is_that_of_the_plans_own_addresses_and_chain(call: HookCall) -> None:
    assert call.plan is not None
    first, second = list_touched(call.plan)[:2]
    for chain_id, address, code_hash in ((31337, first, "0xa"), (1, second, "0xb"), (31337, "0x" + "11" * 20, "0xc")):
        KnownContract.objects.create(chain_id=chain_id, address=address, code_hash=code_hash, first_seen_at=call.now)
    assert read_records(call).known_code == {first: "0xa"}


def test_all_of_it_is_one_statement_and_read_once(
    live_golem: LiveGolem, call: HookCall, django_assert_num_queries: Any
) -> None:
    known = replace(call, golem=load_golem(live_golem.golem.pk))
    reader = RecordReader(known)
    with django_assert_num_queries(1):
        assert reader.read() is reader.read()


@pytest.mark.parametrize("taken_back", [None, SECOND])
def test_what_was_cancelled_is_no_prediction_whether_or_not_it_was_taken_back(
    live_golem: LiveGolem, call: HookCall, taken_back: Any
) -> None:
    OutcomeRecord.objects.create(
        permit=past(live_golem, call.now),
        is_verified=True,
        is_cancelled=True,
        ground_truth_source="receipt",
        taken_back_at=None if taken_back is None else call.now,
    )
    gated = replace(call, action_class=ActionClass.NEW_POSITION)
    gated.cage.is_action_gate_on = True
    assert read_records(gated).predictions == ()


def test_positions_that_are_looked_for_are_those_of_the_account_on_the_plans_chain(
    live_golem: LiveGolem, call: HookCall
) -> None:
    mine = PositionRef("uniswap", "v3_position", 31337, "7")
    account = live_golem.golem.address
    remember_positions(account=account, refs=[mine, replace(mine, chain_id=1)], now=call.now)
    remember_positions(account="0x" + "52" * 20, refs=[replace(mine, id="8")], now=call.now)
    assert read_records(call).positions == (mine,)
    assert read_records(replace(call, plan=None)).positions == ()


def test_a_mark_is_read_whether_or_not_the_golem_fell_from_it(live_golem: LiveGolem, call: HookCall) -> None:
    assert read_records(call).mark is None
    other = make_golem(owner=live_golem.owner, name="Borea")
    HighWaterMark.objects.create(golem=other, value_micro_usd=9, reached_at=call.now)
    assert read_records(call).mark is None
    row = HighWaterMark.objects.create(golem=live_golem.golem, value_micro_usd=7, reached_at=call.now)
    for violated_at in (None, call.now):
        HighWaterMark.objects.filter(pk=row.pk).update(violated_at=violated_at)
        mark = read_records(call).mark
        assert mark is not None
        assert (mark.value_micro_usd, mark.reached_at, mark.violated_at) == (7, call.now, violated_at)
