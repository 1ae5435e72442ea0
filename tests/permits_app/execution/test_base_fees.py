"""What gas costs when it is signed and when it is sent: a permit that cannot pay it is told so, and freezes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from permits_app.actions.cancel import cancel_permit
from permits_app.actions.start_commit import start_commit
from permits_app.errors import PermitNotCancellable
from permits_app.execution.payloads import send_payload
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import PayloadPurpose
from permits_app.permits.blocked_commits import list_blocked_accounts
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tests.permits_app.execution.zerodev_golem import ZerodevGolem
from tools_app.core import clock

GWEI = 10**9


def base_fee(golem: LiveGolem) -> int:
    return int(golem.world.rpc.call("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)


def set_base_fee(golem: LiveGolem, wei: int) -> None:
    """The next block's, told by the newest one."""
    golem.world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(wei))
    mine(golem.world)
    golem.world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(wei))


@contextmanager
def dear_gas(golem: LiveGolem, permit_id: str, *, times: int = 2) -> Iterator[int]:
    """The base fee above the permit's cap until this ends."""
    before, cap = base_fee(golem), int(golem.permit(permit_id).max_fee_per_gas)
    set_base_fee(golem, cap * times)
    try:
        yield cap
    finally:
        set_base_fee(golem, before)


def work_for_a_moment(golem: LiveGolem, permit_id: str) -> dict[str, Any] | None:
    with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2, GOLEM_FIRST_LOOK_SECONDS=0.2):
        return golem.work(permit_id)


def assert_refused_unsigned(golem: LiveGolem, permit_id: str, answer: dict[str, Any] | None) -> None:
    assert answer is not None and answer["status"] == PermitStatus.BLOCKED, answer
    permit = golem.permit(permit_id)
    assert (permit.problem["code"], permit.problem["recovery"]) == ("FEE_TOO_LOW", "PREVIEW_AGAIN")
    assert int(permit.problem["base_fee_wei"]) > int(permit.problem["max_fee_per_gas_wei"])
    assert not OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).exists()
    assert permit.spend_entry.state == SpendState.RELEASED


def assert_goes_on(golem: LiveGolem, **changes: Any) -> None:
    permit_id = golem.preview(amount="410000000", **changes)["permit_id"]
    start_commit(golem=golem.golem, permit_id=UUID(permit_id), actor="t", now=clock.now() + timedelta(seconds=40))
    answer = golem.work(permit_id)
    assert answer is not None and answer["status"] == PermitStatus.COMMITTED, answer
    assert list_blocked_accounts(now=clock.now() + timedelta(hours=1)) == []


