"""Who is refused because something else is under way is told when that is acted on next, by what it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from archetypes_app.models import Golem
from permits_app.actions.start_commit import start_commit
from permits_app.errors import AccountBlocked, ChainStuck, SameActionPending
from permits_app.execution.commit_lease import take_lease
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, ChainWatch, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import TransactionState
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mining_paused
from tests.permits_app.execution.test_base_fees import base_fee, send_when_dear, set_base_fee
from tests.permits_app.execution.zerodev_golem import ZerodevGolem
from tools_app.core import clock

HOUR = timedelta(hours=1)
ROUND = timedelta(seconds=5)
SWEEP = timedelta(seconds=3)
STUCK = timedelta(seconds=90)
BLOCKED = timedelta(seconds=30)


def work_for_a_moment(golem: LiveGolem, permit_id: str) -> None:
    with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2, GOLEM_FIRST_LOOK_SECONDS=0):
        golem.work(permit_id)


def long_lived(golem: LiveGolem, **changes: Any) -> str:
    """A permit whose own end is far away."""
    return lives(golem, HOUR, **changes)


def lives(golem: LiveGolem, span: timedelta, **changes: Any) -> str:
    """A permit that lives for so long."""
    row = Golem.objects.filter(pk=golem.golem.pk)
    usual = row.get().permit_ttl_seconds
    row.update(permit_ttl_seconds=int(span.total_seconds()))
    permit_id = golem.preview(amount="92000000", **changes)["permit_id"]
    row.update(permit_ttl_seconds=usual)
    return str(permit_id)


def refused_at(golem: LiveGolem, permit_id: str, now: datetime) -> dict[str, Any]:
    """What a commit at `now` is told by its refusal."""
    with pytest.raises(AccountBlocked) as refused:
        start_commit(golem=golem.golem, permit_id=UUID(permit_id), actor="t", now=now)
    told = refused.value.as_problem()
    assert told["recovery"] == "WAIT" and told["cleared_by"]
    assert golem.permit(permit_id).status == PermitStatus.CREATED
    seconds = (datetime.fromisoformat(told["resets_at"]) - now).total_seconds()
    assert seconds <= told["retry_after_seconds"] < seconds + 1
    return told


@contextmanager
def stuck(golem: LiveGolem) -> Iterator[OutboundTransaction]:
    """A permit that is sent and not mined until this ends; its first payload."""
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)
    with mining_paused(golem.world):
        work_for_a_moment(golem, permit_id)
        yield OutboundTransaction.objects.get(permit_id=permit_id, call_index=0)


@pytest.mark.parametrize("later", [30, 31, 60, 89.5, 90, 500])
def test_a_transaction_that_is_not_mined_blocks_until_the_round_that_replaces_it(
    live_golem: LiveGolem, later: float
) -> None:
    waiting = long_lived(live_golem)
    with stuck(live_golem) as sent:
        assert sent.broadcast_at is not None
        now = sent.broadcast_at + timedelta(seconds=later)
        told = refused_at(live_golem, waiting, now)
        assert told["resets_at"] == (max(sent.broadcast_at + STUCK, now) + ROUND).isoformat()


def test_what_was_told_is_true_then_it_is_replaced_and_awaited_in_the_next_block(live_golem: LiveGolem) -> None:
    waiting = long_lived(live_golem)
    with stuck(live_golem) as sent:
        at = datetime.fromisoformat(refused_at(live_golem, waiting, sent.created_at + BLOCKED)["resets_at"])
        assert "sped_up" not in reconcile_transactions(now=at - ROUND - timedelta(milliseconds=1))
        assert reconcile_transactions(now=at)["sped_up"] == 1
        OutboundTransaction.objects.filter(pk=sent.pk).update(created_at=clock.now() - HOUR)
        told = refused_at(live_golem, waiting, clock.now())
        assert told["retry_after_seconds"] == 1 and "next block" in told["cleared_by"]
    live_golem.wait_until_mined(2)
    live_golem.work(str(sent.permit_id))
    start_commit(golem=live_golem.golem, permit_id=UUID(waiting), actor="t", now=at)
    assert live_golem.permit(waiting).status == PermitStatus.COMMITTING


def test_a_nonce_that_is_used_up_blocks_until_the_round_that_looks_at_it(live_golem: LiveGolem) -> None:
    waiting = long_lived(live_golem)
    with stuck(live_golem) as sent:
        with override_settings(GOLEM_FEE_RAISE_BPS=100_000):
            assert reconcile_transactions(now=clock.now() + STUCK + ROUND)["cancelled"] == 2
        now = OutboundTransaction.objects.get(replaces=sent).created_at + BLOCKED
        told = refused_at(live_golem, waiting, now)
        assert told["resets_at"] == (now + ROUND).isoformat() and "uses its nonce up" in told["cleared_by"]


def test_a_permit_that_ends_before_is_told_its_own_end(live_golem: LiveGolem) -> None:
    with stuck(live_golem) as sent:
        # It lives into the time in which the other blocks, and not to the round that replaces it.
        waiting = lives(live_golem, timedelta(seconds=60))
        ends = live_golem.permit(waiting).expires_at
        now = ends - timedelta(seconds=7, milliseconds=300)
        assert sent.created_at + BLOCKED <= now
        told = refused_at(live_golem, waiting, now)
        assert (told["resets_at"], told["retry_after_seconds"]) == (ends.isoformat(), 8)
        assert "preview again then" in told["cleared_by"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state": TransactionState.REORGED}, "reorganisation"),
        ({"state": TransactionState.SIGNED, "broadcast_at": None, "refusal": "FEE_TOO_LOW"}, "fee that nodes take"),
    ],
)
def test_what_the_next_round_takes_up_by_itself_blocks_until_then(
    live_golem: LiveGolem, changes: dict[str, Any], words: str
) -> None:
    waiting = long_lived(live_golem)
    with stuck(live_golem) as sent:
        OutboundTransaction.objects.filter(pk=sent.pk).update(**changes, updated_at=sent.created_at)
        now = sent.created_at + BLOCKED
        told = refused_at(live_golem, waiting, now)
        assert told["resets_at"] == (now + ROUND).isoformat() and words in told["cleared_by"]
        OutboundTransaction.objects.filter(pk=sent.pk).update(
            state=sent.state, refusal="", broadcast_at=sent.broadcast_at
        )


def test_what_nodes_refused_for_its_fee_blocks_until_the_round_that_signs_it_again(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = long_lived(live_golem)
    permit_id = live_golem.preview()["permit_id"]
    before, cap = base_fee(live_golem), int(live_golem.permit(permit_id).max_fee_per_gas)
    live_golem.start(permit_id)
    try:
        send_when_dear(live_golem, monkeypatch, permit_id, cap + 1)
        sent = OutboundTransaction.objects.get(permit_id=permit_id, call_index=0)
        now = sent.created_at + BLOCKED
        told = refused_at(live_golem, waiting, now)
        assert told["resets_at"] == (now + ROUND).isoformat() and "fee that nodes take" in told["cleared_by"]
    finally:
        set_base_fee(live_golem, before)


def test_an_operation_that_no_bundler_carries_out_blocks_until_it_is_signed_again(zerodev: ZerodevGolem) -> None:
    waiting = long_lived(zerodev.live)
    [sent] = zerodev.rows(zerodev.commit_held())
    told = refused_at(zerodev.live, waiting, sent.created_at + BLOCKED)
    assert told["resets_at"] == (sent.created_at + STUCK + ROUND).isoformat() and "operation" in told["cleared_by"]


def pending_told(golem: LiveGolem) -> dict[str, Any]:
    """What a preview of an equal action is told."""
    before = clock.now()
    with pytest.raises(SameActionPending) as refused:
        golem.preview()
    told = refused.value.as_problem()
    assert told["permit_id"] and told["recovery"] == "CHECK_STATE" and told["cleared_by"]
    at = datetime.fromisoformat(told["resets_at"])
    assert (at - clock.now()).total_seconds() <= told["retry_after_seconds"] < (at - before).total_seconds() + 1
    return told


def started(golem: LiveGolem) -> UUID:
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)
    return UUID(permit_id)


def test_an_equal_action_that_no_worker_has_is_the_next_sweeps(live_golem: LiveGolem) -> None:
    begun = clock.now() + HOUR
    ActionPermit.objects.filter(pk=started(live_golem)).update(committing_at=begun)
    assert pending_told(live_golem)["resets_at"] == (begun + 2 * SWEEP).isoformat()


def test_an_equal_action_that_a_worker_has_goes_on_at_the_latest_after_its_lease(live_golem: LiveGolem) -> None:
    lease = take_lease(permit_id=started(live_golem), now=clock.now())
    assert lease is not None
    lease.hold(seconds=170)
    assert pending_told(live_golem)["resets_at"] == (lease.ends + SWEEP).isoformat()


def test_an_equal_action_on_a_silent_chain_ends_with_its_permit(live_golem: LiveGolem) -> None:
    permit_id, now = started(live_golem), clock.now()
    ends = live_golem.permit(str(permit_id)).expires_at
    ChainWatch.objects.create(chain_id=CHAIN_ID, looked_at=now + HOUR, failing_since=now - HOUR, error_code="X")
    told = pending_told(live_golem)
    assert told["resets_at"] == (ends + SWEEP).isoformat() and "node" in told["cleared_by"]


def test_an_equal_action_that_was_sent_just_now_is_looked_for_in_the_next_block(live_golem: LiveGolem) -> None:
    with stuck(live_golem) as sent:
        OutboundTransaction.objects.filter(permit=sent.permit).update(created_at=clock.now() + HOUR)
        told = pending_told(live_golem)
        assert told["retry_after_seconds"] == 1 and "next block" in told["cleared_by"]


def test_an_equal_action_that_is_stuck_waits_for_its_replacement(live_golem: LiveGolem) -> None:
    at = clock.now() + HOUR
    with stuck(live_golem) as sent:
        rows = OutboundTransaction.objects.filter(permit=sent.permit)
        rows.update(created_at=clock.now() - HOUR, broadcast_at=at)
        assert pending_told(live_golem)["resets_at"] == (at + STUCK + ROUND).isoformat()


def test_an_equal_action_whose_nonce_is_used_by_nobody_knows_what_waits_for_the_doubt_to_end(
    live_golem: LiveGolem,
) -> None:
    at = clock.now() + HOUR
    with stuck(live_golem) as sent:
        OutboundTransaction.objects.filter(permit=sent.permit).update(passed_at=at)
        told = pending_told(live_golem)
        assert told["resets_at"] == (at + timedelta(seconds=60) + ROUND).isoformat()


@pytest.mark.parametrize("is_doubted", [True, False])
def test_an_equal_action_whose_outcome_is_unknown_is_looked_at_again_by_the_sweep(
    live_golem: LiveGolem, *, is_doubted: bool
) -> None:
    at = clock.now() + HOUR
    with stuck(live_golem) as sent:
        OutboundTransaction.objects.filter(permit=sent.permit).update(state=TransactionState.MINED)
        changes: dict[str, Any] = {"doubted_at": at} if is_doubted else {"updated_at": at}
        ActionPermit.objects.filter(pk=str(sent.permit_id)).update(status=PermitStatus.UNKNOWN, **changes)
        pause = timedelta(seconds=60 if is_doubted else 10)
        assert pending_told(live_golem)["resets_at"] == (at + pause + SWEEP).isoformat()
        OutboundTransaction.objects.filter(permit=sent.permit).update(state=TransactionState.BROADCAST)


def test_the_commit_of_an_equal_permit_names_the_one_under_way_and_when_to_look(live_golem: LiveGolem) -> None:
    first, second = (live_golem.preview()["permit_id"] for _ in range(2))
    live_golem.start(first)
    begun = clock.now() + HOUR
    ActionPermit.objects.filter(pk=first).update(committing_at=begun)
    with pytest.raises(SameActionPending) as refused:
        live_golem.start(second)
    told = refused.value.as_problem()
    assert (told["permit_id"], told["permit_status"]) == (first, PermitStatus.COMMITTING)
    assert told["resets_at"] == (begun + 2 * SWEEP).isoformat() and told["retry_after_seconds"] > 3_000


@pytest.mark.parametrize(("chain_id", "seconds"), [(CHAIN_ID, 2), (137, 3), (1, 13)])
def test_a_silent_chain_is_told_by_its_own_block_time(shared_golem: LiveGolem, chain_id: int, seconds: int) -> None:
    permit_id, now = long_lived(shared_golem), clock.now()
    ActionPermit.objects.filter(pk=permit_id).update(chain_id=chain_id)
    ChainWatch.objects.create(chain_id=chain_id, looked_at=now, failing_since=now - HOUR, error_code="RPC_TIMEOUT")
    with pytest.raises(ChainStuck) as refused:
        start_commit(golem=shared_golem.golem, permit_id=UUID(permit_id), actor="t", now=now)
    told = refused.value.as_problem()
    assert (told["retry_after_seconds"], told["cleared_by"]) == (seconds, "the node answers again")
    assert datetime.fromisoformat(told["resets_at"]) == now + timedelta(seconds=seconds)


def test_a_silent_chain_is_waited_for_no_longer_than_the_permit_lives(shared_golem: LiveGolem) -> None:
    permit_id = long_lived(shared_golem)
    ActionPermit.objects.filter(pk=permit_id).update(chain_id=1)
    ends = shared_golem.permit(permit_id).expires_at
    now = ends - timedelta(seconds=5)
    ChainWatch.objects.create(chain_id=1, looked_at=now, failing_since=now - HOUR, error_code="RPC_TIMEOUT")
    with pytest.raises(ChainStuck) as refused:
        start_commit(golem=shared_golem.golem, permit_id=UUID(permit_id), actor="t", now=now)
    told = refused.value.as_problem()
    assert datetime.fromisoformat(told["resets_at"]) == ends and "preview again" in told["cleared_by"]
