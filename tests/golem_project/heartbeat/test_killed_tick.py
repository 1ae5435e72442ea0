"""A tick killed at any step, or whose database goes away there, loses nothing and doubles nothing.

The worker is a forked process that ends with `os._exit` at the step, so no `finally` of ours runs. Then its leases run
out, the sweep looks, and the golem goes on ticking until it has what its rule asks for: one position, opened once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections

from archetypes_app.models import DecisionCycleRecord, Golem, HeartbeatTick
from golem_project.heartbeat import cycle, tick_claims
from golem_project.heartbeat.steps import execute as execute_step
from golem_project.heartbeat.steps import reflect as reflect_step
from golem_project.heartbeat.steps import simulate as simulate_step
from permits_app.actions.commit import commit_permit
from permits_app.actions.sweep_permits import list_unfinished, sweep_permits
from permits_app.execution import broadcast, executor
from permits_app.models import ActionPermit, OutboundTransaction, SpendEntry
from permits_app.models.action_record import OPEN_STATES, ActionRecord
from permits_app.models.spending import SpendState
from tests.golem_project.heartbeat.pulses import claim_one, tick, turn_on, work_here
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import OutboxEvent

KILLED = 9

STEPS: dict[str, tuple[ModuleType, str, bool]] = {
    # name: (module, attribute, whether the step itself still happens)
    "after the tick began": (tick_claims, "begin_tick", True),
    "before OBSERVE": (cycle, "observe", False),
    "after OBSERVE": (cycle, "observe", True),
    "after RETRIEVE": (cycle, "retrieve", True),
    "after ANALYZE": (cycle, "analyze", True),
    "after GATE": (cycle, "gate", True),
    "after the action is written": (simulate_step, "open_action", True),
    "before the preview": (simulate_step, "preview_action", False),
    "after the preview, before it is noted": (simulate_step, "preview_action", True),
    "after SIMULATE": (cycle, "simulate", True),
    "after VALIDATE": (cycle, "validate", True),
    "before the commit starts": (execute_step, "start_commit", False),
    "inside the transaction of the commit's start": (execute_step, "start_commit", True),
    "after the bytes are stored": (executor, "store_signed", True),
    "after the first bytes are sent": (broadcast, "send_raw", True),
    "after EXECUTE": (cycle, "execute", True),
    "after VERIFY": (cycle, "verify", True),
    "before REFLECT": (cycle, "reflect", False),
    "inside the transaction of the tick's end": (reflect_step.tick_claims, "end_tick", True),
    "after REFLECT": (cycle, "reflect", True),
}


def run_killed_tick(golem: Golem, target: ModuleType, name: str, happens: bool) -> int:
    """Fork a worker that dies at the step; returns its exit status."""
    claim = claim_one(golem)
    original: Callable[..., Any] = getattr(target, name)

    def step_then_die(*args: Any, **kwargs: Any) -> Any:
        if happens:
            original(*args, **kwargs)
        os._exit(KILLED)

    pid = os.fork()
    if pid == 0:
        try:
            setattr(target, name, step_then_die)
            cycle.run_heartbeat_tick(claim=claim, work=work_here)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def let_time_pass(golem: Golem) -> None:
    """Leases of the dead run out and the sweep hands on what they left, as it does every three seconds."""
    for seconds in (settings.GOLEM_COMMIT_LEASE_SECONDS, settings.GOLEM_HEARTBEAT_LEASE_SECONDS):
        let_pass(timedelta(seconds=seconds))
        sweep_permits(now=clock.now())
        for permit_id in list_unfinished(now=clock.now()):
            commit_permit(permit_id=permit_id)


def assert_one_position_opened_once(live: LiveGolem) -> None:
    golem = live.golem
    records = [tick(golem) for _ in range(4)]
    # A permit nobody noted down before the kill ends with its third tick, and its reservation with it.
    sweep_permits(now=clock.now())
    held = [each for each in records[-1].probes["positions"] if each["liquidity"] != "0"]
    assert len(held) == 1 and held[0]["in_range"]
    executed = ActionRecord.objects.filter(golem=golem, permit__status="COMMITTED")
    committed = ActionPermit.objects.filter(golem=golem, status="COMMITTED")
    assert committed.count() == 1 and committed.get().action_type == "add_liquidity"
    assert executed.count() == 1
    assert live.mined_nonce() == OutboundTransaction.objects.count() == len(committed.get().calls)
    assert not ActionRecord.objects.filter(golem=golem, state__in=[str(each) for each in OPEN_STATES]).exists()
    assert not SpendEntry.objects.filter(golem=golem, state=SpendState.RESERVED).exists()
    numbers = list(HeartbeatTick.objects.filter(golem=golem).order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    assert not HeartbeatTick.objects.filter(golem=golem, status="RUNNING").exists()
    assert DecisionCycleRecord.objects.filter(golem=golem).count() == len(numbers)
    events = OutboxEvent.objects.filter(golem_id=golem.pk).order_by("sequence")
    sequence = list(events.values_list("sequence", flat=True))
    assert sequence == list(range(1, len(sequence) + 1))
    completed = OutboxEvent.objects.filter(golem_id=golem.pk, type="heartbeat:complete")
    ended = HeartbeatTick.objects.filter(golem=golem, status="COMPLETE").count()
    assert completed.count() == ended
    assert verify_stored_chain(golem.pk).broken is None


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("step", STEPS)
def test_a_tick_killed_at_any_step_loses_and_doubles_nothing(shared_golem: LiveGolem, step: str) -> None:
    target, name, happens = STEPS[step]
    turn_on(shared_golem.golem)
    assert run_killed_tick(shared_golem.golem, target, name, happens) == KILLED
    let_time_pass(shared_golem.golem)
    assert_one_position_opened_once(shared_golem)


@pytest.mark.parametrize("step", [name for name in STEPS if name not in ("after REFLECT",)])
def test_a_database_that_goes_away_at_any_step_loses_and_doubles_nothing(
    shared_golem: LiveGolem, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, name, happens = STEPS[step]
    turn_on(shared_golem.golem)
    claim = claim_one(shared_golem.golem)
    original: Callable[..., Any] = getattr(target, name)
    cut: list[str] = []

    def step_then_cut(*args: Any, **kwargs: Any) -> Any:
        answer = original(*args, **kwargs) if happens or cut else None
        if not cut:
            cut.append(name)
            cut_connection()
        return answer if happens or len(cut) > 1 else original(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(target, name, step_then_cut)
        try:
            cycle.run_heartbeat_tick(claim=claim, work=work_here)
        except OperationalError:
            connection.close()
    assert cut, "the step was not reached"
    connection.close()
    let_time_pass(shared_golem.golem)
    assert_one_position_opened_once(shared_golem)


def cut_connection() -> None:
    """The server ends this process's connection, as a restart would."""
    assert connection.connection is not None
    mine = connection.connection.info.backend_pid
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [mine])
    finally:
        other.close()


def test_a_queue_that_is_down_when_the_commit_starts_loses_nothing(
    shared_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kombu.exceptions import OperationalError as QueueDown

    from golem_project.heartbeat.wait_for_commit import hand_to_worker

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise QueueDown("connection refused")

    turn_on(shared_golem.golem)
    monkeypatch.setattr("permits_app.tasks.commit_permit_task.apply_async", refuse)
    record = cycle.run_heartbeat_tick(claim=claim_one(shared_golem.golem), work=hand_to_worker)
    assert record is not None
    action = ActionRecord.objects.get(tick_id=record.tick_id)
    assert action.state == "COMMITTING"
    let_time_pass(shared_golem.golem)
    assert_one_position_opened_once(shared_golem)
