"""Orders over time whose process dies before any of its doors: submitted once, followed, and ended once as the chain
says; the follower dies alone too, as a process of its own.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection

from golem_project.celery import app
from permits_app.actions.check_pending_requests import check_pending_requests
from permits_app.actions.halt import carry_out_halt, halt_golem, list_unfinished_halts
from permits_app.actions.sweep_permits import list_unfinished
from permits_app.halts.resume import resume_golem
from permits_app.limits.pending_requests import MISSED_FOR
from permits_app.models import ActionPermit, OutboundTransaction, PendingRequest, SpendEntry
from permits_app.tasks import follow_requests_task
from tests.concurrency.doors import is_change, kill_at_each_door
from tests.concurrency.test_killed_exits import is_sending
from tests.golem_project.heartbeat.test_killed_processes import Processes, wait_for
from tests.passing_time import let_pass
from tests.permits_app.test_orders_over_time_at_the_door import (
    ORDERS,
    Asker,
    asker,  # noqa: F401  (a fixture)
    pass_time,
)
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import AuditEntry

pytestmark = [
    pytest.mark.protocols("uniswap_twamm"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
    pytest.mark.timeout(600),
]
WAD = 10**18
HOUR = timedelta(hours=1, seconds=1)
_ROUNDS = 2


def preview(of: Asker, number: int) -> UUID:
    """An order that is not the one before."""
    terms = {"token_in": "DAI", "token_out": "WETH", "amount": str(30 * WAD - number), "duration": "1h"}
    permit = of.live.preview(action_type="submit_twamm_order", venue="uniswap_twamm", **terms)
    return UUID(permit["permit_id"])


def order(of: Asker, number: int) -> PendingRequest:
    permit_id = preview(of, number)
    assert of.live.commit(str(permit_id))["status"] == "COMMITTED"
    return PendingRequest.objects.get(permit_id=permit_id)


def sell(of: Asker, row: PendingRequest, number: int) -> None:
    """Its hour passes, somebody buys all of it, and pays it out."""
    let_pass(HOUR, chain=of.live.world)
    buy(of, row, number)


def buy(of: Asker, row: PendingRequest, number: int) -> None:
    """Somebody buys all that an order sells, and pays it out."""
    of.fill(row, 30 * WAD - number, WAD // 100)
    of.close(row)


def go_on(of: Asker) -> None:
    """Leases of the dead run out, and the clock's tasks find what is left."""
    for _ in range(3):
        let_pass(timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS))
        for permit_id in list_unfinished(now=clock.now() + timedelta(minutes=1)):
            of.live.work(str(permit_id))
        for golem_id, epoch in list_unfinished_halts():
            carry_out_halt(golem_id=golem_id, epoch=epoch, now=clock.now())


def look(after: timedelta = timedelta(0)) -> None:
    PendingRequest.objects.update(next_check_at=clock.now() - timedelta(seconds=1))
    check_pending_requests(now=clock.now() + after)


def count(of: Asker, event: str) -> int:
    return AuditEntry.objects.filter(golem_id=of.live.golem.pk, event=event).count()


def state_of(row: PendingRequest) -> str:
    """What is held for it."""
    return str(SpendEntry.objects.get(permit_id=row.permit_id).state)


def list_open(of: Asker) -> list[int]:
    rpc = of.live.world.rpc
    (found,) = rpc.read(ORDERS, "openOrdersOf(address)", of.live.golem.address, returns="(uint256[])")
    return [int(each) for each in found]


def test_an_order_over_time_whose_worker_dies_before_any_of_its_doors_is_submitted_once_and_followed(
    asker: Asker,  # noqa: F811
) -> None:
    def start(number: int) -> UUID:
        permit_id = preview(asker, number)
        asker.live.start(str(permit_id))
        return permit_id

    met: list[str | None] = []
    for permit_id, door in kill_at_each_door(start, lambda each: asker.live.work(str(each)), is_door=is_change):
        where = f"door {len(met)}: {door}"
        met.append(door)
        go_on(asker)
        permit = ActionPermit.objects.get(pk=permit_id)
        assert permit.status == "COMMITTED", (where, permit.status, permit.status_reason, permit.problem)
        row = PendingRequest.objects.get(permit_id=permit_id)
        assert (asker.follow(row).state, state_of(row)) == ("REQUESTED", "RESERVED"), where
        assert len(list_open(asker)) == len(met), f"{where}: one order for one permit"
    assert PendingRequest.objects.count() == len(met)
    assert "COMMIT" in met and any("eth_sendRawTransaction" in (door or "") for door in met)
    assert verify_stored_chain(asker.live.golem.pk).broken is None


