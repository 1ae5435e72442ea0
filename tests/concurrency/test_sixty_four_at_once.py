"""Sixty-four threads on one permit, one limit, one nonce, on real PostgreSQL; every task twice, and twice at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from permits_app import ledger, tasks
from permits_app.actions.halt import halt_golem
from permits_app.execution.nonces import reserve_nonces
from permits_app.models import (
    ActionPermit,
    HaltRecord,
    NonceReservation,
    OutboundTransaction,
    OutcomeRecord,
    SpendEntry,
    SpendingLimits,
)
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.valuation import PlanValue
from tests.live_golem import LiveGolem
from tools_app import tasks as tools_tasks
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditCheckpoint, AuditEntry, OutboxEvent

MANY = 64


def at_once(call: Callable[[int], Any], *, count: int = MANY) -> list[Any]:
    """Run `call(0)` … in `count` threads that start together; an error's code stands for its answer."""
    gate = threading.Barrier(count)

    def run(index: int) -> Any:
        try:
            gate.wait(timeout=60)
            return call(index)
        except GolemError as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_one_permit_started_by_sixty_four_is_started_once(shared_golem: LiveGolem) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    answers = Counter(at_once(lambda _: shared_golem.start(permit_id)))
    assert answers == {None: 1, "PERMIT_ALREADY_COMMITTED": MANY - 1}
    assert AuditEntry.objects.filter(event="PermitCommitStarted").count() == 1
    assert verify_stored_chain(shared_golem.golem.pk).broken is None


def test_one_limit_is_never_passed_by_sixty_four_reservations_at_once(shared_golem: LiveGolem) -> None:
    template = shared_golem.permit(shared_golem.preview()["permit_id"])
    taken = SpendEntry.objects.get(permit=template).reserved_micro_usd
    SpendingLimits.objects.filter(golem=shared_golem.golem).update(per_day_micro_usd=taken + 10_000_000)

    def reserve(index: int) -> str:
        now = clock.now()
        permit = ActionPermit.objects.get(pk=template.pk)
        permit.pk, permit._state.adding, permit.action_hash = None, True, f"0x{index}"
        permit.id = ActionPermit._meta.pk.get_default()
        permit.save(force_insert=True)
        ledger.reserve(
            permit=permit, value=PlanValue(gas_micro_usd=1_000_000), counts_per_day=True, heartbeat_tick=0, now=now
        )
        return "reserved"

    def reserve_in_one_transaction(index: int) -> str:
        from django.db import transaction

        with transaction.atomic():
            return reserve(index)

    answers = Counter(at_once(reserve_in_one_transaction))
    assert answers == {"reserved": 10, "SAFETY_SPENDING_LIMIT_EXCEEDED": MANY - 10}
    entries = SpendEntry.objects.filter(golem=shared_golem.golem, state=SpendState.RESERVED)
    assert sum(entry.reserved_micro_usd for entry in entries) == taken + 10_000_000


def test_sixty_four_permits_of_one_account_get_sixty_four_nonces_without_a_gap(shared_golem: LiveGolem) -> None:
    template = shared_golem.permit(shared_golem.preview()["permit_id"])
    permits = []
    for index in range(MANY):
        permit = ActionPermit.objects.get(pk=template.pk)
        permit.id, permit._state.adding, permit.action_hash = ActionPermit._meta.pk.get_default(), True, f"0x{index}"
        permit.save(force_insert=True)
        permits.append(permit.pk)
    answers = at_once(
        lambda index: reserve_nonces(
            permit_id=permits[index], chain_id=31337, address=template.signer, count=1, pending_nonce=0
        )
    )
    assert sorted(nonce for nonces in answers for nonce in nonces) == list(range(MANY))


def test_one_permit_asking_for_nonces_sixty_four_times_at_once_gets_the_same(shared_golem: LiveGolem) -> None:
    permit = shared_golem.permit(shared_golem.preview()["permit_id"])
    answers = at_once(
        lambda _: reserve_nonces(permit_id=permit.pk, chain_id=31337, address=permit.signer, count=2, pending_nonce=0)
    )
    assert answers == [[0, 1]] * MANY
    assert NonceReservation.objects.count() == 2


