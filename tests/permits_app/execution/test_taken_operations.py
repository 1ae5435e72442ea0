"""The nonce of a user operation that another operation of the same account took: shown by the EntryPoint, judged by
balances, never doubled, never waited for without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings
from eth_account import Account
from eth_account.messages import encode_defunct

from golem_project.embedded.world.rpc import call_data
from permits_app.custody.signers import choose_signer
from permits_app.execution.payloads import send_payload
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.permits.blocked_commits import list_blocked_accounts
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import make_live_golem
from tests.permits_app.execution.zerodev_golem import USD, ZerodevGolem, give_smart_account
from tests.proof.lying_node import Ask, LyingNode, Request
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.standards.user_operation import ENTRY_POINT, UserOperation, decode_operation

MICRO = 10**6
SOLD = 500 * USD
_EXECUTE = "function execute(bytes32 mode, bytes executionCalldata)"


def pay_somebody(zerodev: ZerodevGolem, units: int) -> bytes:
    """The account's own call: a transfer of dollars to a stranger."""
    token = zerodev.live.world.tokens["USDC"].address
    data = bytes.fromhex(call_data("transfer(address,uint256)", "0x" + "77" * 20, units)[2:])
    return encode_call(_EXECUTE, bytes(32), bytes.fromhex(token[2:]) + bytes(32) + data)


def sign_elsewhere(zerodev: ZerodevGolem, like: OutboundTransaction, call: bytes) -> tuple[str, UserOperation]:
    """Another operation under the nonce of `like`, signed with the same key by a wallet of its owner."""
    other = replace(decode_operation(bytes.fromhex(like.raw[2:])), call_data=call)
    key = Account.from_key(choose_signer.open_keystore().read_key(zerodev.key.address).reveal())
    op_hash = other.hash(chain_id=CHAIN_ID)
    digest = encode_defunct(primitive=bytes.fromhex(op_hash[2:]))
    return op_hash, replace(other, signature=bytes(key.sign_message(digest).signature))


def carry_out_instead(zerodev: ZerodevGolem, permit_id: str, call: bytes) -> None:
    """The bundler loses what it holds, and another one carries the wallet's operation out."""
    [row] = zerodev.rows(permit_id)
    op_hash, other = sign_elsewhere(zerodev, row, call)
    zerodev.bundler.pool = {op_hash: other}
    zerodev.bundler.release()
    assert zerodev.used_nonces() == row.nonce + 1


def assert_over(zerodev: ZerodevGolem, permit_id: str) -> ActionPermit:
    permit = zerodev.live.permit(permit_id)
    assert permit.status == PermitStatus.REVERTED, permit.status_reason
    assert "its nonce was used by another transaction" in permit.status_reason
    assert permit.spend_entry.state == SpendState.SETTLED
    reconcile_transactions(now=clock.now())
    assert list_blocked_accounts(now=clock.now() + timedelta(minutes=5)) == []
    return permit


def test_what_another_operation_spent_under_the_nonce_is_not_the_permits(zerodev: ZerodevGolem) -> None:
    permit_id, usdc = zerodev.commit_held(), zerodev.balance("USDC")
    carry_out_instead(zerodev, permit_id, pay_somebody(zerodev, 30 * USD))
    zerodev.look(permit_id)
    permit = assert_over(zerodev, permit_id)
    assert usdc - zerodev.balance("USDC") == 30 * USD
    assert "counts as spent" not in permit.status_reason
    assert permit.spend_entry.settled_micro_usd < MICRO


