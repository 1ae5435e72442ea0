"""A worker killed at any step of carrying out a halt: the next one ends it, nothing is moved, approvals fall."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from permits_app import capabilities
from permits_app.actions import halt as halt_module
from permits_app.actions.sweep import list_unfinished
from permits_app.execution import cancellation, executor, halt_permits, replacement, unwinding
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, HaltRecord, HaltSetting, OutboundTransaction
from permits_app.models.permit import UNFINISHED
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tests.permits_app.execution.test_halt import allowance_on_chain, give_allowance, halt
from tests.permits_app.execution.test_unwinding import liquidity_of
from tests.permits_app.safety.calls import open_position
from tools_app.core import clock

KILLED = 9
STEPS: dict[str, tuple[Any, str, bool]] = {
    "before the first cancellation is signed": (replacement, "open_signer", False),
    "after the first cancellation is stored": (replacement, "store_payload", True),
    "before the first cancellation is sent": (replacement, "send_payload", False),
    "after the first cancellation is sent": (replacement, "send_payload", True),
    "before the winners are looked up": (cancellation, "_find_winner", False),
    "before the allowances are revoked": (halt_module, "_revoke", False),
    "after the revocation has a permit": (halt_permits, "_open_permit", True),
    "after its capability is minted": (capabilities, "mint", True),
    "before its bytes are stored": (executor, "store_signed", False),
    "after its bytes are stored": (executor, "store_signed", True),
    "before its outcome is judged": (halt_permits, "finish", False),
    "after the allowances are revoked": (halt_module, "_revoke", True),
}


def run_killed(call: Callable[[], Any], target: Any, name: str, happens: bool) -> int:
    """Fork a worker that dies at the step; returns its exit status."""
    original: Callable[..., Any] = getattr(target, name)

    def step_then_die(*args: Any, **kwargs: Any) -> Any:
        if happens:
            original(*args, **kwargs)
        os._exit(KILLED)

    pid = os.fork()
    if pid == 0:
        try:
            setattr(target, name, step_then_die)
            call()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("step", STEPS)
def test_a_halt_survives_a_worker_killed_at_any_step(
    shared_golem: LiveGolem, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(halt_module, "_CANCEL_WAIT_MS", 100)
    target, name, happens = STEPS[step]
    spender = shared_golem.world.new_account().address
    give_allowance(shared_golem, "USDC", spender, 5_000_000)
    permit_id = shared_golem.preview()["permit_id"]
    balance = shared_golem.balance("USDC")
    with mining_paused(shared_golem.world):
        shared_golem.start(permit_id)
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.1):
            shared_golem.work(permit_id)
        epoch = halt(shared_golem)["epoch"]

        def carry_out() -> None:
            with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.3):
                halt_module.carry_out_halt(golem_id=shared_golem.golem.pk, epoch=epoch, now=clock.now())

        assert run_killed(carry_out, target, name, happens) == KILLED
        carry_out()
        mine(shared_golem.world)
    # Time passes: leases of the dead run out, and the beat's tasks find what is left.
    for _ in range(4):
        mine(shared_golem.world)
        ActionPermit.objects.filter(status__in=[str(state) for state in UNFINISHED]).update(
            lease_expires_at=clock.now() - timedelta(seconds=1)
        )
        for unfinished in list_unfinished(now=clock.now() + timedelta(minutes=1)):
            with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=2):
                shared_golem.work(str(unfinished))
        reconcile_transactions(now=clock.now())
        for golem_id, open_epoch in halt_module.list_unfinished_halts():
            halt_module.carry_out_halt(golem_id=golem_id, epoch=open_epoch, now=clock.now())
    assert HaltRecord.objects.get().completed_at is not None
    assert shared_golem.permit(permit_id).status == "REVERTED"
    assert shared_golem.balance("USDC") == balance
    assert allowance_on_chain(shared_golem, "USDC", spender) == 0
    live = OutboundTransaction.objects.filter(is_live=True)
    nonces = sorted(live.values_list("nonce", flat=True))
    assert nonces == list(range(nonces[0], nonces[0] + len(nonces)))
    assert shared_golem.mined_nonce() == nonces[-1] + 1


UNWINDING: dict[str, tuple[Any, str, bool]] = {
    "before the position is looked at": (unwinding, "_unwind", False),
    "after its unwinding has a permit": (halt_permits, "_open_permit", True),
    "before its bytes are stored": (executor, "store_signed", False),
    "after its bytes are stored": (executor, "store_signed", True),
    "before its outcome is judged": (halt_permits, "finish", False),
    "after the position is unwound": (unwinding, "_unwind", True),
}


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("step", UNWINDING)
def test_unwinding_survives_a_worker_killed_at_any_step(shared_golem: LiveGolem, step: str) -> None:
    target, name, happens = UNWINDING[step]
    position_id = open_position(shared_golem, shared_golem.world)
    HaltSetting.objects.create(golem=shared_golem.golem, unwind_on_halt=True)
    sent = shared_golem.mined_nonce()
    epoch = halt(shared_golem)["epoch"]

    def carry_out() -> None:
        halt_module.carry_out_halt(golem_id=shared_golem.golem.pk, epoch=epoch, now=clock.now())

    assert run_killed(carry_out, target, name, happens) == KILLED
    for _ in range(3):
        ActionPermit.objects.filter(status__in=[str(state) for state in UNFINISHED]).update(
            lease_expires_at=clock.now() - timedelta(seconds=1)
        )
        for unfinished in list_unfinished(now=clock.now() + timedelta(minutes=1)):
            shared_golem.work(str(unfinished))
        reconcile_transactions(now=clock.now())
        for golem_id, open_epoch in halt_module.list_unfinished_halts():
            halt_module.carry_out_halt(golem_id=golem_id, epoch=open_epoch, now=clock.now())
    assert HaltRecord.objects.get().completed_at is not None
    assert liquidity_of(shared_golem, position_id) == 0
    assert shared_golem.mined_nonce() == sent + 1
    assert OutboundTransaction.objects.filter(is_live=True).count() == 1
