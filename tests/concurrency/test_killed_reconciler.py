"""A reconciler that dies before each of its doors: the next round ends what it began, nothing is moved twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.test import override_settings

from permits_app.execution.nonces import reserve_nonces
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import IN_A_BLOCK, PayloadPurpose
from tests.concurrency.doors import is_change, kill_at_each_door
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tests.passing_time import let_pass
from tests.permits_app.execution.chain_tricks import mine, mining_paused, reorganise
from tools_app.core import clock

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]
LATE = timedelta(seconds=91)


def kill_reconciler_at_each_door(
    start: Callable[[LiveGolem], UUID], world: World, *, late: timedelta = timedelta(0)
) -> Iterator[tuple[LiveGolem, UUID, str | None]]:
    """A golem, the permit of `start` and the door its reconciler died before, for each door; None ends it."""

    def start_anew(number: int) -> tuple[LiveGolem, UUID]:
        golem = make_live_golem(world, name=f"Reconciled {number}")
        return golem, start(golem)

    def reconcile(_: tuple[LiveGolem, UUID]) -> None:
        reconcile_transactions(now=clock.now() + late)

    for (golem, permit_id), door in kill_at_each_door(start_anew, reconcile, is_door=is_change):
        yield golem, permit_id, door


def let_time_pass(golem: LiveGolem) -> None:
    """Leases of the dead run out; workers and the reconciler take up what is left."""
    for _ in range(4):
        mine(golem.world)
        unfinished = ActionPermit.objects.filter(status__in=[str(state) for state in UNFINISHED])
        let_pass(timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS))
        for permit_id in unfinished.values_list("pk", flat=True):
            golem.work(str(permit_id))
        reconcile_transactions(now=clock.now())


def test_a_hole_is_filled_once_whatever_door_the_reconciler_dies_before(local_chain: World) -> None:
    def start(golem: LiveGolem) -> UUID:
        """The first of two nonces was given back."""
        lost = golem.permit(golem.preview()["permit_id"])
        used = golem.permit(golem.preview(amount="400000000")["permit_id"])
        for permit in (lost, used):
            reserve_nonces(permit_id=permit.pk, chain_id=31337, address=permit.signer, count=1, pending_nonce=0)
        NonceReservation.objects.filter(permit=lost).update(state="ABANDONED", permit=None)
        return used.pk

    met: list[str | None] = []
    for golem, _, door in kill_reconciler_at_each_door(start, local_chain):
        where = f"door {len(met)}: {door}"
        let_time_pass(golem)
        [fill] = OutboundTransaction.objects.filter(sender=golem.golem.address, purpose=PayloadPurpose.FILL)
        assert fill.state in IN_A_BLOCK, where
        assert (fill.nonce, fill.to, fill.value_wei) == (0, fill.sender, "0"), where
        assert golem.mined_nonce() == 1, where
        met.append(door)
    assert {"eth_sendRawTransaction", "COMMIT"} <= set(met)


def test_a_stuck_call_moves_money_once_whatever_door_the_reconciler_dies_before(local_chain: World) -> None:
    usdc = 0
    until_mined = ExitStack()

    def start(golem: LiveGolem) -> UUID:
        nonlocal usdc
        permit_id, usdc = golem.preview()["permit_id"], golem.balance("USDC")
        until_mined.enter_context(mining_paused(local_chain))
        golem.start(permit_id)
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02):
            golem.work(permit_id)
        return UUID(permit_id)

    met: list[str | None] = []
    for golem, permit_id, door in kill_reconciler_at_each_door(start, local_chain, late=LATE):
        where = f"door {len(met)}: {door}"
        until_mined.close()
        let_time_pass(golem)
        assert golem.permit(str(permit_id)).status == PermitStatus.COMMITTED, where
        assert usdc - golem.balance("USDC") == 500_000_000, where
        assert golem.mined_nonce() == 2, where
        rows = OutboundTransaction.objects.filter(permit_id=permit_id)
        assert {row.action_digest for row in rows if row.nonce == 0} == {rows.order_by("pk")[0].action_digest}, where
        assert sorted(row.nonce for row in rows if row.state in IN_A_BLOCK) == [0, 1], where
        met.append(door)
    assert {"eth_sendRawTransaction", "COMMIT"} <= set(met)


def test_a_reorganised_call_is_sent_again_once_whatever_door_the_reconciler_dies_before(local_chain: World) -> None:
    usdc = 0
    before: list[tuple[str, str]] = []

    def start(golem: LiveGolem) -> UUID:
        nonlocal usdc, before
        permit_id, usdc = golem.preview()["permit_id"], golem.balance("USDC")
        golem.commit(permit_id)
        sent = OutboundTransaction.objects.filter(permit_id=permit_id).order_by("pk")
        before = list(sent.values_list("tx_hash", "raw"))
        head = int(local_chain.rpc.call("eth_blockNumber"), 16)
        reorganise(local_chain, head - min(row.block_number or 0 for row in sent) + 1)
        return UUID(permit_id)

    met: list[str | None] = []
    for golem, permit_id, door in kill_reconciler_at_each_door(start, local_chain):
        where = f"door {len(met)}: {door}"
        let_time_pass(golem)
        sent = OutboundTransaction.objects.filter(permit_id=permit_id).order_by("pk")
        assert list(sent.values_list("tx_hash", "raw")) == before, where
        assert golem.permit(str(permit_id)).status == PermitStatus.COMMITTED, where
        assert ActionPermit.objects.get(pk=permit_id).spend_entry.state == SpendState.SETTLED, where
        assert usdc - golem.balance("USDC") == 500_000_000, where
        met.append(door)
    assert met.count("COMMIT") >= 3