def test_an_operation_whose_nonce_is_taken_between_store_and_send_is_over_and_the_next_goes_on(
    zerodev: ZerodevGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id, usdc = str(zerodev.live.preview()["permit_id"]), zerodev.balance("USDC")
    zerodev.live.start(permit_id)
    done: list[int] = []

    def take_first(row: OutboundTransaction, **asked: Any) -> bool:
        if not done:
            done.append(row.nonce)
            op_hash, other = sign_elsewhere(zerodev, row, b"")
            zerodev.bundler.pool = {op_hash: other}
            zerodev.bundler.release()
        return send_payload(row, **asked)

    with monkeypatch.context() as patched:
        patched.setattr("permits_app.execution.executor.send_payload", take_first)
        zerodev.look(permit_id)
    assert done == [0]
    zerodev.look(permit_id)
    assert_over(zerodev, permit_id)
    assert zerodev.balance("USDC") == usdc
    later = zerodev.live.commit(zerodev.live.preview(amount="410000000")["permit_id"])
    assert later["status"] == PermitStatus.COMMITTED, later
    assert usdc - zerodev.balance("USDC") == 410 * USD


def test_what_waits_behind_an_operation_whose_nonce_was_taken_goes_on(zerodev: ZerodevGolem) -> None:
    usdc = zerodev.balance("USDC")
    first, second = zerodev.commit_held(), zerodev.commit_held(amount="400000000")
    carry_out_instead(zerodev, first, b"")
    for permit_id in (first, second):
        zerodev.look(permit_id)
    assert_over(zerodev, first)
    assert zerodev.live.permit(second).status == PermitStatus.COMMITTED
    assert usdc - zerodev.balance("USDC") == 400 * USD
    assert zerodev.used_nonces() == 2


def test_a_bundler_that_sends_the_same_operation_twice_carries_it_out_once(zerodev: ZerodevGolem) -> None:
    permit_id, usdc = zerodev.commit_held(), zerodev.balance("USDC")
    held = dict(zerodev.bundler.pool)
    zerodev.bundler.release()
    zerodev.bundler.pool = held
    zerodev.bundler.release()
    assert len(zerodev.bundler.carried) == 2, "the EntryPoint was asked twice"
    for _ in range(2):
        zerodev.look(permit_id)
        reconcile_transactions(now=clock.now() + timedelta(seconds=91))
    assert zerodev.live.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - zerodev.balance("USDC") == SOLD and zerodev.used_nonces() == 1
    assert len(zerodev.rows(permit_id)) == 1


@pytest.fixture
def behind_a_liar(
    db: None, local_chain: World, lying_node: LyingNode, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ZerodevGolem]:
    with give_smart_account(make_live_golem(local_chain), monkeypatch) as found:
        yield found


def hide_operations(requests: list[Request], ask: Ask) -> Any:
    """As if the EntryPoint had told of no operation."""
    told = ask(requests)
    for request, answer in zip(requests, told, strict=True):
        if request["method"] == "eth_getLogs" and isinstance(answer.get("result"), list):
            answer["result"] = [log for log in answer["result"] if log["address"].lower() != ENTRY_POINT.lower()]
    return told


def test_an_operation_that_a_node_hides_is_not_over_before_its_word_has_lasted(
    behind_a_liar: ZerodevGolem, lying_node: LyingNode
) -> None:
    zerodev = behind_a_liar
    permit_id = zerodev.commit_held()
    with lying_node.lying(hide_operations):
        zerodev.bundler.release()
        zerodev.look(permit_id)
        reconcile_transactions(now=clock.now())
        assert zerodev.live.permit(permit_id).status == PermitStatus.UNKNOWN
        # Nobody waits behind a nonce that is used.
        assert list_blocked_accounts(now=clock.now() + timedelta(minutes=5)) == []
    zerodev.look(permit_id)
    permit = zerodev.live.permit(permit_id)
    assert permit.status == PermitStatus.COMMITTED and permit.outcome.is_verified


def test_an_operation_that_a_node_goes_on_hiding_is_judged_by_balances(
    behind_a_liar: ZerodevGolem, lying_node: LyingNode
) -> None:
    zerodev = behind_a_liar
    permit_id = zerodev.commit_held()
    with lying_node.lying(hide_operations):
        zerodev.bundler.release()
        zerodev.look(permit_id)
        with override_settings(GOLEM_DOUBT_SECONDS=0):
            for _ in range(3):
                reconcile_transactions(now=clock.now())
                zerodev.look(permit_id)
    permit = zerodev.live.permit(permit_id)
    assert permit.status == PermitStatus.COMMITTED, permit.status_reason
    assert "the balances show that it was carried out" in permit.status_reason
    assert not permit.outcome.is_verified and permit.outcome.ground_truth_source == "balance_check"
    assert permit.spend_entry.settled_micro_usd >= 499 * MICRO