def test_an_end_whose_follower_dies_before_any_of_its_doors_is_told_and_settled_once(
    asker: Asker,  # noqa: F811
) -> None:
    def start(number: int) -> PendingRequest:
        row = order(asker, number)
        sell(asker, row, number)
        look()
        return row

    met: list[str | None] = []
    for row, door in kill_at_each_door(start, lambda _: look(2 * MISSED_FOR), is_door=is_change):
        where = f"door {len(met)}: {door}"
        met.append(door)
        let_pass(timedelta(minutes=2))
        row = asker.follow(row)
        assert (row.state, state_of(row)) == ("EXECUTED", "SETTLED"), where
        assert [each["raw"] for each in row.came] == [str(WAD // 100)], where
        assert count(asker, "OrderExecuted") == len(met), where
    assert "COMMIT" in met and met[-1] is None
    assert verify_stored_chain(asker.live.golem.pk).broken is None


@pytest.mark.parametrize("is_sold_first", [False, True])
def test_a_cancel_whose_worker_dies_before_any_of_its_doors_ends_the_order_as_the_chain_says(
    asker: Asker,  # noqa: F811
    is_sold_first: bool,
) -> None:
    rows: dict[UUID, PendingRequest] = {}

    def start(number: int) -> UUID:
        row = order(asker, number)
        asked = {"order_id": row.ref.rpartition("/")[2], "token_in": None, "token_out": None, "amount": None}
        permit = asker.live.preview(action_type="cancel_twamm_order", venue="uniswap_twamm", **asked)
        permit_id = UUID(permit["permit_id"])
        rows[permit_id] = row
        asker.live.start(str(permit_id))
        if is_sold_first:
            sell(asker, row, number)
        return permit_id

    met: list[str | None] = []
    for permit_id, door in kill_at_each_door(start, lambda each: asker.live.work(str(each)), is_door=is_change):
        where = f"door {len(met)}: {door}"
        met.append(door)
        go_on(asker)
        permit, row = ActionPermit.objects.get(pk=permit_id), rows[permit_id]
        assert permit.status not in ("COMMITTING", "UNKNOWN"), (where, permit.status, permit.problem)
        assert OutboundTransaction.objects.filter(permit_id=permit_id, is_live=True).count() <= 1, where
        if not is_sold_first:
            assert permit.status == "COMMITTED", (where, permit.status, permit.problem)
        row = asker.follow(row)
        assert row.state == ("EXECUTED" if is_sold_first else "CANCELLED"), where
        assert state_of(row) in ("SETTLED", "RELEASED"), where
        assert list_open(asker) == [], where
    assert met[-1] is None and (is_sold_first or "COMMIT" in met)


def test_a_halt_whose_worker_dies_before_any_of_its_sendings_leaves_no_order_that_can_be_filled(
    asker: Asker,  # noqa: F811
) -> None:
    golem = asker.live.golem

    def start(number: int) -> PendingRequest:
        golem.refresh_from_db()
        if golem.is_halted:
            resume_golem(golem=golem, reason="on with it", actor="system:test", now=clock.now(), stays_live=True)
        row = order(asker, number)
        let_pass(HOUR / 2, chain=asker.live.world)
        asker.fill(row, 10 * WAD, WAD // 300)
        asker.follow(row)
        golem.refresh_from_db()
        halt_golem(golem=golem, reason=f"halt {number}", actor="system:test", now=clock.now())
        golem.refresh_from_db()
        return row

    def carry_out(_: PendingRequest) -> None:
        carry_out_halt(golem_id=golem.pk, epoch=golem.halt_epoch, now=clock.now())

    met: list[str | None] = []
    for row, door in kill_at_each_door(start, carry_out, is_door=is_sending):
        where = f"door {len(met)}: {door}"
        met.append(door)
        go_on(asker)
        assert list_open(asker) == [], where
        row = asker.follow(row)
        assert row.state == "CANCELLED" and state_of(row) != "RESERVED", where
        assert len(row.came) == 2, where
    assert len(met) >= 2 and met[-1] is None
    assert verify_stored_chain(golem.pk).broken is None


@pytest.fixture
def following(asker: Asker) -> Iterator[Processes]:  # noqa: F811
    """A real worker that follows what was asked for, and no other."""
    running = Processes(queues="commit,heartbeat", beats=0)
    yield running
    running.stop()
    connection.close()


def test_the_process_that_follows_is_killed_by_itself_and_each_order_over_time_ends_once(
    asker: Asker,  # noqa: F811
    following: Processes,
) -> None:
    chance, pause = random.Random(41), threading.Event()
    rows: dict[PendingRequest, str] = {}
    for number in range(2 * _ROUNDS):
        row = order(asker, number)
        if number % 2:
            # The worker's clock is its own: only the chain's goes on.
            pass_time(asker, int(HOUR.total_seconds()))
            buy(asker, row, number)
            rows[row] = "EXECUTED"
        else:
            asked: dict[str, Any] = {"token_in": None, "token_out": None, "amount": None}
            asked["order_id"] = row.ref.rpartition("/")[2]
            permit = asker.live.preview(action_type="cancel_twamm_order", venue="uniswap_twamm", **asked)
            assert asker.live.commit(permit["permit_id"])["status"] == "COMMITTED"
            rows[row] = "CANCELLED"
        have_looked()
        pause.wait(chance.random())
        following.kill_worker()
        following.worker = following.start_worker()
    for row in rows:
        wait_for(f"{row.ref} ends", lambda row=row: has_ended(row))  # type: ignore[misc]
    following.stop()
    for row, state in rows.items():
        row.refresh_from_db()
        assert (row.state, state_of(row) != "RESERVED") == (state, True)
    assert (count(asker, "OrderExecuted"), count(asker, "OrderCancelled")) == (_ROUNDS, _ROUNDS)
    nonces = list(OutboundTransaction.objects.order_by("nonce").values_list("nonce", flat=True))
    assert nonces == list(range(asker.live.mined_nonce())), "nothing was sent twice and nothing is missing"
    assert verify_stored_chain(asker.live.golem.pk).broken is None


def have_looked() -> None:
    """Have the worker look at all orders, as the clock's task does; an end that was seen before is old enough."""
    past = clock.now() - timedelta(seconds=1)
    PendingRequest.objects.update(next_check_at=past)
    PendingRequest.objects.exclude(missed_at=None).update(missed_at=past - 2 * MISSED_FOR)
    app.conf.task_always_eager = False
    try:
        follow_requests_task.apply_async(expires=10)
    finally:
        app.conf.task_always_eager = True


def has_ended(row: PendingRequest) -> bool:
    have_looked()
    threading.Event().wait(0.5)
    row.refresh_from_db()
    return row.state in ("EXECUTED", "CANCELLED", "EXPIRED")
