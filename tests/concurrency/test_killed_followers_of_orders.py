"""Who follows orders of UniswapX dies alone, as a process of its own: the next one sees the same, and tells it once."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test import override_settings

from golem_project.celery import app
from permits_app.execution.chain_follower import Follower
from permits_app.models import ActionPermit, ChainWatch, OutboundTransaction, OutcomeRecord, SignedPromise
from permits_app.tasks import commit_permit_task, follow_promises_task
from tests.concurrency.doors import kill_at_each_door
from tests.concurrency.test_killed_orders import count, wish
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.test_killed_processes import Processes, wait_for
from tests.passing_time import let_pass, let_pass_until
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tests.tools_app.protocols.uniswap_x.test_orders import (
    Maker,
    entry_of,
    filler,  # noqa: F401  (a fixture)
    maker,  # noqa: F401  (a fixture)
)
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.protocols.uniswap_x.addresses import NAME
from tools_app.toolkit.typed_data import TypedData

pytestmark = [
    pytest.mark.protocols("uniswap_x"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
    pytest.mark.timeout(600),
]
LONG_GONE = timedelta(seconds=31)
_ROUNDS = 2


def cancel_unseen(of: Maker, row: SignedPromise) -> UUID:
    """A cancellation that is sent and that nobody has looked at since; to be called while mining is paused."""
    nonce = str(TypedData.of_json(row.typed_data).message["nonce"])
    status, permit = of.ask("preview_action", venue=NAME, action_type="cancel_order", nonce=nonce)
    assert status == 200, permit
    with override_settings(GOLEM_FIRST_LOOK_SECONDS=0):
        of.live.start(permit["permit_id"])
        of.live.work(permit["permit_id"])
    assert of.live.permit(permit["permit_id"]).status == "COMMITTING"
    return UUID(permit["permit_id"])


def test_a_cancel_whose_follower_dies_before_any_of_its_doors_ends_its_order_once(
    maker: Maker,  # noqa: F811
) -> None:
    maker.approve()
    rows: dict[UUID, SignedPromise] = {}

    def start(number: int) -> UUID:
        let_pass(LONG_GONE, chain=maker.filler.world)
        row = maker.sign(**wish(number))
        with mining_paused(maker.filler.world):
            permit_id = cancel_unseen(maker, row)
        rows[permit_id] = row
        return permit_id

    def work(permit_id: UUID) -> None:
        maker.live.work(str(permit_id))

    def follow(_: UUID) -> None:
        Follower(CHAIN_ID, hand=work).look(now=clock.now())

    met: list[str | None] = []
    for permit_id, door in kill_at_each_door(start, follow):
        where = f"door {len(met)}: {door}"
        met.append(door)
        Follower(CHAIN_ID, hand=lambda _: None).look(now=let_pass(LONG_GONE))
        permit = maker.live.permit(str(permit_id))
        if permit.status != "COMMITTED":
            let_pass_until(permit.lease_expires_at or clock.now())
            maker.live.work(str(permit_id))
        assert maker.live.permit(str(permit_id)).status == "COMMITTED", where
        assert OutcomeRecord.objects.filter(permit_id=permit_id).count() == 1, where
        assert not maker.fill(rows[permit_id]), where
        row = maker.follow(rows[permit_id])
        assert (row.state, entry_of(row).state) == ("CANCELLED", "RELEASED"), where
        assert count(row, "PromiseCancelled") == len(met), where
    assert {"eth_getTransactionReceipt", "COMMIT"} <= set(met)


@pytest.fixture
def following(maker: Maker) -> Iterator[Processes]:  # noqa: F811
    """A real worker that follows the chain and what was signed, and no other."""
    running = Processes(queues="commit,heartbeat", beats=0)
    yield running
    running.stop()
    connection.close()


def test_the_process_that_follows_is_killed_by_itself_and_each_order_ends_once_as_the_chain_says(
    maker: Maker,  # noqa: F811
    following: Processes,
) -> None:
    maker.approve()
    world, chance, pause = maker.filler.world, random.Random(41), threading.Event()
    filled, cancelled = [], []
    for number in range(_ROUNDS):
        filled.append(maker.sign(**wish(2 * number)))
        assert maker.fill(filled[-1])
        cancelled.append(maker.sign(**wish(2 * number + 1)))
    for number, row in enumerate(cancelled):
        wait_for("the process follows the chain", is_followed)
        with mining_paused(world):
            permit_id = cancel_unseen(maker, row)
            if number % 2:
                # It dies before there is anything to see, or in the middle of seeing it.
                kill(following)
            else:
                mine(world)
                look(permit_id)
                pause.wait(chance.random())
                kill(following)
        if number % 2:
            pause.wait(chance.random())
    for each in (*filled, *cancelled):
        wait_for(f"{each.reference} ends", lambda each=each: has_ended(each))  # type: ignore[misc]
    following.stop()
    for each in (*filled, *cancelled):
        each.refresh_from_db()
    assert {(row.state, entry_of(row).state) for row in filled} == {("FILLED", "SETTLED")}
    assert {(row.state, entry_of(row).state) for row in cancelled} == {("CANCELLED", "RELEASED")}
    assert not any(maker.fill(row) for row in (*filled, *cancelled))
    assert (count(filled[0], "PromiseFilled"), count(filled[0], "PromiseCancelled")) == (_ROUNDS, _ROUNDS)
    permits = ActionPermit.objects.filter(golem=maker.live.golem, action_type="cancel_order")
    assert [permit.status for permit in permits] == ["COMMITTED"] * _ROUNDS
    assert OutcomeRecord.objects.filter(permit__in=permits).count() == _ROUNDS
    nonces = list(OutboundTransaction.objects.order_by("nonce").values_list("nonce", flat=True))
    assert nonces == list(range(maker.live.mined_nonce())), "nothing was sent twice and nothing is missing"
    assert verify_stored_chain(maker.live.golem.pk).broken is None


def is_followed() -> bool:
    """Whether somebody looked at the chain in the last second."""
    return ChainWatch.objects.filter(chain_id=CHAIN_ID, looked_at__gte=clock.now() - timedelta(seconds=1)).exists()


def kill(following: Processes) -> None:
    """The follower with all its children; another one starts."""
    following.kill_worker()
    following.worker = following.start_worker()


def look(permit_id: UUID | None = None) -> None:
    """Have the worker look at all orders, and at a permit whose worker is gone, as the clock's tasks do."""
    past = clock.now() - timedelta(seconds=1)
    SignedPromise.objects.filter(state="OPEN").update(next_check_at=past)
    ActionPermit.objects.filter(status__in=["COMMITTING", "UNKNOWN"]).update(lease_expires_at=past)
    app.conf.task_always_eager = False
    try:
        follow_promises_task.apply_async(expires=10)
        if permit_id is not None:
            commit_permit_task.apply_async(kwargs={"permit_id": str(permit_id)}, expires=10)
    finally:
        app.conf.task_always_eager = True


def has_ended(row: SignedPromise) -> bool:
    look()
    threading.Event().wait(0.5)
    row.refresh_from_db()
    return row.state != "OPEN"
