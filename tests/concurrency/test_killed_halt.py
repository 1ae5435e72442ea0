"""A worker that carries out a halt and dies before each of its doors: the next one ends it, nothing is moved."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import override_settings

from permits_app.actions import halt as halt_module
from permits_app.actions.sweep_permits import list_unfinished
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, HaltRecord, HaltSetting, OutboundTransaction
from permits_app.models.permit import UNFINISHED
from tests.concurrency.doors import is_change, kill_at_each_door
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tests.passing_time import let_pass
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tests.permits_app.execution.test_halt import allowance_on_chain, give_allowance, halt
from tests.permits_app.execution.test_position_unwinding import liquidity_of
from tests.permits_app.safety.calls import open_position
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]


def carry_out(golem: LiveGolem) -> None:
    halt_module.carry_out_halt(golem_id=golem.golem.pk, epoch=1, now=clock.now())


def let_time_pass(golem: LiveGolem) -> None:
    """Leases of the dead run out, and the beat's tasks find what is left, until nothing is."""
    for _ in range(4):
        mine(golem.world)
        unfinished = ActionPermit.objects.filter(status__in=[str(state) for state in UNFINISHED])
        let_pass(timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS))
        for permit_id in list_unfinished(now=clock.now() + timedelta(minutes=1)):
            golem.work(str(permit_id))
        reconcile_transactions(now=clock.now())
        for golem_id, epoch in halt_module.list_unfinished_halts():
            halt_module.carry_out_halt(golem_id=golem_id, epoch=epoch, now=clock.now())
        if not unfinished.exists() and not halt_module.list_unfinished_halts():
            break


def test_a_halt_whose_worker_dies_before_any_of_its_doors_is_carried_out(
    local_chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(halt_module, "_CANCEL_WAIT_MS", 20)
    spender = local_chain.new_account().address
    permit_id, balance = "", 0
    until_mined = ExitStack()

    def start(number: int) -> LiveGolem:
        """An allowance stands and a swap is under way when the owner halts the golem; nothing is mined meanwhile."""
        nonlocal permit_id, balance
        golem = make_live_golem(local_chain, name=f"Halted {number}")
        give_allowance(golem, "USDC", spender, 5_000_000)
        until_mined.enter_context(mining_paused(local_chain))
        until_mined.enter_context(override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.02))
        permit_id, balance = golem.preview()["permit_id"], golem.balance("USDC")
        golem.start(permit_id)
        golem.work(permit_id)
        halt(golem)
        return golem

    met: list[str | None] = []
    for golem, door in kill_at_each_door(start, carry_out, is_door=is_change):
        where = f"door {len(met)}: {door}"
        with until_mined:
            carry_out(golem)
        let_time_pass(golem)
        assert HaltRecord.objects.get(golem=golem.golem).completed_at is not None, where
        assert golem.permit(permit_id).status == "REVERTED", where
        assert golem.balance("USDC") == balance, where
        assert allowance_on_chain(golem, "USDC", spender) == 0, where
        live = OutboundTransaction.objects.filter(sender=golem.golem.address, is_live=True)
        nonces = sorted(live.values_list("nonce", flat=True))
        assert nonces == list(range(nonces[0], nonces[0] + len(nonces))), where
        assert golem.mined_nonce() == nonces[-1] + 1, where
        assert verify_stored_chain(golem.golem.pk).broken is None, where
        met.append(door)
    assert {"eth_sendRawTransaction", "COMMIT"} <= set(met)


def test_an_unwinding_whose_worker_dies_before_any_of_its_doors_happens_once(local_chain: World) -> None:
    position_id, sent = "", 0

    def start(number: int) -> LiveGolem:
        nonlocal position_id, sent
        golem = make_live_golem(local_chain, name=f"Halted {number}")
        position_id = open_position(golem, local_chain)
        HaltSetting.objects.create(golem=golem.golem, unwind_on_halt=True)
        sent = golem.mined_nonce()
        halt(golem)
        return golem

    met: list[str | None] = []
    for golem, door in kill_at_each_door(start, carry_out, is_door=is_change):
        where = f"door {len(met)}: {door}"
        let_time_pass(golem)
        assert HaltRecord.objects.get(golem=golem.golem).completed_at is not None, where
        assert liquidity_of(golem, position_id) == 0, where
        assert golem.mined_nonce() == sent + 1, where
        assert OutboundTransaction.objects.filter(sender=golem.golem.address, is_live=True).count() == 1, where
        assert verify_stored_chain(golem.golem.pk).broken is None, where
        met.append(door)
    assert {"eth_sendRawTransaction", "COMMIT"} <= set(met)