@pytest.mark.parametrize("is_moved", [True, False])
def test_a_commit_whose_base_fee_rose_above_the_cap_is_refused_before_it_is_signed(
    live_golem: LiveGolem, *, is_moved: bool
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    with dear_gas(live_golem, permit_id):
        if not is_moved:
            # The block that the permit was judged at says already what the next one costs.
            head = live_golem.world.rpc.call("eth_getBlockByNumber", "latest", False)
            ActionPermit.objects.filter(pk=permit_id).update(
                block_number=int(head["number"], 16), block_hash=head["hash"]
            )
        live_golem.start(permit_id)
        assert_refused_unsigned(live_golem, permit_id, live_golem.work(permit_id))
    assert live_golem.mined_nonce() == 0
    assert_goes_on(live_golem)


def test_an_operation_whose_base_fee_rose_above_the_cap_is_refused_before_it_is_signed(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.live.preview()["permit_id"]
    with dear_gas(zerodev.live, permit_id):
        zerodev.live.start(permit_id)
        assert_refused_unsigned(zerodev.live, permit_id, zerodev.live.work(permit_id))
    assert not [method for method, _ in zerodev.bundler.seen if method == "eth_sendUserOperation"]
    assert zerodev.used_nonces() == 0


def test_a_batch_of_a_cage_whose_base_fee_rose_above_the_cap_is_refused_before_it_is_signed(
    live_golem: LiveGolem,
) -> None:
    caged = CagedGolem(live_golem)
    permit_id = caged.live.preview()["permit_id"]
    with dear_gas(caged.live, permit_id):
        caged.live.start(permit_id)
        caged.sync()
        assert_refused_unsigned(caged.live, permit_id, caged.live.work(permit_id))


def send_when_dear(golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, permit_id: str, wei: int) -> None:
    """Signed while gas is cheap, sent when it is dear: the node refuses it."""

    def rise_first(row: OutboundTransaction, **asked: Any) -> bool:
        if not done:
            done.append(row.pk)
            set_base_fee(golem, wei)
        return original(row, **asked)

    done: list[int] = []
    original = send_payload
    with monkeypatch.context() as patched:
        patched.setattr("permits_app.execution.executor.send_payload", rise_first)
        work_for_a_moment(golem, permit_id)


def test_what_a_node_refuses_for_its_fee_is_told_and_signed_again_at_a_higher_one_that_the_permit_pays_for(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    before, cap = base_fee(live_golem), int(live_golem.permit(permit_id).max_fee_per_gas)
    live_golem.start(permit_id)
    try:
        send_when_dear(live_golem, monkeypatch, permit_id, cap + 1)
        permit = live_golem.permit(permit_id)
        assert permit.status == PermitStatus.UNKNOWN
        assert permit.status_reason.startswith("refused by the node: fee too low")
        first = permit.transactions.get(call_index=0)
        assert (first.refusal, first.broadcast_at) == ("FEE_TOO_LOW", None)
        done = reconcile_transactions(now=clock.now())
        assert done.get("sped_up", 0) + done.get("cancelled", 0) >= 1
    finally:
        set_base_fee(live_golem, before)
    for _ in range(3):
        work_for_a_moment(live_golem, permit_id)
        reconcile_transactions(now=clock.now())
    permit = live_golem.permit(permit_id)
    assert permit.status in (PermitStatus.COMMITTED, PermitStatus.REVERTED), permit.status_reason
    assert_goes_on(live_golem)


def test_what_a_node_refuses_for_its_fee_and_the_permit_cannot_pay_is_used_up_and_settled(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    usdc, before = live_golem.balance("USDC"), base_fee(live_golem)
    cap = int(live_golem.permit(permit_id).max_fee_per_gas)
    live_golem.start(permit_id)
    try:
        send_when_dear(live_golem, monkeypatch, permit_id, cap * 5)
        assert reconcile_transactions(now=clock.now())["cancelled"] == 2
        live_golem.wait_until_mined(2)
        work_for_a_moment(live_golem, permit_id)
        permit = live_golem.permit(permit_id)
        assert permit.status == PermitStatus.REVERTED
        assert permit.spend_entry.state == SpendState.SETTLED
        assert live_golem.balance("USDC") == usdc
    finally:
        set_base_fee(live_golem, before)
    assert_goes_on(live_golem)


def test_a_permit_that_no_node_took_can_be_cancelled(live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch) -> None:
    permit_id = live_golem.preview()["permit_id"]
    usdc, before = live_golem.balance("USDC"), base_fee(live_golem)
    cap = int(live_golem.permit(permit_id).max_fee_per_gas)
    live_golem.start(permit_id)
    try:
        send_when_dear(live_golem, monkeypatch, permit_id, cap + 1)
    finally:
        set_base_fee(live_golem, before)
    told = cancel_permit(
        golem=live_golem.golem, permit_id=UUID(permit_id), reason="too dear", actor="key:t", now=clock.now()
    )
    assert told["status"] == PermitStatus.UNKNOWN and "too dear" in told["status_reason"]
    # Gas is cheap again, and a worker that looks at it sends nothing of it any more.
    work_for_a_moment(live_golem, permit_id)
    reconcile_transactions(now=clock.now())
    live_golem.wait_until_mined(2)
    work_for_a_moment(live_golem, permit_id)
    permit = live_golem.permit(permit_id)
    assert permit.status == PermitStatus.REVERTED
    assert "it was cancelled before a node took it" in permit.status_reason
    assert {row.purpose for row in permit.transactions.filter(is_live=True)} == {PayloadPurpose.FILL}
    assert live_golem.balance("USDC") == usdc
    assert_goes_on(live_golem)


def test_a_permit_that_a_node_took_cannot_be_cancelled(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    with mining_paused(live_golem.world):
        work_for_a_moment(live_golem, permit_id)
        with pytest.raises(PermitNotCancellable, match="a node has taken"):
            cancel_permit(golem=live_golem.golem, permit_id=UUID(permit_id), reason="r", actor="t", now=clock.now())
    live_golem.wait_until_mined(2)
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
