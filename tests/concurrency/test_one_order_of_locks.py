"""Deadlocks: ordinary actions of one golem at once never meet in one, and what PostgreSQL gives up is done again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from archetypes_app.errors import GolemHalted
from archetypes_app.models import Golem
from permits_app.actions.halt import halt_golem
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.halts.resume import resume_golem
from permits_app.models import OutboundTransaction, SpendEntry
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import TransactionState
from tests.concurrency.waiting import somebody_waits
from tests.live_golem import LiveGolem
from tests.memory_app.factories import remember
from tests.permits_app.execution.chain_tricks import mine, reorganise
from tests.watched_locks import Watch
from tools_app.core import audit_log, clock, event_bus
from tools_app.core.clock import Deadline
from tools_app.core.events import Event, EventType
from tools_app.core.models import AuditEntry, EventSequence, OutboxEvent
from tools_app.core.transaction_retry import MOST_ATTEMPTS, count_repeated, retry_aborted

OTHERS = ("open a permit", "start a commit", "remember")


@contextmanager
def pausing_at(mark: str, pause: Callable[[], None]) -> Iterator[None]:
    """Calls `pause` before the first statement of this thread's session that names `mark`."""
    is_over = False

    def look(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal is_over
        if mark in sql and not is_over:
            is_over = True
            pause()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(look):
        yield
    assert is_over, f"nothing named {mark}"


def in_thread(pool: ThreadPoolExecutor, call: Callable[[], Any]) -> Future[Any]:
    def run() -> Any:
        try:
            return call()
        finally:
            connection.close()

    return pool.submit(run)


def prepare(live: LiveGolem, other: str) -> Callable[[], Any]:
    """What another agent or worker does beside a halt."""
    if other == "open a permit":
        # The first one writes the golem's mark, and would wait there with nothing in its hands.
        live.preview(amount="400000000")
        return lambda: live.preview()["permit_id"]
    if other == "remember":
        return lambda: remember(live.golem, "a swap beside a halt", use_model=False)
    permit_id = live.preview()["permit_id"]
    return lambda: live.start(permit_id)


@pytest.mark.parametrize("other", OTHERS)
def test_an_action_beside_a_change_of_its_golem_is_no_deadlock(shared_golem: LiveGolem, other: str) -> None:
    """The golem's row is held by a halt, and the other one is as far as it comes, before the halt tells of itself."""
    golem = shared_golem.golem
    resume_golem(golem=golem, reason="warm", actor="owner:1", now=clock.now())
    act = prepare(shared_golem, other)
    with ThreadPoolExecutor(1) as pool:
        acted: list[Future[Any]] = []

        def let_the_other_come() -> None:
            acted.append(in_thread(pool, act))
            give_up = Deadline.after_ms(60_000)
            while not acted[0].done() and not somebody_waits():
                assert not give_up.is_over, "the other one neither ended nor waited"

        with pausing_at("lock_audit_head", let_the_other_come):
            halt_golem(golem=golem, reason="beside", actor="owner:1", now=clock.now())
        error = acted[0].exception(timeout=30)
    # A start may find the golem halted; nothing else goes wrong, and nothing had to be done twice.
    assert error is None or (other == "start a commit" and isinstance(error, GolemHalted))
    assert count_repeated() == {}


def test_two_agents_at_once_never_deadlock(shared_golem: LiveGolem) -> None:
    golem = shared_golem.golem
    gate = threading.Barrier(4)

    def agent(number: int) -> None:
        gate.wait(timeout=30)
        for round_ in range(4):
            permit = shared_golem.preview(amount=str(10_000_000 + 100 * number + round_))
            if permit["status"] == PermitStatus.CREATED:
                shared_golem.start(permit["permit_id"])

    def owner() -> None:
        gate.wait(timeout=30)
        for _ in range(12):
            with transaction.atomic():
                Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)
                Golem.objects.filter(pk=golem.pk).update(halt_reason="")
                audit_log.append(golem_id=golem.pk, event="Touched", actor="owner:1", data={}, now=clock.now())

    def memory() -> None:
        gate.wait(timeout=30)
        for number in range(12):
            remember(golem, f"swap {number} beside others", use_model=False)

    with ThreadPoolExecutor(4) as pool:
        calls = (lambda: agent(1), lambda: agent(2), owner, memory)
        for done in [in_thread(pool, call) for call in calls]:
            done.result(timeout=90)
    assert count_repeated() == {}
    assert AuditEntry.objects.filter(golem_id=golem.pk, event="PermitCommitStarted").count() == 8


