"""When this server acts next on what holds an action up: the time by its rows, and what clears it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import pytest

from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import PayloadPurpose, TransactionState
from permits_app.permits.next_action_time import (
    NextAct,
    Out,
    block_time,
    foresee_chain,
    foresee_payload,
    foresee_permit,
    or_before,
)
from tests import factories
from tools_app.chain.node_errors import FeeTooLow

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECOND: Final = timedelta(seconds=1)
SENT: Final = Out(
    state=str(TransactionState.BROADCAST),
    purpose=str(PayloadPurpose.CALL),
    entry_point="",
    refusal="",
    created_at=NOW,
    broadcast_at=NOW,
    broadcast_count=1,
    passed_at=None,
)
MAINNET: Final = 1


@pytest.fixture(autouse=True)
def _spans(settings: Any) -> None:
    """Each its own, so that no span can stand for another."""
    settings.GOLEM_BLOCKED_AFTER_SECONDS = 30
    settings.GOLEM_STUCK_AFTER_SECONDS = 100
    settings.GOLEM_RECONCILE_EVERY_SECONDS = 7
    settings.GOLEM_SWEEP_EVERY_SECONDS = 4
    settings.GOLEM_DOUBT_SECONDS = 60


def seconds_until(act: NextAct | None, now: datetime = NOW) -> float:
    assert act is not None
    return (act.at - now).total_seconds()


def test_the_time_is_told_with_whole_seconds_rounded_up_and_at_least_one() -> None:
    act = NextAct(NOW + timedelta(seconds=2, microseconds=1), "rain")
    told = {"resets_at": "2026-11-30T12:00:02.000001+00:00", "retry_after_seconds": 3, "cleared_by": "rain"}
    assert act.tell(NOW) == told
    assert act.tell(act.at - 2 * SECOND)["retry_after_seconds"] == 2
    assert act.tell(act.at)["retry_after_seconds"] == act.tell(act.at + SECOND)["retry_after_seconds"] == 1


def test_a_chain_is_heard_again_at_the_next_look_and_the_block_after_it() -> None:
    assert block_time(MAINNET) == timedelta(seconds=12)
    # Of one that nobody knows the slowest is taken.
    assert block_time(999_999_999) == timedelta(seconds=12)
    assert block_time(8453) == timedelta(seconds=2)
    act = foresee_chain(8453, now=NOW)
    assert (seconds_until(act), act.cleared_by) == (3, "the node answers again")


def test_a_young_payload_is_awaited_in_the_next_block_and_an_old_one_at_the_round_that_replaces_it() -> None:
    young = foresee_payload(SENT, chain_id=MAINNET, now=NOW + timedelta(seconds=29))
    assert seconds_until(young) == 41 and young.cleared_by == "the next block, where it is in it"
    old = foresee_payload(SENT, chain_id=MAINNET, now=NOW + timedelta(seconds=30))
    assert seconds_until(old) == 107 and "replaced at a higher fee" in old.cleared_by
    # What was due long ago is done in the next round from now.
    late = NOW + timedelta(hours=1)
    assert seconds_until(foresee_payload(SENT, chain_id=MAINNET, now=late), late) == 7


@pytest.mark.parametrize(
    ("out", "seconds", "words"),
    [
        (replace(SENT, broadcast_at=NOW + 5 * SECOND), 105, "replaced at a higher fee"),
        (replace(SENT, broadcast_at=None), 100, "replaced at a higher fee"),
        (replace(SENT, broadcast_at=None, refusal=FeeTooLow.code), 40, "signed again at a fee that nodes take"),
        (replace(SENT, refusal=FeeTooLow.code), 100, "replaced at a higher fee"),
        (replace(SENT, purpose=str(PayloadPurpose.FILL)), 40, "empty transaction"),
        (replace(SENT, entry_point="0x1", broadcast_at=NOW + 5 * SECOND), 100, "its operation is mined"),
        (replace(SENT, state=str(TransactionState.REORGED)), 40, "reorganisation"),
    ],
)
def test_the_round_that_acts_on_a_payload_is_told_by_what_it_is(out: Out, seconds: int, words: str) -> None:
    act = foresee_payload(out, chain_id=MAINNET, now=NOW + 40 * SECOND)
    assert seconds_until(act) == seconds + 7
    assert words in act.cleared_by


def test_what_was_never_sent_or_left_its_block_is_awaited_in_no_block() -> None:
    for out in (replace(SENT, broadcast_at=None), replace(SENT, state=str(TransactionState.REORGED))):
        assert "next block" not in foresee_payload(out, chain_id=MAINNET, now=NOW + SECOND).cleared_by


def test_a_permit_that_ends_first_is_no_reason_to_wait_longer() -> None:
    act = NextAct(NOW + 10 * SECOND, "rain")
    assert or_before(act, ends=NOW + 11 * SECOND, now=NOW) is act
    sooner = or_before(act, ends=NOW + 10 * SECOND, now=NOW)
    assert seconds_until(sooner) == 10 and sooner.cleared_by == "rain; this permit ends first: preview again then"
    # It has ended already.
    assert or_before(act, ends=NOW, now=NOW) is act


# ---- permits that are under way --------------------------------------------------------------------------------------


def under_way(status: str = PermitStatus.COMMITTING, **columns: Any) -> ActionPermit:
    golem = factories.make_golem(owner=factories.make_owner(name=uuid4().hex))
    permit = factories.make_permit(golem=golem, status=status, now=NOW)
    # What saving a row would write of itself.
    changed = {"updated_at": NOW, "committing_at": NOW, "lease_expires_at": None, **columns}
    ActionPermit.objects.filter(pk=permit.pk).update(**changed)
    return permit


def foresee(permit: ActionPermit, now: datetime = NOW, silent: tuple[int, ...] = ()) -> NextAct | None:
    return foresee_permit(permit.pk, now=now, silent=silent)


@pytest.mark.django_db
def test_nothing_is_foreseen_of_what_is_not_under_way() -> None:
    for status in PermitStatus:
        is_under_way = status in (PermitStatus.COMMITTING, PermitStatus.UNKNOWN)
        assert (foresee(under_way(status)) is not None) is is_under_way, status
    assert foresee_permit(uuid4(), now=NOW, silent=()) is None


@pytest.mark.django_db
def test_an_unsigned_permit_is_taken_up_when_its_grace_and_the_lease_on_it_are_over() -> None:
    # Three seconds until it is the sweep's, and the sweep's own four.
    assert seconds_until(foresee(under_way())) == 7
    assert seconds_until(foresee(under_way(committing_at=None, updated_at=NOW - SECOND))) == 6
    assert seconds_until(foresee(under_way(lease_expires_at=NOW + 20 * SECOND))) == 24
    assert seconds_until(foresee(under_way(PermitStatus.UNKNOWN))) == 14
    late = NOW + timedelta(hours=1)
    assert seconds_until(foresee(under_way(), now=late), late) == 4


@pytest.mark.django_db
def test_an_unsigned_permit_of_a_silent_chain_waits_for_the_node_or_its_own_end() -> None:
    permit = under_way(expires_at=NOW + 50 * SECOND)
    act = foresee(permit, silent=(permit.chain_id,))
    assert seconds_until(act) == 54 and act is not None and "ends unsigned" in act.cleared_by
    assert seconds_until(foresee(permit, silent=(permit.chain_id + 1,))) == 7
    leased = under_way(expires_at=NOW + 50 * SECOND, lease_expires_at=NOW + 60 * SECOND)
    assert seconds_until(foresee(leased, silent=(leased.chain_id,))) == 64
    over = NOW + 90 * SECOND
    assert seconds_until(foresee(leased, now=over, silent=(leased.chain_id,)), over) == 4


@pytest.mark.django_db
def test_the_first_payload_that_is_out_decides_and_one_whose_nonce_passed_is_doubted_for_a_minute() -> None:
    permit = under_way()
    payload = factories.make_transaction(permit=permit)
    second = factories.make_transaction(permit=permit, call_index=1, nonce=1)
    for each, began in ((payload, NOW - 40 * SECOND), (second, NOW)):
        type(each).objects.filter(pk=each.pk).update(
            state=TransactionState.BROADCAST, created_at=began, broadcast_at=began, is_live=True
        )
    assert seconds_until(foresee(permit)) == 67
    type(payload).objects.filter(pk=payload.pk).update(passed_at=NOW - 10 * SECOND)
    doubted = foresee(permit)
    assert seconds_until(doubted) == 57 and doubted is not None and "used its nonce" in doubted.cleared_by
    long_after = NOW + timedelta(hours=1)
    assert seconds_until(foresee(permit, now=long_after), long_after) == 7
    # What was never sent, or is no more the live one, is nothing that is out.
    type(payload).objects.filter(pk=payload.pk).update(broadcast_count=0)
    type(second).objects.filter(pk=second.pk).update(is_live=False)
    act = foresee(permit)
    assert seconds_until(act) == 7 and act is not None and act.cleared_by == "a worker looks at it again"


@pytest.mark.django_db
def test_a_permit_whose_receipts_contradict_each_other_is_looked_at_for_a_minute() -> None:
    permit = under_way(doubted_at=NOW - 10 * SECOND)
    payload = factories.make_transaction(permit=permit)
    act = foresee(permit)
    assert seconds_until(act) == 54 and act is not None and "contradicted each other" in act.cleared_by
    leased = under_way(doubted_at=NOW - 10 * SECOND, lease_expires_at=NOW + 70 * SECOND)
    factories.make_transaction(permit=leased, nonce=5)
    assert seconds_until(foresee(leased)) == 74
    type(payload).objects.filter(pk=payload.pk).update(state=TransactionState.SIGNED, broadcast_count=0)
    act = foresee(permit)
    assert act is not None and act.cleared_by == "a worker looks at it again"
