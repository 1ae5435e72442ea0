"""A chain that rolls back past what was final: noticed in the next round, told, and healed with the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from memory_app.models import Episode
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.backtest.past_decisions import list_decisions
from permits_app.backtest.policy_replay import list_predictions
from permits_app.errors import SpendingLimitExceeded
from permits_app.execution.reconcile import list_reopened, reconcile_transactions
from permits_app.limits import ledger
from permits_app.models import (
    ChainMark,
    OutboundTransaction,
    OutcomeRecord,
    SpendEntry,
    SpendingLimits,
    StandingAllowance,
)
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import TransactionState
from tests.factories.permits import make_standing_allowance
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.execution.chain_tricks import mine, reorganise
from tools_app.core import clock
from tools_app.core.models import AuditEntry, OutboxEvent


def head(golem: LiveGolem) -> int:
    return int(golem.world.rpc.call("eth_blockNumber"), 16)


def commit_for_good(golem: LiveGolem, **changes: str) -> str:
    """A committed permit whose transactions are final."""
    permit_id = str(golem.preview(**changes)["permit_id"])
    assert golem.commit(permit_id)["status"] == PermitStatus.COMMITTED
    mine(golem.world, 2)
    reconcile_transactions(now=clock.now())
    assert states(permit_id) == {TransactionState.FINAL}
    return permit_id


def states(permit_id: str) -> set[str]:
    return set(OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).values_list("state", flat=True))


def roll_back(golem: LiveGolem, permit_id: str) -> None:
    """The chain without the blocks of the permit."""
    rows = OutboundTransaction.objects.filter(permit_id=UUID(permit_id))
    first = min(row.block_number or 0 for row in rows)
    reorganise(golem.world, head(golem) - first + 1)


def work_out(golem: LiveGolem, rounds: int = 3) -> None:
    for _ in range(rounds):
        now = clock.now()
        reconcile_transactions(now=now)
        for permit_id in list_reopened(now=now):
            golem.work(str(permit_id))


def claim_of(golem: LiveGolem, permit_id: str) -> Any:
    return golem.permit(permit_id).spend_entry


def entries_of(permit_id: str) -> list[tuple[int, str, int | None]]:
    rows = SpendEntry.objects.filter(permit_id=UUID(permit_id)).order_by("pk")
    return list(rows.values_list("life", "state", "settled_micro_usd"))


def add_up(permit_id: str) -> int:
    """What all entries of the permit come to, those that reverse others among them."""
    rows = SpendEntry.objects.filter(permit_id=UUID(permit_id))
    return sum(row.reserved_micro_usd if row.settled_micro_usd is None else row.settled_micro_usd for row in rows)


def used_today(golem: LiveGolem) -> int:
    used = ledger.read_usage(golem_id=golem.golem.pk, api_key_id=None, heartbeat_tick=0, now=clock.now())
    assert ledger.sum_days(golem_ids=[golem.golem.pk], now=clock.now()) == {golem.golem.pk: used.day_micro_usd}
    return used.day_micro_usd


def test_what_was_final_and_left_the_chain_is_told_and_sent_again(live_golem: LiveGolem) -> None:
    usdc = live_golem.balance("USDC")
    permit_id = commit_for_good(live_golem)
    settled = claim_of(live_golem, permit_id).settled_micro_usd
    before = list(
        OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).order_by("nonce").values_list("raw", "nonce")
    )
    roll_back(live_golem, permit_id)
    assert live_golem.balance("USDC") == usdc
    now = clock.now()
    done = reconcile_transactions(now=now)
    assert (done["rolled_back"], done["reorged"], done["reopened"]) == (1, len(before), 1)
    assert live_golem.permit(permit_id).status == PermitStatus.UNKNOWN
    assert claim_of(live_golem, permit_id).state == SpendState.RESERVED
    assert list_reopened(now=now) == [UUID(permit_id)]
    assert ChainMark.objects.get(chain_id=31337).rolled_back_at is not None
    live_golem.work(permit_id)
    after = OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).order_by("nonce").values_list("raw", "nonce")
    assert list(after) == before
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - live_golem.balance("USDC") == 500_000_000
    assert claim_of(live_golem, permit_id).state == SpendState.SETTLED
    entries = AuditEntry.objects.filter(golem_id=live_golem.golem.pk)
    taken = entries.get(event="OutcomeTakenBack").data
    assert (taken["settled_micro_usd"], taken["status"]) == (str(settled), "COMMITTED")
    assert entries.get(event="ChainRolledBack").data["permit_ids"] == [permit_id]
    assert entries.filter(event="PermitConsumed").count() == 2
    told = OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, type="chain:rolled_back").get()
    assert told.payload["transactions"] == len(before)


def test_a_foreign_transaction_that_left_the_chain_leaves_no_gap(live_golem: LiveGolem) -> None:
    usdc = live_golem.balance("USDC")
    first = commit_for_good(live_golem)
    rpc, address = live_golem.world.rpc, live_golem.golem.address
    rpc.call("anvil_impersonateAccount", address)
    rpc.call("eth_sendTransaction", {"from": address, "to": address, "value": "0x1"})
    rpc.call("anvil_stopImpersonatingAccount", address)
    mine(live_golem.world)
    second = commit_for_good(live_golem, amount="400000000")
    roll_back(live_golem, first)
    work_out(live_golem)
    for permit_id in (first, second):
        live_golem.work(permit_id)
        assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - live_golem.balance("USDC") == 900_000_000
    again = live_golem.preview(amount="300000000")["permit_id"]
    assert live_golem.commit(again)["status"] == PermitStatus.COMMITTED


def test_of_two_equal_actions_that_left_the_chain_neither_holds_the_other_up(live_golem: LiveGolem) -> None:
    usdc = live_golem.balance("USDC")
    permits = [commit_for_good(live_golem), commit_for_good(live_golem)]
    roll_back(live_golem, permits[0])
    work_out(live_golem, rounds=4)
    assert [live_golem.permit(permit_id).status for permit_id in permits] == [PermitStatus.COMMITTED] * 2
    assert usdc - live_golem.balance("USDC") == 1_000_000_000


def test_what_can_never_be_mined_again_is_told_as_lost_and_what_is_known_of_it_corrected(
    live_golem: LiveGolem,
) -> None:
    permit_id = commit_for_good(live_golem)
    episode_id = remember_outcome(permit_id=UUID(permit_id), now=clock.now())
    assert episode_id is not None
    roll_back(live_golem, permit_id)
    rpc, address = live_golem.world.rpc, live_golem.golem.address
    rpc.call("anvil_impersonateAccount", address)
    for _ in range(OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).count()):
        rpc.call("eth_sendTransaction", {"from": address, "to": address, "value": "0x1"})
    rpc.call("anvil_stopImpersonatingAccount", address)
    mine(live_golem.world)
    work_out(live_golem)
    permit = live_golem.permit(permit_id)
    assert permit.status == PermitStatus.REVERTED and "used by another transaction" in permit.status_reason
    assert states(permit_id) == {TransactionState.DROPPED}
    entry = claim_of(live_golem, permit_id)
    assert (entry.state, entry.settled_micro_usd) == (SpendState.SETTLED, 0)
    assert add_up(permit_id) == 0
    corrected = remember_outcome(permit_id=UUID(permit_id), now=clock.now())
    assert corrected not in (None, episode_id)
    old, new = Episode.objects.get(pk=episode_id), Episode.objects.get(pk=corrected)
    assert old.is_quarantined and str(new.pk) in old.quarantine_reason and old.outcome["succeeded"]
    assert not new.is_quarantined and not new.outcome["succeeded"]
    assert (old.importance, new.importance, new.stability_days) == ("BASE", "CRITICAL", 90.0)
    told = OutcomeRecord.objects.filter(permit_id=UUID(permit_id)).order_by("pk").values_list("episode_id", flat=True)
    assert list(told) == [episode_id, corrected]
    assert live_golem.commit(live_golem.preview(amount="300000000")["permit_id"])["status"] == PermitStatus.COMMITTED


def test_what_is_mined_again_with_other_amounts_stands_beside_what_was_settled(live_golem: LiveGolem) -> None:
    rival = make_live_golem(live_golem.world, name="Rival", owner_name="owner-b")
    permit_id = commit_for_good(live_golem)
    first, judged = claim_of(live_golem, permit_id), live_golem.permit(permit_id).outcome
    mined = live_golem.mined_nonce()
    roll_back(live_golem, permit_id)
    # The pool is another one by the time the same bytes are mined again.
    rival.commit(rival.preview(amount="900000000")["permit_id"])
    reconcile_transactions(now=clock.now())
    assert entries_of(permit_id) == [
        (1, "SETTLED", first.settled_micro_usd),
        (1, "REVERSED", -first.settled_micro_usd),
        (2, "RESERVED", None),
    ]
    assert live_golem.permit(permit_id).outcome is None
    assert used_today(live_golem) == add_up(permit_id) == first.reserved_micro_usd > first.settled_micro_usd
    live_golem.wait_until_mined(mined)
    live_golem.work(permit_id)
    again, anew = claim_of(live_golem, permit_id), live_golem.permit(permit_id).outcome
    assert (again.life, again.state) == (2, SpendState.SETTLED)
    assert again.settled_micro_usd != first.settled_micro_usd
    assert used_today(live_golem) == add_up(permit_id) == again.settled_micro_usd
    kept = OutcomeRecord.objects.get(pk=judged.pk)
    assert kept.taken_back_at is not None and (kept.actual, kept.fee_wei) == (judged.actual, judged.fee_wei)
    assert anew.pk != kept.pk and anew.actual["balance_deltas"] != kept.actual["balance_deltas"]
    assert OutcomeRecord.live.get(permit_id=UUID(permit_id)) == anew
    assert list_predictions(live_golem.golem) == [(anew.created_at, anew.is_verified)]
    (past,) = list_decisions(golem=live_golem.golem, last=10)
    assert past.claim.settled_micro_usd == again.settled_micro_usd


def test_what_was_seen_left_in_a_block_that_is_gone_is_read_anew(live_golem: LiveGolem) -> None:
    permit_id = commit_for_good(live_golem)
    permit = live_golem.permit(permit_id)
    usdc = live_golem.world.tokens["USDC"].address
    row = make_standing_allowance(permit=permit)
    # Of a block higher than any in which the same bytes are mined again.
    StandingAllowance.objects.filter(pk=row.pk).update(account=permit.account, token=usdc, block_number=10**6)
    roll_back(live_golem, permit_id)
    work_out(live_golem)
    row.refresh_from_db()
    assert (row.left, row.worth_micro_usd) == ("0", 0) and 0 < row.block_number < 10**6


def test_what_leaves_the_chain_twice_is_reversed_twice(live_golem: LiveGolem) -> None:
    permit_id = commit_for_good(live_golem)
    episodes = [remember_outcome(permit_id=UUID(permit_id), now=clock.now())]
    for life in (2, 3):
        roll_back(live_golem, permit_id)
        work_out(live_golem)
        mine(live_golem.world, 2)
        reconcile_transactions(now=clock.now())
        assert claim_of(live_golem, permit_id).life == life
        episodes.append(remember_outcome(permit_id=UUID(permit_id), now=clock.now()))
    states_of_lives = [(life, state) for life, state, _ in entries_of(permit_id)]
    assert states_of_lives == [(1, "SETTLED"), (1, "REVERSED"), (2, "SETTLED"), (2, "REVERSED"), (3, "SETTLED")]
    assert used_today(live_golem) == add_up(permit_id) == claim_of(live_golem, permit_id).settled_micro_usd
    assert OutcomeRecord.objects.filter(permit_id=UUID(permit_id)).count() == 3
    assert len({*episodes}) == 1, "the same moved, so memory keeps what it has"


def test_a_rollback_frees_nothing_of_a_limit_until_it_is_judged_anew(live_golem: LiveGolem) -> None:
    permit_id = commit_for_good(live_golem)
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_day_micro_usd=900_000_000)
    roll_back(live_golem, permit_id)
    reconcile_transactions(now=clock.now())
    # A day and a half later the bytes may still be mined, so their budget is still held.
    SpendEntry.objects.filter(state=SpendState.RESERVED).update(counted_at=clock.now() - timedelta(hours=36))
    with pytest.raises(SpendingLimitExceeded):
        live_golem.preview(amount="410000000")
    live_golem.work(permit_id)
    with pytest.raises(SpendingLimitExceeded):
        live_golem.preview(amount="410000000")
    assert used_today(live_golem) == claim_of(live_golem, permit_id).settled_micro_usd
    assert live_golem.preview(amount="300000000")["status"] == "CREATED"


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda: SpendEntry.objects.update(settled_micro_usd=1),
        lambda: SpendEntry.objects.update(state=SpendState.RESERVED, settled_micro_usd=None),
        lambda: SpendEntry.objects.update(counted_at=clock.now()),
        lambda: OutcomeRecord.objects.update(is_verified=False),
        lambda: OutcomeRecord.objects.update(fee_wei="1"),
    ],
)
def test_the_database_refuses_to_rewrite_what_was_settled_and_judged(
    live_golem: LiveGolem, rewrite: Callable[[], int]
) -> None:
    live_golem.commit(live_golem.preview()["permit_id"])
    with pytest.raises(IntegrityError, match="never rewritten"), transaction.atomic():
        rewrite()


def test_the_database_refuses_a_reversal_that_is_no_mirror_and_a_life_too_many(live_golem: LiveGolem) -> None:
    permit_id = str(live_golem.preview()["permit_id"])
    live_golem.commit(permit_id)
    settled = claim_of(live_golem, permit_id)
    facts = {
        "golem": settled.golem,
        "permit": settled.permit,
        "api_key": settled.api_key,
        "reserved_micro_usd": 0,
        "counted_at": settled.counted_at,
    }
    with pytest.raises(IntegrityError, match="its mirror"), transaction.atomic():
        SpendEntry.objects.create(
            **facts, state=SpendState.REVERSED, reverses=settled, settled_micro_usd=1 - settled.settled_micro_usd
        )
    with pytest.raises(IntegrityError, match="was not reversed"), transaction.atomic():
        SpendEntry.objects.create(**facts, life=2)
    with pytest.raises(IntegrityError, match="spend_one_claim_per_life"), transaction.atomic():
        SpendEntry.objects.create(**facts)


def test_a_chain_that_lost_what_is_older_than_a_day_was_replaced_and_is_sent_nothing(live_golem: LiveGolem) -> None:
    permit_id = commit_for_good(live_golem)
    rows = OutboundTransaction.objects.filter(permit_id=UUID(permit_id))
    rows.update(created_at=clock.now() - timedelta(days=2))
    roll_back(live_golem, permit_id)
    work_out(live_golem)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert live_golem.mined_nonce() == 0


def test_a_chain_that_keeps_what_was_final_is_left_alone(live_golem: LiveGolem) -> None:
    permit_id = commit_for_good(live_golem)
    for _ in range(2):
        mine(live_golem.world, 3)
        assert reconcile_transactions(now=clock.now()) == {}
    assert states(permit_id) == {TransactionState.FINAL}
