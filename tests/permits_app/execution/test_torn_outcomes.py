"""A chain that goes back between a receipt and the balances that are read for it: no outcome is made of two chains."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from golem_project.embedded.world.rpc import RpcError
from permits_app.execution import balance_evidence, finish_permit
from permits_app.models import OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import PayloadPurpose
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused

GWEI = 10**9
# Nothing is mined meanwhile, so nobody looks for longer than beside a follower.
_ONE_LOOK = 0.05


def send_again(golem: LiveGolem, *permit_ids: str) -> None:
    """The bytes that were signed for these permits, as their nodes still have them."""
    rows = OutboundTransaction.objects.filter(permit_id__in=map(UUID, permit_ids), purpose=PayloadPurpose.CALL)
    for row in rows.order_by("nonce"):
        # What it still has in its pool it refuses to take again.
        with suppress(RpcError):
            golem.world.rpc.call("eth_sendRawTransaction", row.raw)


def test_a_receipt_of_a_block_that_the_chain_lost_before_balances_were_read_ends_nothing(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    rpc = live_golem.world.rpc
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    before = rpc.call("evm_snapshot")
    read: Callable[..., Any] = balance_evidence.read_evidence

    def after_a_rollback(**named: Any) -> Any:
        # Blocks of the same numbers hold the same bytes again, at another price of gas.
        rpc.call("evm_revert", before)
        rpc.call("anvil_setNextBlockBaseFeePerGas", hex(GWEI // 50))
        send_again(live_golem, permit_id)
        return read(**named)

    with monkeypatch.context() as patched:
        patched.setattr(finish_permit, "read_evidence", after_a_rollback)
        live_golem.work(permit_id)
    seen = live_golem.permit(permit_id)
    assert seen.status == PermitStatus.UNKNOWN, seen.status_reason
    assert "a block that the chain does not hold any more" in seen.status_reason
    live_golem.work(permit_id)
    done = live_golem.permit(permit_id)
    assert (done.status, done.outcome.findings) == (PermitStatus.COMMITTED, [])


def test_a_permit_beside_another_that_a_rollback_moved_into_its_block_is_verified(live_golem: LiveGolem) -> None:
    """The row of the other one still tells of the block that is gone."""
    world = live_golem.world
    before = world.rpc.call("evm_snapshot")
    first = live_golem.preview()["permit_id"]
    assert live_golem.commit(first)["status"] == PermitStatus.COMMITTED
    with mining_paused(world), override_settings(GOLEM_FIRST_LOOK_SECONDS=_ONE_LOOK):
        second = live_golem.preview(amount="77000000")["permit_id"]
        live_golem.start(second)
        live_golem.work(second)
        world.rpc.call("evm_revert", before)
        mine(world, 5)
        send_again(live_golem, first, second)
    live_golem.work(second)
    done = live_golem.permit(second)
    assert (done.status, done.outcome.findings) == (PermitStatus.COMMITTED, [])


def test_a_permit_beside_another_whose_block_of_the_same_number_is_a_new_one_is_verified(
    live_golem: LiveGolem,
) -> None:
    """The receipt that is kept of the other one tells what it did on the chain that is gone."""
    world = live_golem.world
    before = world.rpc.call("evm_snapshot")
    with mining_paused(world), override_settings(GOLEM_FIRST_LOOK_SECONDS=_ONE_LOOK):
        first = live_golem.preview()["permit_id"]
        live_golem.start(first)
        live_golem.work(first)
        mine(world)
        live_golem.work(first)
        assert live_golem.permit(first).status == PermitStatus.COMMITTED
        second = live_golem.preview(amount="77000000")["permit_id"]
        live_golem.start(second)
        live_golem.work(second)
        world.rpc.call("evm_revert", before)
        world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(GWEI // 50))
        send_again(live_golem, first, second)
    live_golem.work(second)
    done = live_golem.permit(second)
    assert (done.status, done.outcome.findings) == (PermitStatus.COMMITTED, [])
