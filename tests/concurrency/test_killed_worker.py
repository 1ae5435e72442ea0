"""A worker killed between any two steps of a commit loses nothing and doubles nothing.

The worker is a forked process that ends with `os._exit` at the named step, so no `finally` of ours runs:
its lease, its reservation and its stored bytes are left exactly as a kill leaves them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from permits_app import capabilities
from permits_app.actions import commit as commit_module
from permits_app.execution import broadcast, executor, settlement
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord, SpendEntry
from permits_app.models.spending import SpendState
from tests.live_golem import LiveGolem
from tools_app.core import clock

KILLED = 9

STEPS: dict[str, tuple[Any, str, bool]] = {
    # name: (module or class, attribute, whether the step itself still happens)
    "after the lease is taken": (commit_module, "take_lease", True),
    "before the hooks run again": (commit_module, "_recheck", False),
    "after the hooks ran again": (commit_module, "_recheck", True),
    "after the capability is minted": (capabilities, "mint", True),
    "after the nonces are reserved": (executor, "reserve_nonces", True),
    "after signing, before the bytes are stored": (executor, "store_signed", False),
    "after the bytes are stored": (executor, "store_signed", True),
    "before the first bytes are sent": (broadcast, "send_raw", False),
    "after the first bytes are sent": (broadcast, "send_raw", True),
    "after everything is sent, before the receipts": (executor, "_await_all", False),
    "after the first receipt is written": (executor, "record_receipt", True),
    "before the outcome is judged": (commit_module, "finish", False),
    "before the outcome is written": (settlement, "_close", False),
    "after the outcome is written": (settlement, "_close", True),
}


def run_killed_worker(golem: LiveGolem, permit_id: str, target: Any, name: str, happens: bool) -> int:
    """Fork a worker that dies at the step; returns its exit status."""
    original: Callable[..., Any] = getattr(target, name)

    def step_then_die(*args: Any, **kwargs: Any) -> Any:
        if happens:
            original(*args, **kwargs)
        os._exit(KILLED)

    for connection in connections.all():
        connection.close()
        if isinstance(connection, DatabaseWrapper):
            connection.close_pool()
    pid = os.fork()
    if pid == 0:
        try:
            setattr(target, name, step_then_die)
            golem.work(permit_id)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("step", STEPS)
def test_a_worker_killed_at_any_step_loses_and_doubles_nothing(shared_golem: LiveGolem, step: str) -> None:
    target, name, happens = STEPS[step]
    permit = shared_golem.preview()
    permit_id = permit["permit_id"]
    before = {symbol: shared_golem.balance(symbol) for symbol in ("USDC", "WETH")}
    shared_golem.start(permit_id)
    assert run_killed_worker(shared_golem, permit_id, target, name, happens) == KILLED
    # Time passes: the dead worker's lease runs out and the sweep hands the permit to another one.
    ActionPermit.objects.filter(pk=permit_id).update(lease_expires_at=clock.now() - timedelta(seconds=1))
    shared_golem.work(permit_id)
    shared_golem.work(permit_id)
    row = shared_golem.permit(permit_id)
    assert row.status == "COMMITTED", (row.status, row.status_reason, row.problem)
    assert before["USDC"] - shared_golem.balance("USDC") == 500_000_000
    predicted = {delta["symbol"]: int(delta["raw"]) for delta in permit["expected_outcome"]["balance_deltas"]}
    assert shared_golem.balance("WETH") - before["WETH"] == predicted["WETH"]
    assert shared_golem.mined_nonce() == OutboundTransaction.objects.count() == len(permit["calls"])
    assert OutcomeRecord.objects.get(permit_id=permit_id).is_verified
    assert SpendEntry.objects.get(permit_id=permit_id).state == SpendState.SETTLED