@pytest.mark.locks_at_will
def test_what_a_deadlock_ended_is_done_again_whole_and_counted(transactional_db: None) -> None:
    first, second = uuid4(), uuid4()
    EventSequence.objects.bulk_create([EventSequence(golem_id=first), EventSequence(golem_id=second)])
    gate = threading.Barrier(2, timeout=30)
    tries: dict[Any, int] = {first: 0, second: 0}

    @retry_aborted
    def lock_both(mine: Any, other: Any) -> None:
        tries[mine] += 1
        with transaction.atomic():
            event_bus.emit(golem_id=mine, event=Event(EventType.HALT_RESUMED, {"reason": "mine"}), now=clock.now())
            audit_log.append(golem_id=mine, event="Tried", actor="owner:1", data={}, now=clock.now())
            if tries[mine] == 1:
                gate.wait()
            event_bus.lock_golem(other)

    def play(mine: Any, other: Any) -> None:
        with event_bus.holding(golem_id=mine, now=clock.now()):
            held = Event(EventType.HALT_RESUMED, {"reason": "held"})
            event_bus.hold(golem_id=mine, events=[held], now=clock.now())
            lock_both(mine, other)

    with ThreadPoolExecutor(2) as pool:
        both = (lambda: play(first, second), lambda: play(second, first))
        for done in [in_thread(pool, call) for call in both]:
            done.result(timeout=60)
    assert sorted(tries.values()) == [1, 2]
    assert count_repeated() == {"deadlock": 1}
    for golem_id in (first, second):
        told = OutboxEvent.objects.filter(golem_id=golem_id).order_by("sequence")
        assert [event.payload["reason"] for event in told] == ["held", "mine"]
        assert AuditEntry.objects.filter(golem_id=golem_id).count() == 1


def test_what_is_given_up_again_and_again_is_given_up(transactional_db: None) -> None:
    tries: list[int] = []

    @retry_aborted
    def fail() -> None:
        tries.append(1)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$")

    with pytest.raises(Exception, match="40001|serialization|could not"):
        fail()
    assert len(tries) == MOST_ATTEMPTS
    assert count_repeated() == {"serialization failure": MOST_ATTEMPTS - 1}


@pytest.mark.locks_at_will
def test_a_transaction_that_breaks_the_order_is_noticed_without_anybody_waiting(transactional_db: None) -> None:
    watch, golem_id = Watch(), uuid4()
    watch.watch(connection)
    try:
        with transaction.atomic():
            audit_log.append(golem_id=golem_id, event="First", actor="owner:1", data={}, now=clock.now())
            Golem.objects.filter(pk=golem_id).update(halt_reason="")
        with transaction.atomic():
            Golem.objects.select_for_update().filter(pk=golem_id).first()
    finally:
        connection.execute_wrappers.pop()
    assert [line.partition("\n")[0] for line in watch.broken] == [
        "archetypes_app_golem is locked after tools_app_eventsequence",
        "archetypes_app_golem is locked after tools_app_audithead",
        "archetypes_app_golem is locked with its key, and others name its rows",
    ]


@pytest.fixture
def given_up_once(transactional_db: None) -> Iterator[Callable[[str], None]]:
    """Has the database end the first transaction that writes this audit entry, as one of a deadlock."""

    def give_up(event: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(_GIVE_UP_SQL, {"event": event})

    yield give_up
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION IF EXISTS give_up_once() CASCADE; DROP SEQUENCE IF EXISTS given_up")


# A sequence keeps its count when the transaction that moved it is rolled back.
_GIVE_UP_SQL = f"""
CREATE SEQUENCE given_up;
CREATE FUNCTION give_up_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.event = TG_ARGV[0] AND nextval('given_up') = 1 THEN
        RAISE EXCEPTION 'given up for others' USING ERRCODE = '40P01';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER give_up BEFORE INSERT ON {AuditEntry._meta.db_table}
    FOR EACH ROW EXECUTE FUNCTION give_up_once(%(event)s);
"""


@pytest.mark.parametrize("event", ["TransactionReorged", "OutcomeTakenBack", "ChainRolledBack"])
def test_what_is_given_up_of_a_rollback_of_the_chain_is_done_again_whole(
    shared_golem: LiveGolem, given_up_once: Callable[[str], None], event: str
) -> None:
    permit_id = str(shared_golem.preview()["permit_id"])
    shared_golem.commit(permit_id)
    mine(shared_golem.world, 2)
    reconcile_transactions(now=clock.now())
    rows = OutboundTransaction.objects.filter(permit_id=UUID(permit_id))
    assert set(rows.values_list("state", flat=True)) == {TransactionState.FINAL}
    given_up_once(event)
    head, mined = int(shared_golem.world.rpc.call("eth_blockNumber"), 16), shared_golem.mined_nonce()
    reorganise(shared_golem.world, head - min(row.block_number or 0 for row in rows) + 1)
    done = reconcile_transactions(now=clock.now())
    assert count_repeated() == {"deadlock": 1}
    assert (done["rolled_back"], done["reorged"], done["reopened"]) == (1, rows.count(), 1)
    entries = AuditEntry.objects.filter(golem_id=shared_golem.golem.pk)
    lost = entries.filter(event="TransactionReorged")
    assert lost.count() == rows.count() and all(entry.data["was_final"] for entry in lost)
    assert entries.filter(event__in=["OutcomeTakenBack", "ChainRolledBack"]).count() == 2
    states = SpendEntry.objects.filter(permit_id=UUID(permit_id)).order_by("pk").values_list("state", flat=True)
    assert list(states) == ["SETTLED", "REVERSED", "RESERVED"]
    shared_golem.wait_until_mined(mined)
    shared_golem.work(permit_id)
    assert shared_golem.permit(permit_id).status == PermitStatus.COMMITTED
