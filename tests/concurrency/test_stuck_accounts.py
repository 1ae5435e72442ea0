"""One account, or one chain, that does not go on holds up nobody else, and who would wait behind it is told at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from permits_app import tasks
from permits_app.actions.commit import commit_permit
from permits_app.actions.commit_in_turn import commit_in_turn
from permits_app.actions.start_commit import start_commit
from permits_app.actions.sweep_permits import end_outlived, list_unfinished
from permits_app.doors.hand_to_worker import hand_to_worker
from permits_app.errors import AccountBlocked, ChainStuck
from permits_app.execution.chain_follower import Follower
from permits_app.execution.commit_lease import take_lease
from permits_app.execution.commit_turns import PLACES, CommitTurn, Places, list_turns
from permits_app.models import ActionPermit, ChainWatch, OutboundTransaction, SpendEntry
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from tests.evm.world import CHAIN_ID, World
from tests.failing_node import FailingNode, node_that_may_fail
from tests.live_golem import LiveGolem, make_live_golem
from tests.passing_time import let_pass_until
from tests.permits_app.execution.chain_tricks import mining_paused
from tools_app.core import clock, wake_waiting_process
from tools_app.core.clock import Deadline
from tools_app.core.models import OutboxEvent

THREADS = 4


@pytest.fixture
def node(local_chain: World) -> Iterator[FailingNode]:
    with node_that_may_fail() as node:
        yield node


@pytest.fixture
def pair(transactional_db: None, node: FailingNode) -> tuple[LiveGolem, LiveGolem]:
    world = World(rpc_url=node._real)
    return make_live_golem(world, name="Stuck"), make_live_golem(world, name="Fresh", owner_name="owner-b")


@contextmanager
def commit_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A worker of four threads that takes what is enqueued, in its order, as the queue's own worker does."""
    waiting: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def enqueue(*, kwargs: dict[str, Any], **_: Any) -> None:
        waiting.put(kwargs)

    def serve() -> None:
        while (asked := waiting.get()) is not None:
            try:
                tasks.commit_permit_task.run(**asked)
            finally:
                connection.close()

    monkeypatch.setattr(tasks.commit_permit_task, "apply_async", enqueue)
    monkeypatch.setattr(tasks.remember_outcomes_task, "delay", lambda **_: None)
    threads = [threading.Thread(target=serve, daemon=True) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for _ in threads:
            waiting.put(None)
        for thread in threads:
            thread.join(60)


def give(golem: LiveGolem, **changes: Any) -> UUID:
    """A started permit."""
    permit_id = golem.preview(**changes)["permit_id"]
    golem.start(permit_id)
    return UUID(permit_id)


def test_twice_as_many_stuck_permits_as_threads_keep_a_fresh_golem_from_nothing(
    pair: tuple[LiveGolem, LiveGolem], node: FailingNode, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, fresh = pair
    settings.GOLEM_FIRST_LOOK_SECONDS = 0.05
    # Longer than anybody here waits: a thread that waited for receipts would not come back in time.
    settings.GOLEM_RECEIPT_WAIT_SECONDS = 300
    node.hides = {stuck.golem.address}
    permits = [give(stuck, amount=str(90_000_000 + number)) for number in range(2 * THREADS)]
    wanted = give(fresh)
    with commit_worker(monkeypatch):
        for permit_id in permits:
            tasks.commit_permit_task.apply_async(kwargs={"permit_id": str(permit_id)})
        hand_to_worker(permit_id=wanted, wait_seconds=60, request_id="r")
        assert fresh.permit(str(wanted)).status == PermitStatus.COMMITTED
        assert set(ActionPermit.objects.filter(pk__in=permits).values_list("status", flat=True)) == {"COMMITTING"}
        # The rest is worked on meanwhile, a few at once.
        unsent = ActionPermit.objects.filter(pk__in=permits).exclude(transactions__state="BROADCAST")
        deadline = Deadline.after_ms(60_000)
        while unsent.exists() and not deadline.is_over:
            threading.Event().wait(0.05)
        assert list(unsent.values_list("status", "status_reason", "problem")) == []
    node.hides = set()
    look = Follower(CHAIN_ID, hand=lambda permit_id: None).look(now=clock.now())
    assert set(look.handed) == set(permits), "once its receipts are shown, all of it is handed to workers"
    for permit_id in permits:
        stuck.work(str(permit_id))
    assert {stuck.permit(str(permit_id)).status for permit_id in permits} == {"COMMITTED"}
    assert stuck.mined_nonce() == OutboundTransaction.objects.filter(sender=stuck.golem.address).count()


def test_the_golem_that_is_served_least_comes_first(pair: tuple[LiveGolem, LiveGolem]) -> None:
    many, one = pair
    permits = [give(many, amount=str(91_000_000 + number)) for number in range(3)]
    single = give(one)
    assert take_lease(permit_id=permits[0], now=clock.now()) is not None
    turns = [turn.permit_id for turn in list_turns(permit_id=permits[1], now=clock.now())]
    assert turns == [single, permits[1], permits[2]]


def test_a_chain_and_an_account_have_a_few_places_and_who_found_none_is_remembered(settings: Any) -> None:
    settings.GOLEM_COMMITS_AT_ONCE_PER_CHAIN, settings.GOLEM_COMMITS_AT_ONCE_PER_ACCOUNT = 3, 2

    def turn(chain_id: int, account: str, *, is_local: bool = False) -> CommitTurn:
        return CommitTurn(UUID(int=chain_id), chain_id, account, is_local)

    places = Places()
    with places.hold(turn(1, "a")) as first, places.hold(turn(1, "a")) as second:
        assert (first, second, places.take_missed()) == (True, True, [])
        with places.hold(turn(1, "a")) as third, places.hold(turn(1, "b")) as of_another:
            assert (third, of_another, places.take_missed()) == (False, True, [UUID(int=1)])
            with places.hold(turn(1, "c")) as beyond, places.hold(turn(2, "a")) as elsewhere:
                assert (beyond, elsewhere) == (False, True)
            with places.hold(turn(1, "a", is_local=True)) as local:
                assert local
    assert (places.take_missed(), places.take_missed()) == ([UUID(int=1)], [])
    with places.hold(turn(1, "a")) as again:
        assert again, "places are given back"


def test_a_wake_up_that_found_no_place_is_left_to_who_has_one(pair: tuple[LiveGolem, LiveGolem], settings: Any) -> None:
    settings.GOLEM_COMMITS_AT_ONCE_PER_CHAIN = 1
    permit_id = give(pair[1])
    (turn,) = list_turns(permit_id=permit_id, now=clock.now())
    with PLACES.hold(turn) as has_place:
        assert has_place and commit_in_turn(permit_id=permit_id) == []
        assert PLACES.take_missed() == [permit_id]


def test_a_sent_permit_whose_wake_up_found_no_place_is_gone_on_with_by_who_gives_one_back(
    pair: tuple[LiveGolem, LiveGolem], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else would look at it before the sweep: its wake-up is spent, and what is sent stands in no line."""
    golem = pair[1]
    settings.GOLEM_COMMITS_AT_ONCE_PER_ACCOUNT, settings.GOLEM_FIRST_LOOK_SECONDS = 1, 0
    sent, other = give(golem), give(golem, amount="93000000")
    with mining_paused(golem.world):
        golem.work(str(sent))
    # What is not mined at a first look is looked at once more: here each is looked for until it is.
    met, settings.GOLEM_FIRST_LOOK_SECONDS = list[UUID](), 30

    def meet(*, permit_id: UUID) -> dict[str, Any] | None:
        if not met:
            met.append(permit_id)
            assert commit_in_turn(permit_id=sent) == []
        return commit_permit(permit_id=permit_id)

    monkeypatch.setattr("permits_app.actions.commit_in_turn.commit_permit", meet)
    worked = [permit["permit_id"] for permit in commit_in_turn(permit_id=other)]
    assert (met, worked) == ([other], [str(other), str(sent)])
    assert golem.permit(str(sent)).status == PermitStatus.COMMITTED
    assert PLACES.take_missed() == []


def test_more_wake_ups_than_one_worker_goes_on_with_are_left_to_the_next(
    pair: tuple[LiveGolem, LiveGolem], monkeypatch: pytest.MonkeyPatch
) -> None:
    golem = pair[1]
    permit_id = give(golem)
    PLACES.leave_missed(UUID(int=number) for number in range(1, 31))
    assert len(commit_in_turn(permit_id=permit_id)) == 1
    left = PLACES.take_missed()
    assert 0 < len(left) < 30 and UUID(int=30) in left


def test_a_new_commit_of_a_blocked_account_is_refused_at_once_and_stays_committable(
    live_golem: LiveGolem, settings: Any
) -> None:
    settings.GOLEM_FIRST_LOOK_SECONDS = 0
    waiting = live_golem.preview(amount="92000000")["permit_id"]
    with mining_paused(live_golem.world):
        stuck = give(live_golem)
        live_golem.work(str(stuck))
        sent = OutboundTransaction.objects.filter(permit_id=stuck).order_by("nonce").first()
        assert sent is not None
        border = sent.created_at + timedelta(seconds=settings.GOLEM_BLOCKED_AFTER_SECONDS)
        with pytest.raises(AccountBlocked) as refused:
            start_commit(golem=live_golem.golem, permit_id=UUID(waiting), actor="t", now=border)
        data = refused.value.as_problem()
        assert (data["recovery"], data["nonce"], data["tx_hash"]) == ("WAIT", sent.nonce, sent.tx_hash)
        assert data["since"] and data["cleared_by"] and data["retry_after_seconds"]
        assert live_golem.permit(waiting).status == PermitStatus.CREATED
    live_golem.work(str(stuck))
    start_commit(golem=live_golem.golem, permit_id=UUID(waiting), actor="t", now=clock.now())
    assert live_golem.permit(waiting).status == PermitStatus.COMMITTING


@pytest.mark.parametrize("late", [timedelta(microseconds=-1), timedelta(0)])
def test_an_account_is_blocked_from_its_time_on(live_golem: LiveGolem, settings: Any, late: timedelta) -> None:
    settings.GOLEM_FIRST_LOOK_SECONDS = 0
    waiting = live_golem.preview(amount="92000000")["permit_id"]
    with mining_paused(live_golem.world):
        stuck = give(live_golem)
        live_golem.work(str(stuck))
        [oldest] = OutboundTransaction.objects.filter(permit_id=stuck).order_by("created_at")[:1]
        now = oldest.created_at + timedelta(seconds=settings.GOLEM_BLOCKED_AFTER_SECONDS) + late
        if late:
            start_commit(golem=live_golem.golem, permit_id=UUID(waiting), actor="t", now=now)
        else:
            with pytest.raises(AccountBlocked):
                start_commit(golem=live_golem.golem, permit_id=UUID(waiting), actor="t", now=now)


@pytest.mark.parametrize("late", [timedelta(microseconds=-1), timedelta(0)])
def test_a_chain_is_down_from_its_time_on(live_golem: LiveGolem, settings: Any, late: timedelta) -> None:
    permit_id, now = UUID(live_golem.preview()["permit_id"]), clock.now()
    since = now - timedelta(seconds=settings.GOLEM_CHAIN_DOWN_AFTER_SECONDS) - late
    ChainWatch.objects.create(chain_id=CHAIN_ID, looked_at=now, failing_since=since, error_code="RPC_TIMEOUT")
    if late:
        start_commit(golem=live_golem.golem, permit_id=permit_id, actor="t", now=now)
        return
    with pytest.raises(ChainStuck) as refused:
        start_commit(golem=live_golem.golem, permit_id=permit_id, actor="t", now=now)
    data = refused.value.as_problem()
    assert (data["recovery"], data["cause"], data["since"]) == ("WAIT", "RPC_TIMEOUT", since.isoformat())
    assert live_golem.permit(str(permit_id)).status == PermitStatus.CREATED
    # What nobody has looked at for two leases is no word about the chain any more.
    quiet = timedelta(seconds=2 * settings.GOLEM_FOLLOWER_LEASE_SECONDS)
    start_commit(golem=live_golem.golem, permit_id=permit_id, actor="t", now=now + quiet)


def test_a_chain_whose_node_hangs_takes_no_threads_and_goes_on_when_it_answers(
    live_golem: LiveGolem, node: FailingNode, settings: Any
) -> None:
    started, fresh = give(live_golem), live_golem.preview(amount="93000000")["permit_id"]
    follower = Follower(CHAIN_ID, hand=lambda permit_id: None)
    node.rule = lambda methods: (429, b"slow down")
    follower.look(now=clock.now() - timedelta(seconds=settings.GOLEM_CHAIN_DOWN_AFTER_SECONDS))
    follower.look(now=clock.now())
    node.asked.clear()
    assert tasks.commit_permit_task.run(permit_id=str(started)) == {"ok": []}
    assert list_unfinished(now=clock.now() + timedelta(seconds=4)) == []
    with pytest.raises(ChainStuck):
        live_golem.start(fresh)
    assert node.asked == [], "nothing asks the node but its follower"
    node.rule = lambda methods: None
    follower.look(now=clock.now() + timedelta(seconds=2))
    assert list_unfinished(now=clock.now() + timedelta(seconds=4)) == [started]
    [done] = tasks.commit_permit_task.run(permit_id=str(started))["ok"]
    assert done["status"] == "COMMITTED"


def test_a_permit_that_outlived_its_queue_is_ended_and_its_agent_told(live_golem: LiveGolem) -> None:
    permit_id = give(live_golem)
    ends = live_golem.permit(str(permit_id)).expires_at
    assert end_outlived(now=ends - timedelta(microseconds=1)) == 0
    assert end_outlived(now=let_pass_until(ends)) == 1
    row = live_golem.permit(str(permit_id))
    assert (row.status, row.problem["code"], row.problem["recovery"]) == (
        "BLOCKED",
        "COMMIT_NOT_SIGNED",
        "PREVIEW_AGAIN",
    )
    assert row.problem["cleared_by"] and row.problem["cause"] == "WORKER_TIMEOUT"
    assert SpendEntry.objects.get(permit_id=permit_id).state == SpendState.RELEASED
    [told] = OutboxEvent.objects.filter(golem_id=live_golem.golem.pk, type="permit:blocked")
    assert told.payload["code"] == "COMMIT_NOT_SIGNED"


def test_who_waits_is_woken_by_the_end_of_the_permit_in_another_process(
    shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = give(shared_golem)
    monkeypatch.setattr(tasks.commit_permit_task, "apply_async", lambda **_: None)
    # Who does not hear the tap would look only when all its time is over.
    monkeypatch.setattr("permits_app.doors.hand_to_worker._LOOK_SECONDS", 3_600)
    with wake_waiting_process.waiting_for("warm"):
        pass
    shared_golem.permit(str(permit_id))
    woken = threading.Event()

    def wait() -> None:
        try:
            hand_to_worker(permit_id=permit_id, wait_seconds=3_600, request_id="r")
            woken.set()
        finally:
            connection.close()

    waiter = threading.Thread(target=wait, daemon=True)
    waiter.start()
    deadline = Deadline.after_ms(60_000)
    listener = wake_waiting_process._listener
    assert listener is not None
    while not listener._waiters and not deadline.is_over:
        threading.Event().wait(0.01)
    run_elsewhere(permit_id)
    assert woken.wait(60)
    waiter.join(60)
    assert shared_golem.permit(str(permit_id)).status == PermitStatus.COMMITTED


def run_elsewhere(permit_id: UUID) -> None:
    """The worker's share in a process of its own, which knows nobody here."""
    import os
    import subprocess
    import sys

    from django.db import connections

    database = os.environ["DATABASE_URL"].rpartition("/")[0] + "/" + connections["default"].settings_dict["NAME"]
    script = (
        "import django; django.setup()\n"
        "from uuid import UUID\n"
        "from permits_app.actions.commit import commit_permit\n"
        f"print(commit_permit(permit_id=UUID('{permit_id}'))['status'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "golem_project.settings.test"},
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.stdout.split()[-1:] == ["COMMITTED"], done.stderr
