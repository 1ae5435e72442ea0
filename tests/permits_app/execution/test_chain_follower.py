"""The follower of a chain: who looks, what is asked, and what is handed to a worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from golem_project import celery as celery_module
from permits_app.execution.chain_follower import Follower
from permits_app.execution.follower_threads import Following, name_sending
from permits_app.models import ActionPermit, ChainWatch, OutboundTransaction
from permits_app.models.permit import PermitStatus
from tests.evm.world import CHAIN_ID
from tests.failing_node import FailingNode, node_that_may_fail
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tools_app.core import clock, wake_waiting_process


@pytest.fixture(autouse=True)
def as_served(settings: Any) -> None:
    """A thread looks for a moment only, as where a follower runs beside it."""
    settings.GOLEM_FIRST_LOOK_SECONDS = 0


@pytest.fixture
def node() -> Iterator[FailingNode]:
    with node_that_may_fail() as node:
        yield node


def follow(handed: list[UUID] | None = None) -> Follower:
    return Follower(CHAIN_ID, hand=(handed if handed is not None else []).append)


def send(golem: LiveGolem, **changes: Any) -> UUID:
    """A permit whose bytes are sent and wait for a block."""
    permit_id = golem.preview(**changes)["permit_id"]
    golem.start(permit_id)
    answer = golem.work(permit_id)
    assert answer is not None and answer["status"] == "COMMITTING"
    return UUID(permit_id)


def test_what_was_sent_is_left_to_the_follower_and_ended_by_a_worker_once_a_block_has_it(
    live_golem: LiveGolem,
) -> None:
    handed: list[UUID] = []
    follower = follow(handed)
    with mining_paused(live_golem.world):
        permit_id = send(live_golem)
        row = live_golem.permit(str(permit_id))
        assert (row.status, row.lease_owner) == ("COMMITTING", "")
        assert set(row.transactions.values_list("state", flat=True)) == {"BROADCAST"}
        assert follower.look(now=clock.now()).handed == ()
        mine(live_golem.world)
        assert follower.look(now=clock.now()).handed == (permit_id,) == tuple(handed)
        # A worker has been told; the same is not said again at once, and again where the worker was lost.
        assert follower.look(now=clock.now()).handed == ()
        assert follower.look(now=clock.now() + timedelta(seconds=4)).handed == (permit_id,)
    live_golem.work(str(permit_id))
    assert live_golem.permit(str(permit_id)).status == PermitStatus.COMMITTED
    assert follower.look(now=clock.now() + timedelta(seconds=9)).handed == ()


def test_a_commit_that_looks_itself_goes_on_looking_until_a_block_has_it(live_golem: LiveGolem, settings: Any) -> None:
    settings.GOLEM_FIRST_LOOK_SECONDS = 60
    with mining_paused(live_golem.world):
        permit_id = live_golem.preview()["permit_id"]
        rpc, is_done = live_golem.world.connect(), threading.Event()

        def mine_what_waits() -> None:
            """Half a second after it was sent, in which the commit has looked and found nothing."""
            while not is_done.wait(0.5):
                if int(rpc.call("txpool_status")["pending"], 16):
                    is_done.wait(0.5)
                    rpc.call("anvil_mine", "0x1")

        miner = threading.Thread(target=mine_what_waits)
        miner.start()
        try:
            assert live_golem.commit(permit_id)["status"] == "COMMITTED"
        finally:
            is_done.set()
            miner.join()


def test_all_that_was_sent_is_asked_for_in_one_batch_a_block(live_golem: LiveGolem, node: FailingNode) -> None:
    follower = follow()
    with mining_paused(live_golem.world):
        for number in range(3):
            send(live_golem, amount=str(70_000_000 + number))
        node.asked.clear()
        for _ in range(4):
            follower.look(now=clock.now())
        assert node.count("eth_getTransactionReceipt") == 1, "nothing new is asked for at the same head"
        mine(live_golem.world)
        follower.look(now=clock.now())
    # One batch that looks, and one that confirms what it found.
    assert node.count("eth_getTransactionReceipt") == 3
    asked = [methods for methods in node.asked if "eth_getTransactionReceipt" in methods]
    payloads = OutboundTransaction.objects.count()
    assert [methods.count("eth_getTransactionReceipt") for methods in asked] == [payloads] * 3


def test_one_process_follows_a_chain_and_another_takes_over_when_it_says_nothing_more(live_golem: LiveGolem) -> None:
    now = clock.now()
    first, second = follow(), follow()
    assert (first.look(now=now).is_ours, second.look(now=now).is_ours) == (True, False)
    assert second.look(now=now + timedelta(seconds=4)).is_ours is False
    with mining_paused(live_golem.world):
        permit_id = send(live_golem)
        mine(live_golem.world)
        later = now + timedelta(seconds=5)
        look = second.look(now=later)
        assert (look.is_ours, look.handed) == (True, (permit_id,)), "a dead follower's lease is over: nothing is lost"
    assert first.look(now=later).is_ours is False, "and it does not look beside the new one when it comes back"
    second.leave()
    assert first.look(now=later).is_ours is True, "one that leaves is followed at once"
    assert ChainWatch.objects.get().owner == first.owner


def test_a_node_that_fails_is_written_down_with_its_first_failure_and_cleared_by_an_answer(
    live_golem: LiveGolem, node: FailingNode
) -> None:
    follower, now = follow(), clock.now()
    node.rule = lambda methods: (503, b"busy")
    for seconds in (0, 2, 4):
        follower.look(now=now + timedelta(seconds=seconds))
    watch = ChainWatch.objects.get()
    assert (watch.failing_since, watch.error_code) == (now, "RPC_UNAVAILABLE")
    assert watch.looked_at == now + timedelta(seconds=4)
    node.rule = lambda methods: None
    follower.look(now=now + timedelta(seconds=6))
    watch.refresh_from_db()
    assert (watch.failing_since, watch.error_code) == (None, "")
    assert watch.head is not None


def wait_until_nobody_follows() -> None:
    """A thread that is slow to end would look at the database of whichever test comes next."""
    for thread in threading.enumerate():
        if thread.name.startswith("follower-"):
            thread.join(60)


def test_the_threads_of_a_worker_follow_what_another_process_sent(shared_golem: LiveGolem) -> None:
    ended = threading.Event()

    def hand(permit_id: UUID) -> None:
        shared_golem.work(str(permit_id))
        ended.set()

    following = Following([CHAIN_ID], hand=hand)
    with mining_paused(shared_golem.world):
        permit_id = send(shared_golem)
        following.start()
        try:
            mine(shared_golem.world)
            wake_waiting_process.tap(name_sending(CHAIN_ID))
            assert ended.wait(30)
        finally:
            following.stop()
            wait_until_nobody_follows()
    assert ActionPermit.objects.get(pk=permit_id).status == PermitStatus.COMMITTED
    assert ChainWatch.objects.get().owner == "", "a worker that stops lets another one follow at once"
    connections.close_all()


@pytest.mark.parametrize(("queues", "follows"), [(("commit",), True), (("simulation", "heartbeat"), False)])
def test_every_worker_of_commits_is_a_candidate_and_no_other(
    transactional_db: None, local_chain: object, queues: tuple[str, ...], follows: bool
) -> None:
    consumed = SimpleNamespace(consume_from=dict.fromkeys(queues))
    celery_module.follow_chains(sender=SimpleNamespace(app=SimpleNamespace(amqp=SimpleNamespace(queues=consumed))))
    try:
        assert bool(celery_module._following) is follows
    finally:
        celery_module.stop_following()
        wait_until_nobody_follows()


def test_what_a_node_forgot_while_it_was_away_is_sent_again_as_soon_as_it_answers(
    live_golem: LiveGolem, node: FailingNode
) -> None:
    handed: list[UUID] = []
    back: list[str] = []
    follower = Follower(CHAIN_ID, hand=handed.append, came_back=lambda: back.append("back"))
    with mining_paused(live_golem.world):
        permit_id = send(live_golem)
        assert (follower.look(now=clock.now()).handed, back) == ((), [])
        node.rule = lambda methods: (503, b"busy")
        assert follower.look(now=clock.now()).handed == ()
        live_golem.world.rpc.call("anvil_dropAllTransactions")
        node.rule = lambda methods: None
        assert follower.look(now=clock.now()).handed == (permit_id,) == tuple(handed)
        assert back == ["back"]
        live_golem.work(str(permit_id))
        mine(live_golem.world)
        # It was handed on to be sent, not because it ended: its end is seen at the next look.
        assert follower.look(now=clock.now()).handed == (permit_id,)
    live_golem.work(str(permit_id))
    assert live_golem.permit(str(permit_id)).status == PermitStatus.COMMITTED
    assert back == ["back"]


def test_a_chain_that_goes_back_is_noticed_though_its_node_was_never_seen_away(live_golem: LiveGolem) -> None:
    back: list[str] = []
    follower = Follower(CHAIN_ID, hand=lambda _: None, came_back=lambda: back.append("back"))
    before = live_golem.world.rpc.call("evm_snapshot")
    mine(live_golem.world, 3)
    follower.look(now=clock.now())
    live_golem.world.rpc.call("evm_revert", before)
    now = clock.now()
    follower.look(now=now)
    assert back == ["back"]
    # A node that tells earlier heads again and again is not answered with a round each time.
    again = live_golem.world.rpc.call("evm_snapshot")
    mine(live_golem.world, 3)
    follower.look(now=now + timedelta(seconds=1))
    live_golem.world.rpc.call("evm_revert", again)
    follower.look(now=now + timedelta(seconds=2, milliseconds=999))
    assert back == ["back"]
    once_more = live_golem.world.rpc.call("evm_snapshot")
    mine(live_golem.world, 3)
    follower.look(now=now + timedelta(seconds=2, milliseconds=999))
    live_golem.world.rpc.call("evm_revert", once_more)
    follower.look(now=now + timedelta(seconds=3))
    assert back == ["back", "back"]
