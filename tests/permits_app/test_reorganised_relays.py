"""What the relayer sent leaves the chain in a reorganisation, and comes back by the same bytes."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from archetypes_app.owner_group import ensure_owner_group
from permits_app.actions.apply_cage_changes import apply_cage_changes
from permits_app.actions.execute_change import execute_change
from permits_app.actions.reconcile_relays import reconcile_relays
from permits_app.approval_errors import RelayerBusy
from permits_app.approval_pages.views import page_of
from permits_app.custody.safe_view import open_chain
from permits_app.gas_relayer import RelayOrder, send_order
from permits_app.models import ChangeExecution, ChangeRequest, RelayedTransaction
from permits_app.models.owner_transaction import RelayPurpose
from permits_app.policy_cage.contract import Limit, RuleKind, encode_apply_change
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device, make_owner_with_device, share
from tests.permits_app.approvals.safes import OwnedSafe, ask, limit_change, make_relayer, owner_transaction
from tests.permits_app.execution.chain_tricks import mine, mining_paused, reorganise
from tests.proof.lying_node import LyingNode, change_answers
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import AuditEntry


@pytest.fixture
def relayed(live_golem: LiveGolem, settings: Any) -> tuple[OwnedSafe, ChangeRequest]:
    """A tighter limit that an owner signed, the relayer sent and the chain has."""
    settings.GOLEM_RELAYER_WAIT_SECONDS = 1
    give_device(live_golem.owner)
    safe = OwnedSafe(live_golem)
    make_relayer(live_golem, settings)
    request = ask(safe, live_golem.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    approve(request, live_golem.owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")
    execute_change(request_id=request.pk, now=clock.now())
    request.refresh_from_db()
    assert request.state == "EXECUTED", request.problem
    return safe, request


def test_a_relay_that_left_the_chain_is_sent_again_with_the_same_bytes(
    relayed: tuple[OwnedSafe, ChangeRequest], client: Client
) -> None:
    safe, request = relayed
    before = RelayedTransaction.objects.get()
    reorganise(safe.live.world, 1)
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 1_300
    with mining_paused(safe.live.world):
        assert reconcile_relays(now=clock.now())["relays_lost"] == 1
        row, asked = RelayedTransaction.objects.get(), owner_transaction(request)
        assert (row.state, asked.state) == ("REORGED", "SENT")
        safe.live.owner.groups.add(ensure_owner_group())
        client.force_login(safe.live.owner)
        assert "taken out by a reorganisation; sent again" in client.get(page_of(request.pk)).content.decode()
        mine(safe.live.world)
        assert reconcile_relays(now=clock.now())["relays_back"] == 1
    row.refresh_from_db()
    asked.refresh_from_db()
    assert (row.state, asked.state, row.tx_hash, row.raw) == ("MINED", "EXECUTED", before.tx_hash, before.raw)
    assert row.block_hash != before.block_hash
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900
    assert (RelayedTransaction.objects.count(), ChangeExecution.objects.count()) == (1, 1)
    told = AuditEntry.objects.filter(golem_id=safe.live.golem.pk, event__startswith="OwnerTransaction")
    assert list(told.order_by("seq").values_list("event", flat=True))[-3:] == [
        "OwnerTransactionExecuted",
        "OwnerTransactionReorged",
        "OwnerTransactionExecuted",
    ]
    assert verify_stored_chain(safe.live.golem.pk).broken is None


def test_nothing_else_takes_the_relayers_nonce_before_it_is_back(relayed: tuple[OwnedSafe, ChangeRequest]) -> None:
    safe, _ = relayed
    reorganise(safe.live.world, 1)
    order = RelayOrder(
        purpose=RelayPurpose.EXECUTE,
        to=safe.address,
        data=bytes.fromhex(RelayedTransaction.objects.get().data[2:]),
        owner_transaction=RelayedTransaction.objects.get().owner_transaction,
    )
    with pytest.raises(RelayerBusy, match="reorganisation"):
        send_order(order=order, chain=open_chain(31337, now=clock.now()), now=clock.now())
    assert RelayedTransaction.objects.count() == 1


def test_what_lies_deep_is_final_and_is_not_looked_at_again(relayed: tuple[OwnedSafe, ChangeRequest]) -> None:
    safe, _ = relayed
    assert reconcile_relays(now=clock.now())["relays_lost"] == 0
    mine(safe.live.world, 64)
    reconcile_relays(now=clock.now())
    assert RelayedTransaction.objects.get().state == "FINAL"


def test_a_relay_whose_node_still_has_it_in_its_pool_when_it_is_mined_is_looked_at_again(
    live_golem: LiveGolem, lying_node: LyingNode, settings: Any
) -> None:
    """The node of the local chain says so for a moment after each block."""
    settings.GOLEM_RELAYER_WAIT_SECONDS = 5
    give_device(live_golem.owner)
    safe = OwnedSafe(live_golem)
    make_relayer(live_golem, settings)
    request = ask(safe, live_golem.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900))
    approve(request, live_golem.owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")
    waiting = change_answers(
        "eth_getTransactionByHash", lambda _, sent: sent and {**sent, "blockHash": None, "blockNumber": None}, times=2
    )
    with lying_node.lying(waiting):
        execute_change(request_id=request.pk, now=clock.now())
    assert "eth_getTransactionByHash" in lying_node.asked
    assert RelayedTransaction.objects.get().state == "MINED"


def test_a_nonce_of_the_safe_that_went_to_something_else_ends_it(relayed: tuple[OwnedSafe, ChangeRequest]) -> None:
    safe, request = relayed
    reorganise(safe.live.world, 1)
    # The owners use the nonce themselves, before the relay is back.
    safe.nonce = owner_transaction(request).safe_nonce
    safe.owner_call(safe.address, b"")
    for _ in range(2):
        reconcile_relays(now=clock.now())
    asked = owner_transaction(request)
    assert asked.state in ("FAILED", "DEAD")
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 1_300


def test_a_due_change_that_was_applied_comes_back_too(live_golem: LiveGolem, settings: Any) -> None:
    settings.GOLEM_RELAYER_WAIT_SECONDS = 1
    give_device(live_golem.owner)
    other = make_owner_with_device(name="owner-b")
    share(live_golem.golem, other)
    safe = OwnedSafe(live_golem)
    make_relayer(live_golem, settings)
    request = ask(safe, live_golem.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 1_500))
    approve(request, other, signature=safe.sign(owner_transaction(request).safe_tx_hash, 1))
    execute_change(request_id=request.pk, now=clock.now())
    [rule] = safe.sync().pending
    safe.pass_time(3_700)
    safe.sync()
    assert apply_cage_changes(now=clock.now()) == 1
    reorganise(live_golem.world, 1)
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 1_300
    safe.pass_time(3_700)
    reconcile_relays(now=clock.now())
    reconcile_relays(now=clock.now())
    row = RelayedTransaction.objects.get(purpose="APPLY")
    assert row.data == "0x" + encode_apply_change(RuleKind(rule[0]), bytes.fromhex(rule[1][2:])).hex()
    assert row.state in ("MINED", "FINAL")
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 1_500