def commit_task(golem: LiveGolem) -> tuple[Callable[[], Any], Callable[[], None]]:
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)
    usdc = golem.balance("USDC")

    def check() -> None:
        assert golem.permit(permit_id).status == PermitStatus.COMMITTED
        assert usdc - golem.balance("USDC") == 500_000_000
        assert golem.mined_nonce() == OutboundTransaction.objects.count() == 2
        assert OutcomeRecord.objects.count() == 1

    return lambda: tasks.commit_permit_task.run(permit_id=permit_id), check


def halt_task(golem: LiveGolem) -> tuple[Callable[[], Any], Callable[[], None]]:
    halt_golem(golem=golem.golem, reason="x", actor="t", now=clock.now())

    def check() -> None:
        assert HaltRecord.objects.get().completed_at is not None
        assert OutboxEvent.objects.filter(type="halt:completed").count() == 1
        assert AuditEntry.objects.filter(event="HaltCompleted").count() == 1

    return lambda: tasks.commit_halt_task.run(golem_id=str(golem.golem.pk), epoch=1), check


def sweep_task(golem: LiveGolem) -> tuple[Callable[[], Any], Callable[[], None]]:
    permit_id = golem.preview()["permit_id"]
    ActionPermit.objects.filter(pk=permit_id).update(expires_at=clock.now() - timedelta(seconds=1))

    def check() -> None:
        assert golem.permit(permit_id).status == PermitStatus.EXPIRED
        assert SpendEntry.objects.get(permit_id=permit_id).state == SpendState.RELEASED
        assert AuditEntry.objects.filter(event="PermitExpired").count() == 1

    return tasks.sweep_permits_task.run, check


def reconciliation_task(golem: LiveGolem) -> tuple[Callable[[], Any], Callable[[], None]]:
    lost = golem.permit(golem.preview()["permit_id"])
    used = golem.permit(golem.preview(amount="400000000")["permit_id"])
    for permit in (lost, used):
        reserve_nonces(permit_id=permit.pk, chain_id=31337, address=permit.signer, count=1, pending_nonce=0)
    NonceReservation.objects.filter(permit=lost).update(state="ABANDONED", permit=None)

    def check() -> None:
        assert OutboundTransaction.objects.filter(purpose="FILL").count() == 1
        assert AuditEntry.objects.filter(event="NonceFilled").count() == 1
        assert golem.mined_nonce() == 1

    return tasks.commit_reconciliation_task.run, check


def checkpoint_task(golem: LiveGolem) -> tuple[Callable[[], Any], Callable[[], None]]:
    golem.preview()

    def check() -> None:
        assert AuditCheckpoint.objects.filter(golem_id=golem.golem.pk).count() == 1
        assert verify_stored_chain(golem.golem.pk).broken is None

    return tools_tasks.sign_audit_checkpoints_task.run, check


def publish_task(golem: LiveGolem) -> tuple[Callable[[], Any], Callable[[], None]]:
    golem.preview()

    def check() -> None:
        assert not OutboxEvent.objects.filter(published_at__isnull=True).exists()

    return tools_tasks.publish_events_task.run, check


def remember_task(golem: LiveGolem) -> tuple[Callable[[], Any], Callable[[], None]]:
    permit_id = golem.preview()["permit_id"]
    golem.commit(permit_id)

    def check() -> None:
        from memory_app.models import Episode

        assert Episode.objects.filter(permit_id=permit_id).count() == 1
        assert OutcomeRecord.objects.get(permit_id=permit_id).episode_id is not None

    return lambda: tasks.remember_outcome_task.run(permit_id=permit_id), check


TASKS = [
    commit_task, halt_task, sweep_task, reconciliation_task, checkpoint_task, publish_task, remember_task,
]  # fmt: skip


@pytest.mark.parametrize("case", TASKS)
def test_a_task_run_twice_has_its_effect_once(shared_golem: LiveGolem, case: Any) -> None:
    run, check = case(shared_golem)
    run()
    check()
    run()
    check()


@pytest.mark.parametrize("case", TASKS)
def test_a_task_run_twice_at_once_has_its_effect_once(shared_golem: LiveGolem, case: Any) -> None:
    run, check = case(shared_golem)
    at_once(lambda _: run(), count=2)
    check()
