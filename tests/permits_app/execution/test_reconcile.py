"""The life of stored payloads on a real node: final, reorganised, filled, replaced - and never signed twice."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from permits_app.actions.sweep_permits import end_outlived
from permits_app.execution import broadcast, executor, nonces, payload_delivery
from permits_app.execution.commit_lease import Lease
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, NonceReservation, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import PayloadPurpose, TransactionState
from tests.live_golem import LiveGolem
from tests.passing_time import let_pass_until
from tests.permits_app.execution.chain_tricks import mine, mining_paused, reorganise
from tools_app.chain import networks
from tools_app.chain.node_errors import RpcUnavailable
from tools_app.core import clock
from tools_app.core.models import AuditEntry
from tools_app.toolkit.context import ChainReader


def payloads(permit_id: str) -> list[OutboundTransaction]:
    return list(OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).order_by("call_index", "pk"))


def events_of(golem: LiveGolem) -> list[str]:
    entries = AuditEntry.objects.filter(golem_id=golem.golem.pk).order_by("seq")
    return list(entries.values_list("event", flat=True))


@pytest.fixture
def three_confirmations(live_golem: LiveGolem) -> None:
    """The local chain as one that needs three blocks; wired back with the fixture of the chain."""
    found = networks.get_network(live_golem.golem.home_chain_id)
    urls = [url.reveal() for url in found.rpc_urls]
    networks.configure([networks.with_rpc_urls(found, urls, confirmations=3)])


def test_a_transaction_is_final_once_it_lies_deep_enough(live_golem: LiveGolem, three_confirmations: None) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    assert {row.state for row in payloads(permit_id)} == {TransactionState.MINED}
    mine(live_golem.world, 3)
    assert reconcile_transactions(now=clock.now())["final"] == len(payloads(permit_id))
    assert {row.state for row in payloads(permit_id)} == {TransactionState.FINAL}
    assert reconcile_transactions(now=clock.now()) == {}


def test_a_reorganisation_is_recorded_and_the_same_bytes_are_sent_again(
    live_golem: LiveGolem, three_confirmations: None
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    usdc = live_golem.balance("USDC")
    live_golem.commit(permit_id)
    before = payloads(permit_id)
    head = int(live_golem.world.rpc.call("eth_blockNumber"), 16)
    reorganise(live_golem.world, head - min(row.block_number or 0 for row in before) + 1)
    assert live_golem.balance("USDC") == usdc
    done = reconcile_transactions(now=clock.now())
    assert (done["reorged"], done["reopened"]) == (len(before), 1)
    row = live_golem.permit(permit_id)
    assert row.status == PermitStatus.UNKNOWN
    assert row.spend_entry.state == SpendState.RESERVED
    live_golem.work(permit_id)
    after = payloads(permit_id)
    assert [(r.tx_hash, r.raw, r.nonce) for r in after] == [(r.tx_hash, r.raw, r.nonce) for r in before]
    assert {r.state for r in after} == {TransactionState.MINED}
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - live_golem.balance("USDC") == 500_000_000
    assert live_golem.permit(permit_id).outcome.is_verified
    assert events_of(live_golem).count("TransactionReorged") == len(before)
    assert events_of(live_golem).count("PermitConsumed") == 2


def test_bytes_that_were_never_sent_because_of_a_halt_are_filled(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    golem = live_golem.golem

    def halt_first(permit: ActionPermit, row: OutboundTransaction, lease: Lease) -> bool:
        type(golem).objects.filter(pk=golem.pk).update(halt_epoch=1, halted_at=clock.now())
        return original(permit, row, lease)

    original = executor._may_leave
    monkeypatch.setattr(executor, "_may_leave", halt_first)
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).problem["code"] == "GOLEM_HALTED"
    assert [row.broadcast_count for row in payloads(permit_id)] == [0, 0]
    reconcile_transactions(now=clock.now())
    reconcile_transactions(now=clock.now())
    rows = payloads(permit_id)
    fills = [row for row in rows if row.purpose == PayloadPurpose.FILL]
    assert [row.state for row in fills] == [TransactionState.MINED] * 2 or [row.state for row in fills] == [
        TransactionState.FINAL
    ] * 2
    assert {row.state for row in rows if row.purpose == PayloadPurpose.CALL} == {TransactionState.DROPPED}
    assert live_golem.mined_nonce() == 2


def test_an_abandoned_nonce_below_one_in_use_is_filled(live_golem: LiveGolem) -> None:
    golem = live_golem.golem
    lost = live_golem.permit(live_golem.preview()["permit_id"])
    nonces.reserve_nonces(permit_id=lost.pk, chain_id=lost.chain_id, address=golem.address, count=1, pending_nonce=0)
    permit_id = live_golem.preview(amount="400000000")["permit_id"]
    with mining_paused(live_golem.world):
        live_golem.start(permit_id)
        row = live_golem.permit(permit_id)
        assert nonces.reserve_nonces(
            permit_id=row.pk, chain_id=row.chain_id, address=golem.address, count=2, pending_nonce=0
        ) == [1, 2]
        nonces.abandon_nonces(permit_id=lost.pk)
    live_golem_wait_short(live_golem, permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.UNKNOWN
    assert reconcile_transactions(now=clock.now())["filled"] == 1
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert live_golem.mined_nonce() == 3
    assert NonceReservation.objects.get(nonce=0).state == "FILLED"


def test_nonces_that_a_worker_reserved_after_its_permit_had_ended_hold_up_nobody(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease ran out while it asked a node, as where a clock jumps or the machine stood still."""
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    read = payload_delivery.read_next_nonce

    def read_late(chain: ChainReader, permit: ActionPermit) -> int:
        monkeypatch.setattr(payload_delivery, "read_next_nonce", read)
        assert end_outlived(now=let_pass_until(permit.expires_at, chain=live_golem.world)) == 1
        return read(chain, permit)

    monkeypatch.setattr(payload_delivery, "read_next_nonce", read_late)
    live_golem.work(permit_id)
    assert (live_golem.permit(permit_id).status, payloads(permit_id)) == (PermitStatus.BLOCKED, [])
    later = live_golem.preview(amount="400000000")["permit_id"]
    live_golem.start(later)
    live_golem_wait_short(live_golem, later)
    assert live_golem.permit(later).status == PermitStatus.UNKNOWN
    done = reconcile_transactions(now=clock.now())
    assert (done["given_back"], done["filled"]) == (2, 2)
    live_golem.work(later)
    assert live_golem.permit(later).status == PermitStatus.COMMITTED


