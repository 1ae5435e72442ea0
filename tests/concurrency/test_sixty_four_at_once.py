"""Sixty-four threads on one permit, one limit, one nonce, on real PostgreSQL."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection, transaction

from permits_app.execution.nonces import reserve_nonces
from permits_app.limits import ledger
from permits_app.limits.valuation import PlanValue
from permits_app.models import (
    ActionPermit,
    NonceReservation,
    SpendEntry,
    SpendingLimits,
)
from permits_app.models.spending import SpendState
from tests.live_golem import LiveGolem
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditEntry

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


def reserve_at_once(template: ActionPermit) -> Counter[Any]:
    """Sixty-four more permits like `template`, each for one dollar, in transactions of their own; what came of each."""

    def reserve(index: int) -> str:
        permit = ActionPermit.objects.get(pk=template.pk)
        permit.pk, permit._state.adding, permit.action_hash = None, True, f"0x{index}"
        permit.id, permit.created_at = ActionPermit._meta.pk.get_default(), clock.now()
        with transaction.atomic():
            ledger.reserve(
                permit=permit,
                value=PlanValue(gas_micro_usd=1_000_000),
                counts_per_day=True,
                heartbeat_tick=0,
                now=clock.now(),
            )
        return "reserved"

    return Counter(at_once(reserve))


def test_one_limit_is_never_passed_by_sixty_four_reservations_at_once(shared_golem: LiveGolem) -> None:
    template = shared_golem.permit(shared_golem.preview()["permit_id"])
    taken = SpendEntry.objects.get(permit=template).reserved_micro_usd
    SpendingLimits.objects.filter(golem=shared_golem.golem).update(per_day_micro_usd=taken + 10_000_000)
    answers = reserve_at_once(template)
    assert answers == {"reserved": 10, "SAFETY_SPENDING_LIMIT_EXCEEDED": MANY - 10}
    entries = SpendEntry.objects.filter(golem=shared_golem.golem, state=SpendState.RESERVED)
    assert sum(entry.reserved_micro_usd for entry in entries) == taken + 10_000_000
    # A reservation that is refused leaves no permit behind.
    assert ActionPermit.objects.filter(golem=shared_golem.golem).count() == entries.count()


def test_one_hour_takes_no_more_writes_than_its_limit_from_sixty_four_at_once(shared_golem: LiveGolem) -> None:
    template = shared_golem.permit(shared_golem.preview()["permit_id"])
    SpendingLimits.objects.filter(golem=shared_golem.golem).update(writes_per_hour=8)
    assert reserve_at_once(template) == {"reserved": 7, "RATE_LIMITED": MANY - 7}
    assert ActionPermit.objects.filter(golem=shared_golem.golem).count() == 8


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
