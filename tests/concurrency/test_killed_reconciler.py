"""A reconciler killed at any step: the next round ends what it began, one action per nonce, nothing moved twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from permits_app import ledger, lifecycle
from permits_app.execution import broadcast, reconcile, replacement
from permits_app.execution.nonces import reserve_nonces
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction, SpendEntry
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import IN_A_BLOCK, PayloadPurpose
from tests.concurrency.test_killed_halt import KILLED, run_killed
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused, reorganise
from tools_app.core import clock

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
LATE = timedelta(seconds=91)

FILLING: dict[str, tuple[Any, str, bool]] = {
    "before the fill is signed": (replacement, "open_signer", False),
    "after the fill is stored": (replacement, "store_payload", True),
    "before the fill is sent": (replacement, "send_payload", False),
    "after the fill is sent": (replacement, "send_payload", True),
}
SPEEDING: dict[str, tuple[Any, str, bool]] = {
    "before the replacement is signed": (replacement, "open_signer", False),
    "after the replacement is stored": (replacement, "store_payload", True),
    "before the replacement is sent": (broadcast, "send_raw", False),
    "after the replacement is sent": (broadcast, "send_raw", True),
    "after the stuck one is replaced": (replacement, "speed_up", True),
}
REOPENING: dict[str, tuple[Any, str, bool]] = {
    "before the reorganisation is noted": (reconcile, "_note_reorg", False),
    "after the reorganisation is noted": (reconcile, "_note_reorg", True),
    "after the permit is unknown again": (lifecycle, "transition", True),
    "after its reservation is open again": (ledger, "reopen", True),
}


def reconcile_killed(step: tuple[Any, str, bool], *, late: timedelta = timedelta(0)) -> None:
    """A forked reconciler that dies at the step."""
    assert run_killed(lambda: reconcile_transactions(now=clock.now() + late), *step) == KILLED


def let_time_pass(golem: LiveGolem) -> None:
    """Leases of the dead run out; workers and the reconciler take up what is left."""
    for _ in range(4):
        mine(golem.world)
        unfinished = ActionPermit.objects.filter(status__in=[str(state) for state in UNFINISHED])
        unfinished.update(lease_expires_at=clock.now() - timedelta(seconds=1))
        for permit_id in unfinished.values_list("pk", flat=True):
            with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=2):
                golem.work(str(permit_id))
        reconcile_transactions(now=clock.now())


@pytest.mark.parametrize("step", FILLING)
def test_a_hole_is_filled_once_whatever_step_kills_the_reconciler(shared_golem: LiveGolem, step: str) -> None:
    lost = shared_golem.permit(shared_golem.preview()["permit_id"])
    used = shared_golem.permit(shared_golem.preview(amount="400000000")["permit_id"])
    for permit in (lost, used):
        reserve_nonces(permit_id=permit.pk, chain_id=31337, address=permit.signer, count=1, pending_nonce=0)
    NonceReservation.objects.filter(permit=lost).update(state="ABANDONED", permit=None)
    reconcile_killed(FILLING[step])
    let_time_pass(shared_golem)
    (fill,) = OutboundTransaction.objects.filter(purpose=PayloadPurpose.FILL)
    assert fill.state in IN_A_BLOCK
    assert (fill.nonce, fill.to, fill.value_wei) == (0, fill.sender, "0")
    assert shared_golem.mined_nonce() == 1


@pytest.mark.parametrize("step", SPEEDING)
def test_a_stuck_call_moves_money_once_whatever_step_kills_the_reconciler(shared_golem: LiveGolem, step: str) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    usdc = shared_golem.balance("USDC")
    with mining_paused(shared_golem.world):
        shared_golem.start(permit_id)
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
            shared_golem.work(permit_id)
        reconcile_killed(SPEEDING[step], late=LATE)
    let_time_pass(shared_golem)
    assert shared_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - shared_golem.balance("USDC") == 500_000_000
    assert shared_golem.mined_nonce() == 2
    rows = OutboundTransaction.objects.filter(permit_id=permit_id)
    assert {row.action_digest for row in rows if row.nonce == 0} == {rows.order_by("pk")[0].action_digest}
    mined = [row.nonce for row in rows if row.state in IN_A_BLOCK]
    assert sorted(mined) == [0, 1]


@pytest.mark.parametrize("step", REOPENING)
def test_a_reorganised_call_is_sent_again_once_whatever_step_kills_the_reconciler(
    shared_golem: LiveGolem, step: str
) -> None:
    permit_id = shared_golem.preview()["permit_id"]
    usdc = shared_golem.balance("USDC")
    shared_golem.commit(permit_id)
    before = list(OutboundTransaction.objects.order_by("pk").values_list("tx_hash", "raw"))
    head = int(shared_golem.world.rpc.call("eth_blockNumber"), 16)
    first = min(row.block_number or 0 for row in OutboundTransaction.objects.all())
    reorganise(shared_golem.world, head - first + 1)
    reconcile_killed(REOPENING[step])
    let_time_pass(shared_golem)
    assert list(OutboundTransaction.objects.order_by("pk").values_list("tx_hash", "raw")) == before
    assert shared_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert SpendEntry.objects.get(permit_id=permit_id).state == SpendState.SETTLED
    assert usdc - shared_golem.balance("USDC") == 500_000_000