def test_nonces_of_a_permit_under_way_are_not_given_back(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    row = live_golem.permit(permit_id)
    nonces.reserve_nonces(
        permit_id=row.pk, chain_id=row.chain_id, address=live_golem.golem.address, count=2, pending_nonce=0
    )
    assert reconcile_transactions(now=clock.now()) == {}
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED


def live_golem_wait_short(golem: LiveGolem, permit_id: str) -> None:
    """One look of the worker, without waiting for receipts that cannot come."""
    from django.test import override_settings

    with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        golem.work(permit_id)


def test_a_stuck_transaction_is_replaced_by_the_same_call_at_higher_fees_within_the_budget(
    live_golem: LiveGolem,
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    usdc = live_golem.balance("USDC")
    with mining_paused(live_golem.world):
        live_golem.start(permit_id)
        live_golem_wait_short(live_golem, permit_id)
        assert live_golem.permit(permit_id).status == PermitStatus.UNKNOWN
        done = reconcile_transactions(now=clock.now() + timedelta(seconds=91))
        assert done["sped_up"] == 1
    old, new = [row for row in payloads(permit_id) if row.call_index == 0]
    assert (new.nonce, new.to, new.value_wei, new.action_digest) == (
        old.nonce,
        old.to,
        old.value_wei,
        old.action_digest,
    )
    assert int(new.max_fee_per_gas) * 10 >= int(old.max_fee_per_gas) * 11
    assert int(new.max_priority_fee_per_gas) * 10 >= int(old.max_priority_fee_per_gas) * 11
    assert new.gas_limit * int(new.max_fee_per_gas) <= old.gas_limit * int(old.max_fee_per_gas)
    live_golem.work(permit_id)
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.state, new.state) == (TransactionState.DROPPED, TransactionState.MINED)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - live_golem.balance("USDC") == 500_000_000
    assert live_golem.mined_nonce() == 2


def test_a_node_that_already_knows_the_bytes_is_success(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    with mining_paused(live_golem.world):
        live_golem_wait_short(live_golem, permit_id)
        live_golem_wait_short(live_golem, permit_id)
        assert [row.broadcast_count for row in payloads(permit_id)] == [2, 2]
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED


def test_a_node_that_is_away_leaves_the_permit_unknown_and_the_bytes_the_same(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)

    def away(**_: object) -> None:
        raise RpcUnavailable()

    with monkeypatch.context() as patched:
        patched.setattr(broadcast, "send_raw", away)
        live_golem_wait_short(live_golem, permit_id)
    first = [row.raw for row in payloads(permit_id)]
    assert live_golem.permit(permit_id).status == PermitStatus.UNKNOWN
    live_golem.work(permit_id)
    assert [row.raw for row in payloads(permit_id)] == first
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED


def test_the_database_refuses_a_second_action_under_one_nonce(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    row = payloads(permit_id)[0]
    other = live_golem.permit(live_golem.preview(amount="300000000")["permit_id"])
    copy = {
        "call_index": 0,
        "chain_id": row.chain_id,
        "sender": row.sender,
        "nonce": row.nonce,
        "gas_limit": 1,
        "max_fee_per_gas": "1",
        "max_priority_fee_per_gas": "1",
        "raw": "0x01",
        "is_live": False,
    }
    with pytest.raises(IntegrityError, match="another action"), transaction.atomic():
        OutboundTransaction.objects.create(
            permit=other, to=row.to, value_wei="1", action_digest="0xother", tx_hash="0xa", **copy
        )
    with pytest.raises(IntegrityError, match="another action"), transaction.atomic():
        OutboundTransaction.objects.create(
            permit=row.permit, to=row.to, value_wei="0", action_digest="0xother", tx_hash="0xb", **copy
        )
    with pytest.raises(IntegrityError, match="outbound_fill_moves_nothing"), transaction.atomic():
        OutboundTransaction.objects.create(permit=None, purpose="FILL", to=row.to, value_wei="1", tx_hash="0xc", **copy)
    assert OutboundTransaction.objects.filter(nonce=row.nonce).count() == 1


def test_the_database_refuses_to_change_signed_bytes(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.commit(permit_id)
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).update(raw="0x00")
    assert all(row.raw != "0x00" for row in payloads(permit_id))
