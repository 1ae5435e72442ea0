"""One permit, many callers, real threads on real PostgreSQL: sent once."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from permits_app.models import OutboundTransaction, SpendingLimits
from tests.live_golem import LiveGolem
from tools_app.core.errors import GolemError

THREADS = 16


def test_one_permit_committed_from_sixteen_threads_is_sent_once(shared_golem: LiveGolem) -> None:
    permit = shared_golem.preview()
    usdc = shared_golem.balance("USDC")
    gate = threading.Barrier(THREADS)

    def try_commit(_: int) -> str:
        try:
            gate.wait(timeout=30)
            shared_golem.start(permit["permit_id"])
            shared_golem.work(permit["permit_id"])
            return "sent"
        except GolemError as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        answers = Counter(pool.map(try_commit, range(THREADS)))
    assert answers == {"sent": 1, "PERMIT_ALREADY_COMMITTED": THREADS - 1}
    assert usdc - shared_golem.balance("USDC") == 500_000_000
    rows = OutboundTransaction.objects.filter(permit_id=permit["permit_id"])
    assert shared_golem.mined_nonce() == rows.count() == len(permit["calls"])


def test_a_task_delivered_to_many_workers_at_once_is_sent_once(shared_golem: LiveGolem) -> None:
    permit = shared_golem.preview()
    shared_golem.start(permit["permit_id"])
    usdc = shared_golem.balance("USDC")
    gate = threading.Barrier(THREADS)

    def deliver(_: int) -> bool:
        try:
            gate.wait(timeout=30)
            return shared_golem.work(permit["permit_id"]) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        worked = sum(pool.map(deliver, range(THREADS)))
    assert worked >= 1
    assert usdc - shared_golem.balance("USDC") == 500_000_000
    assert shared_golem.permit(permit["permit_id"]).status == "COMMITTED"


def test_two_previews_at_once_never_both_pass_one_limit(shared_golem: LiveGolem) -> None:
    SpendingLimits.objects.filter(golem=shared_golem.golem).update(per_day_micro_usd=1_600_000_000)
    gate = threading.Barrier(8)

    def try_preview(index: int) -> str:
        try:
            gate.wait(timeout=30)
            shared_golem.preview(amount=str(500_000_000 + index))
            return "permit"
        except GolemError as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = Counter(pool.map(try_preview, range(8)))
    assert answers == {"permit": 3, "SAFETY_SPENDING_LIMIT_EXCEEDED": 5}


def test_different_permits_of_one_account_never_share_a_nonce(shared_golem: LiveGolem) -> None:
    permits = [shared_golem.preview(amount=str(100_000_000 + i))["permit_id"] for i in range(6)]
    for permit in permits:
        shared_golem.start(permit)
    gate = threading.Barrier(len(permits))

    def work(permit: str) -> None:
        try:
            gate.wait(timeout=30)
            shared_golem.work(permit)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(permits)) as pool:
        list(pool.map(work, permits))
    nonces = sorted(OutboundTransaction.objects.filter(permit_id__in=permits).values_list("nonce", flat=True))
    assert nonces == list(range(len(nonces)))
    assert shared_golem.mined_nonce() == len(nonces)
