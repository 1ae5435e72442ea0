"""A node that hides transactions: what balances show has moved stays spent, and the account goes on meanwhile."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from golem_project.embedded.world.rpc import call_data
from permits_app.actions.start_commit import start_commit
from permits_app.custody.signers.base import UnsignedTransaction
from permits_app.custody.signers.choose_signer import open_signer
from permits_app.execution.payloads import send_payload
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.permits.blocked_commits import list_blocked_accounts
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem, make_live_golem
from tests.proof.lying_node import Ask, Lie, LyingNode, Request
from tools_app.core import clock

USD = 10**6
MICRO = 10**6


@pytest.fixture
def golem(db: None, local_chain: World, lying_node: LyingNode) -> LiveGolem:
    return make_live_golem(local_chain)


def hiding(hashes: Collection[str]) -> Lie:
    """As if the chain had mined nothing of these: no receipt, no transaction, not listed by its block."""

    def lie(requests: list[Request], ask: Ask) -> Any:
        told = ask(requests)
        for request, answer in zip(requests, told, strict=True):
            asked_for = request["params"][0] if request["params"] else None
            if request["method"] in ("eth_getTransactionReceipt", "eth_getTransactionByHash") and asked_for in hashes:
                answer["result"] = None
            elif request["method"] == "eth_getBlockByNumber" and answer.get("result"):
                listed = answer["result"]["transactions"]
                answer["result"]["transactions"] = [
                    each for each in listed if (each["hash"] if isinstance(each, dict) else each) not in hashes
                ]
        return told

    return lie


def start_hidden(golem: LiveGolem, node: LyingNode, hidden: set[str], indices: Collection[int], **changes: Any) -> str:
    """Commit a swap of whose calls these are hidden from the moment they are signed; the permit's id."""
    permit_id = str(golem.preview(**changes)["permit_id"])
    golem.start(permit_id)

    def hide_first(row: OutboundTransaction, **asked: Any) -> bool:
        if row.call_index in indices:
            hidden.add(row.tx_hash)
        return send_payload(row, **asked)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("permits_app.execution.executor.send_payload", hide_first)
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2, GOLEM_FIRST_LOOK_SECONDS=0.2):
            golem.work(permit_id)
    return permit_id


def settle_for_good(golem: LiveGolem, permit_id: str) -> ActionPermit:
    """The looks of the next rounds, the patience of a minute over."""
    with override_settings(GOLEM_DOUBT_SECONDS=0, GOLEM_RECEIPT_WAIT_SECONDS=0.2, GOLEM_FIRST_LOOK_SECONDS=0.2):
        for _ in range(3):
            reconcile_transactions(now=clock.now())
            golem.work(permit_id)
    return golem.permit(permit_id)


def test_a_swap_that_a_node_hides_whole_stays_spent_and_is_told_as_carried_out(
    golem: LiveGolem, lying_node: LyingNode
) -> None:
    hidden: set[str] = set()
    usdc = golem.balance("USDC")
    with lying_node.lying(hiding(hidden)):
        permit_id = start_hidden(golem, lying_node, hidden, {0, 1})
        assert golem.permit(permit_id).status == PermitStatus.UNKNOWN
        reconcile_transactions(now=clock.now())
        # The account goes on: nobody waits behind a nonce that is used.
        assert list_blocked_accounts(now=clock.now() + timedelta(minutes=5)) == []
        other = golem.preview(amount="40000000")["permit_id"]
        start_commit(golem=golem.golem, permit_id=UUID(other), actor="t", now=clock.now() + timedelta(seconds=40))
        answer = golem.work(other)
        assert answer is not None and answer["status"] == PermitStatus.COMMITTED, answer
        permit = settle_for_good(golem, permit_id)
    assert golem.balance("USDC") == usdc - 540 * USD
    assert permit.status == PermitStatus.COMMITTED, permit.status_reason
    assert "the balances show that it was carried out" in permit.status_reason
    assert not permit.outcome.is_verified and permit.outcome.ground_truth_source == "balance_check"
    assert permit.spend_entry.settled_micro_usd >= 499 * MICRO


def test_a_call_that_a_node_hides_of_a_plan_stays_spent_with_a_finding(golem: LiveGolem, lying_node: LyingNode) -> None:
    hidden: set[str] = set()
    with lying_node.lying(hiding(hidden)):
        permit_id = start_hidden(golem, lying_node, hidden, {1})
        permit = settle_for_good(golem, permit_id)
    assert permit.status == PermitStatus.REVERTED
    assert "500000000 left the account" in permit.status_reason
    assert permit.spend_entry.settled_micro_usd >= 499 * MICRO
    assert any("counts as spent" in finding for finding in permit.outcome.findings)


def test_what_a_wallet_spent_under_the_nonce_is_not_the_permits(golem: LiveGolem, lying_node: LyingNode) -> None:
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)
    token = golem.world.tokens["USDC"].address

    def pay_first(row: OutboundTransaction, **asked: Any) -> bool:
        if not paid:
            paid.append(row.nonce)
            plain = UnsignedTransaction(
                chain_id=CHAIN_ID,
                nonce=row.nonce,
                to=token,
                value=0,
                data=bytes.fromhex(call_data("transfer(address,uint256)", "0x" + "77" * 20, 30 * USD)[2:]),
                gas_limit=100_000,
                max_fee_per_gas=500 * 10**9,
                max_priority_fee_per_gas=10**9,
            )
            raw = open_signer(golem.golem.address).sign(plain).raw
            golem.world.wait(golem.world.rpc.call("eth_sendRawTransaction", "0x" + raw.hex()))
        return send_payload(row, **asked)

    paid: list[int] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("permits_app.execution.executor.send_payload", pay_first)
        golem.work(permit_id)
    permit = golem.permit(permit_id)
    assert permit.status == PermitStatus.REVERTED
    assert "counts as spent" not in permit.status_reason
    assert permit.spend_entry.settled_micro_usd < MICRO


def test_where_no_balance_can_be_read_all_that_was_reserved_stays_spent(
    golem: LiveGolem, lying_node: LyingNode
) -> None:
    hidden: set[str] = set()

    def lie(requests: list[Request], ask: Ask) -> Any:
        told = hiding(hidden)(requests, ask)
        for request, answer in zip(requests, told, strict=True):
            if request["method"] in ("eth_call", "eth_getBalance") and is_blind:
                answer.pop("result", None)
                answer["error"] = {"code": -32000, "message": "missing trie node"}
        return told

    is_blind = False
    with lying_node.lying(lie):
        permit_id = start_hidden(golem, lying_node, hidden, {0, 1})
        reserved = golem.permit(permit_id).spend_entry.reserved_micro_usd
        is_blind = True
        with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2, GOLEM_FIRST_LOOK_SECONDS=0.2):
            reconcile_transactions(now=clock.now())
            OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).update(
                passed_at=clock.now() - timedelta(hours=1)
            )
            golem.work(permit_id)
            # First it is looked at again.
            assert golem.permit(permit_id).status == PermitStatus.UNKNOWN
        permit = settle_for_good(golem, permit_id)
    assert permit.status == PermitStatus.REVERTED
    assert "could not be read" in permit.status_reason
    assert permit.spend_entry.state == SpendState.SETTLED
    assert permit.spend_entry.settled_micro_usd == reserved
