"""The life of a user operation: sent, unknown, replaced, cancelled, reorganised, halted; the chain tells its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings
from eth_account import Account
from eth_account.messages import encode_defunct

from permits_app.actions.halt import carry_out_halt, halt_golem
from permits_app.custody.signers import choose_signer
from permits_app.errors import PermitAlreadyCommitted
from permits_app.execution import cancellation, nonces
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import (
    ActionPermit,
    NonceReservation,
    OutboundTransaction,
)
from permits_app.models.transaction import PayloadPurpose, TransactionState
from tests.evm.world import CHAIN_ID
from tests.permits_app.execution.chain_tricks import mine, reorganise
from tests.permits_app.execution.signers.bundler_stand_in import Refused
from tests.permits_app.execution.test_halt import allowance_on_chain, carry_out, give_allowance, halt
from tests.permits_app.execution.zerodev_golem import USD, ZerodevGolem
from tools_app.chain import networks
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.standards.user_operation import decode_operation


@pytest.fixture
def three_confirmations(zerodev: ZerodevGolem) -> None:
    found = networks.get_network(CHAIN_ID)
    urls = [url.reveal() for url in found.rpc_urls]
    networks.configure([networks.with_rpc_urls(found, urls, confirmations=3)])


def test_a_bundler_that_names_another_hash_changes_nothing_about_what_is_looked_for(zerodev: ZerodevGolem) -> None:
    zerodev.bundler.twist["eth_sendUserOperation"] = lambda _: "0x" + "ab" * 32
    permit_id = zerodev.live.preview()["permit_id"]
    zerodev.live.start(permit_id)
    zerodev.look(permit_id)
    # It counts as sent from before it left, and what was sent is looked for under its own hash.
    assert zerodev.live.permit(permit_id).status == "COMMITTED"
    [row] = zerodev.rows(permit_id)
    assert (row.state, row.broadcast_count) == (TransactionState.MINED, 1)
    assert zerodev.used_nonces() == 1


def test_the_same_bytes_go_to_the_bundler_however_often_and_it_knows_them(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.commit_held()
    assert zerodev.live.permit(permit_id).status == "UNKNOWN"
    zerodev.look(permit_id)
    sent = [params[0] for method, params in zerodev.bundler.seen if method == "eth_sendUserOperation"]
    assert len(sent) == 2 and sent[0] == sent[1]
    zerodev.bundler.release()
    zerodev.live.work(permit_id)
    assert zerodev.live.permit(permit_id).status == "COMMITTED"
    assert len(zerodev.rows(permit_id)) == 1


def test_an_operation_that_is_mined_before_it_is_sent_again_is_found_after_aa25(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.commit_held()
    zerodev.bundler.release()
    zerodev.live.work(permit_id)
    assert zerodev.live.permit(permit_id).status == "COMMITTED"
    assert zerodev.used_nonces() == 1 and len(zerodev.bundler.carried) == 1


def test_a_bundler_without_a_word_leaves_it_unknown_until_the_chain_tells(
    zerodev: ZerodevGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    zerodev.bundler.silent.add("eth_sendUserOperation")
    permit_id = zerodev.commit_held()
    [row] = zerodev.rows(permit_id)
    assert (row.state, row.broadcast_count) == (TransactionState.UNKNOWN, 1)
    assert zerodev.live.permit(permit_id).status == "UNKNOWN"
    # It had the operation all the same, and what it says of it afterwards is not needed.
    zerodev.bundler.release()
    monkeypatch.setattr(choose_signer, "_zerodev", zerodev.bundler.client(url="http://127.0.0.1:9"))
    zerodev.live.work(permit_id)
    assert zerodev.live.permit(permit_id).status == "COMMITTED"


def test_two_actions_at_once_take_two_nonces_in_their_order(zerodev: ZerodevGolem) -> None:
    first = zerodev.commit_held()
    second = zerodev.commit_held(amount="400000000")
    assert [row.nonce for each in (first, second) for row in zerodev.rows(each)] == [0, 1]
    # The EntryPoint takes the second only after the first; until then its bundler refuses it, and it stays stored.
    assert list(zerodev.bundler.pool) == [zerodev.rows(first)[0].tx_hash]
    zerodev.bundler.release()
    for permit_id in (first, second):
        zerodev.live.work(permit_id)
        assert zerodev.live.permit(permit_id).status == "COMMITTED"
    assert zerodev.used_nonces() == 2 and OutboundTransaction.objects.count() == 2


def test_a_commit_that_is_asked_twice_signs_once(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.commit_held()
    with pytest.raises(PermitAlreadyCommitted):
        zerodev.live.start(permit_id)
    zerodev.bundler.release()
    zerodev.live.work(permit_id)
    zerodev.live.work(permit_id)
    assert OutboundTransaction.objects.count() == 1 and zerodev.used_nonces() == 1


def test_a_stuck_operation_is_replaced_at_higher_fees_within_its_reservation(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.commit_held()
    usdc = zerodev.balance("USDC")
    assert reconcile_transactions(now=clock.now() + timedelta(seconds=91))["sped_up"] == 1
    old, new = zerodev.rows(permit_id)
    assert (new.nonce, new.to, new.action_digest, new.is_live) == (old.nonce, old.to, old.action_digest, True)
    assert int(new.max_fee_per_gas) * 10 >= int(old.max_fee_per_gas) * 11
    assert int(new.max_priority_fee_per_gas) * 10 >= int(old.max_priority_fee_per_gas) * 11
    permit = zerodev.live.permit(permit_id)
    reserved = int(permit.calls[0]["gas_limit"]) * int(permit.max_fee_per_gas)
    assert new.gas_limit * int(new.max_fee_per_gas) <= reserved
    assert list(zerodev.bundler.pool) == [new.tx_hash]
    zerodev.bundler.release()
    zerodev.live.work(permit_id)
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.state, new.state) == (TransactionState.DROPPED, TransactionState.MINED)
    assert usdc - zerodev.balance("USDC") == 500 * USD and zerodev.used_nonces() == 1


def test_an_operation_the_bundler_refused_is_signed_again_at_higher_fees_or_given_up(zerodev: ZerodevGolem) -> None:
    zerodev.bundler.fails["eth_sendUserOperation"] = Refused(-32602, "maxFeePerGas must be at least 9")
    permit_id = zerodev.commit_held()
    [row] = zerodev.rows(permit_id)
    assert (row.state, zerodev.live.permit(permit_id).status) == (TransactionState.SIGNED, "UNKNOWN")
    zerodev.bundler.fails.clear()
    zerodev.bundler.holds = False
    assert reconcile_transactions(now=clock.now() + timedelta(seconds=91))["sped_up"] == 1
    zerodev.live.work(permit_id)
    assert zerodev.live.permit(permit_id).status == "COMMITTED"
    zerodev.bundler.fails["eth_sendUserOperation"] = Refused(-32500, "AA23 reverted")
    permit_id = zerodev.commit_held(amount="300000000")
    zerodev.bundler.fails = {"zd_getUserOperationGasPrice": Refused(-32500, "AA23 reverted")}
    now = clock.now() + timedelta(seconds=91)
    assert "cancelled" not in reconcile_transactions(now=now)
    zerodev.bundler.fails.clear()
    with override_settings(GOLEM_FEE_RAISE_BPS=100_000):
        assert reconcile_transactions(now=now)["cancelled"] == 1


def test_past_its_budget_a_stuck_operation_is_cancelled_by_an_empty_one(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.commit_held()
    usdc = zerodev.balance("USDC")
    with override_settings(GOLEM_FEE_RAISE_BPS=100_000):
        assert reconcile_transactions(now=clock.now() + timedelta(seconds=91))["cancelled"] == 1
    _, fill = zerodev.rows(permit_id)
    assert fill.purpose == PayloadPurpose.FILL
    assert decode_operation(bytes.fromhex(fill.raw[2:])).call_data == b""
    zerodev.bundler.release()
    assert reconcile_transactions(now=clock.now())["fills_mined"] == 1
    zerodev.live.work(permit_id)
    assert zerodev.live.permit(permit_id).status == "REVERTED"
    assert zerodev.balance("USDC") == usdc and zerodev.used_nonces() == 1


def test_a_bundler_that_lost_the_operation_after_its_nonce_was_used_elsewhere_ends_it(zerodev: ZerodevGolem) -> None:
    permit_id = zerodev.commit_held()
    [row] = zerodev.rows(permit_id)
    # The key signs something else elsewhere under the same nonce.
    operation = decode_operation(bytes.fromhex(row.raw[2:]))
    other = replace(operation, call_data=b"")
    key = Account.from_key(choose_signer.open_keystore().read_key(zerodev.key.address).reveal())
    digest = encode_defunct(primitive=bytes.fromhex(other.hash(chain_id=CHAIN_ID)[2:]))
    other = replace(other, signature=bytes(key.sign_message(digest).signature))
    zerodev.bundler.pool = {other.hash(chain_id=CHAIN_ID): other}
    zerodev.bundler.release()
    zerodev.look(permit_id)
    permit = zerodev.live.permit(permit_id)
    assert permit.status == "REVERTED" and "its nonce was used by another transaction" in permit.status_reason
    row.refresh_from_db()
    assert row.state == TransactionState.DROPPED


def test_a_reorganisation_takes_the_operation_back_and_the_same_bytes_are_sent_again(
    zerodev: ZerodevGolem, three_confirmations: None
) -> None:
    usdc = zerodev.balance("USDC")
    permit_id = zerodev.live.preview()["permit_id"]
    zerodev.live.commit(permit_id)
    [row] = zerodev.rows(permit_id)
    assert row.state == TransactionState.MINED
    head = int(zerodev.live.world.rpc.call("eth_blockNumber"), 16)
    reorganise(zerodev.live.world, head - int(row.block_number or 0) + 1)
    assert zerodev.balance("USDC") == usdc
    done = reconcile_transactions(now=clock.now())
    assert (done["reorged"], done["reopened"]) == (1, 1)
    zerodev.live.work(permit_id)
    [again] = zerodev.rows(permit_id)
    assert (again.tx_hash, again.raw, again.state) == (row.tx_hash, row.raw, TransactionState.MINED)
    assert zerodev.live.permit(permit_id).status == "COMMITTED"
    mine(zerodev.live.world, 3)
    assert reconcile_transactions(now=clock.now())["final"] == 1


def test_an_abandoned_nonce_below_one_in_use_is_filled_by_an_empty_operation(zerodev: ZerodevGolem) -> None:
    lost = zerodev.live.permit(zerodev.live.preview()["permit_id"])
    held: dict[str, Any] = {
        "permit_id": lost.pk,
        "chain_id": CHAIN_ID,
        "address": zerodev.address,
        "count": 1,
        "pending_nonce": 0,
    }
    assert nonces.reserve_nonces(**held) == [0]
    permit_id = zerodev.live.preview(amount="400000000")["permit_id"]
    zerodev.live.start(permit_id)
    zerodev.look(permit_id)
    nonces.abandon_nonces(permit_id=lost.pk)
    assert zerodev.live.permit(permit_id).status == "UNKNOWN" and zerodev.used_nonces() == 0
    assert reconcile_transactions(now=clock.now())["filled"] == 1
    assert NonceReservation.objects.get(nonce=0).state == "FILLED"
    zerodev.live.work(permit_id)
    assert zerodev.live.permit(permit_id).status == "COMMITTED"
    assert zerodev.used_nonces() == 2


def test_a_halt_replaces_what_is_pending_by_an_empty_operation(
    zerodev: ZerodevGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = cancellation._find_winner

    def release_and_look(row: OutboundTransaction, deadline: Deadline) -> str:
        zerodev.bundler.release()
        return look(row, deadline)

    monkeypatch.setattr(cancellation, "_find_winner", release_and_look)
    usdc = zerodev.balance("USDC")
    permit_id = zerodev.commit_held()
    halt_golem(golem=zerodev.live.golem, reason="drained", actor="owner:1", now=clock.now())
    steps = carry_out_halt(golem_id=zerodev.live.golem.pk, epoch=1, now=clock.now())
    [told] = next(step for step in steps if step["step"] == "transactions in flight cancelled")["transactions"]
    assert told["outcome"] == "cancelled: the empty operation used its nonce"
    zerodev.live.work(permit_id)
    assert zerodev.live.permit(permit_id).status == "REVERTED"
    assert zerodev.balance("USDC") == usdc


def test_a_halt_says_what_a_bundler_that_is_away_may_still_carry_out(
    zerodev: ZerodevGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    zerodev.commit_held()
    monkeypatch.setattr(choose_signer, "_zerodev", zerodev.bundler.client(url="http://127.0.0.1:9"))
    halt_golem(golem=zerodev.live.golem, reason="drained", actor="owner:1", now=clock.now())
    with override_settings(GOLEM_HALT_WAIT_SECONDS=1):
        steps = carry_out_halt(golem_id=zerodev.live.golem.pk, epoch=1, now=clock.now())
    [told] = next(step for step in steps if step["step"] == "transactions in flight cancelled")["transactions"]
    assert told["outcome"].startswith("not cancelled: SIGNER_UNAVAILABLE; it may still be mined")


def test_standing_allowances_of_the_account_are_revoked_under_the_halt(zerodev: ZerodevGolem) -> None:
    spender = zerodev.live.world.new_account().address
    give_allowance(zerodev.live, "USDC", spender, 5_000_000)
    halt(zerodev.live)
    step = carry_out(zerodev.live)["standing allowances revoked"]
    assert [(row["token"], row["outcome"]) for row in step["allowances"]] == [("USDC", "COMMITTED")]
    assert allowance_on_chain(zerodev.live, "USDC", spender) == 0
    assert ActionPermit.objects.get(tool_name="emergency_halt").sends_operation
