"""What the owners signed and the chain refused: until the Safe's nonce is used it may still be executed, by anybody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client, override_settings

from archetypes_app.owner_group import ensure_owner_group
from golem_project.runtime.future_times import mend_future_rows
from permits_app.actions.execute_change import execute_change
from permits_app.actions.reconcile_relays import reconcile_relays
from permits_app.approval_errors import ChangeStale
from permits_app.approval_pages.views import page_of
from permits_app.models import ChangeExecution, ChangeRequest, RelayedTransaction
from permits_app.policy_cage.contract import Limit, RuleKind, encode_apply_change
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device, make_owner_with_device, share
from tests.permits_app.approvals.safes import OwnedSafe, ask, limit_change, make_relayer, owner_transaction
from tests.permits_app.execution.chain_tricks import mine, mining_paused, reorganise
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.core.models import AuditEntry

_STRANGER = "0x" + "57" * 20
_AHEAD = 10**11
"""Wei per gas: what others bid, so that their transaction comes first in the block."""


@pytest.fixture
def safe(live_golem: LiveGolem, settings: Any) -> OwnedSafe:
    settings.GOLEM_RELAYER_WAIT_SECONDS = 30
    give_device(live_golem.owner)
    safe = OwnedSafe(live_golem)
    make_relayer(live_golem, settings)
    return safe


def approved(safe: OwnedSafe, request: ChangeRequest) -> ChangeRequest:
    return approve(request, safe.live.owner, signature=safe.sign(owner_transaction(request).safe_tx_hash), code="")


def run(request: ChangeRequest) -> ChangeRequest:
    execute_change(request_id=request.pk, now=clock.now())
    return ChangeRequest.objects.get(pk=request.pk)


def send(safe: OwnedSafe, to: str, data: str) -> str:
    """A stranger's transaction, ahead of the relayer's."""
    rpc = safe.live.world.rpc
    rpc.call("anvil_setBalance", _STRANGER, hex(10**18))
    rpc.call("anvil_impersonateAccount", _STRANGER)
    fields = {
        "from": _STRANGER,
        "to": to,
        "data": data,
        "gas": hex(600_000),
        "maxFeePerGas": hex(_AHEAD),
        "maxPriorityFeePerGas": hex(_AHEAD),
    }
    return str(rpc.call("eth_sendTransaction", fields))


@contextmanager
def nothing_mined(safe: OwnedSafe) -> Iterator[None]:
    """What is sent waits in the node's pool, and the relayer does not wait for it."""
    with override_settings(GOLEM_RELAYER_WAIT_SECONDS=0.05), mining_paused(safe.live.world):
        yield


@contextmanager
def contract_broken(safe: OwnedSafe) -> Iterator[None]:
    """The cage refuses whatever it is asked, until this ends."""
    rpc, contract = safe.live.world.rpc, safe.mirror.contract
    code = rpc.call("eth_getCode", contract, "latest")
    rpc.call("anvil_setCode", contract, "0x60006000fd")
    yield
    rpc.call("anvil_setCode", contract, code)


def fail(safe: OwnedSafe, value: int = 900) -> ChangeRequest:
    """A tighter limit that an owner signed and the contract refused when it was mined."""
    request = approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, value)))
    with nothing_mined(safe):
        assert run(request).state == "APPROVED"
        with contract_broken(safe):
            mine(safe.live.world)
    request = run(request)
    assert (request.state, owner_transaction(request).state) == ("FAILED", "FAILED")
    return request


def test_a_relay_that_reverted_and_left_the_chain_is_sent_again_and_may_succeed(safe: OwnedSafe) -> None:
    other = make_owner_with_device(name="owner-b")
    share(safe.live.golem, other)
    loosened = ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 1_500))
    approve(loosened, other, signature=safe.sign(owner_transaction(loosened).safe_tx_hash, 1))
    assert run(loosened).state == "EXECUTED"
    [(kind, key)] = safe.sync().pending
    safe.pass_time(3_700)
    stop = approved(safe, ask(safe, safe.live.owner, act="cancel", kind=kind, key=key))
    with nothing_mined(safe):
        assert run(stop).state == "APPROVED"
        # Anyone may apply what is due; that it is applied is why it cannot be cancelled.
        send(safe, safe.mirror.contract, "0x" + encode_apply_change(RuleKind(kind), bytes.fromhex(key[2:])).hex())
        mine(safe.live.world)
    stop = run(stop)
    relay = RelayedTransaction.objects.get(owner_transaction__request=stop)
    assert (stop.state, relay.state, owner_transaction(stop).state) == ("FAILED", "REVERTED", "FAILED")
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 1_500

    reorganise(safe.live.world, 2)
    done = reconcile_relays(now=clock.now())
    assert (done["relays_lost"], done["relays_back"]) == (1, 1)
    stop.refresh_from_db()
    again = RelayedTransaction.objects.get(pk=relay.pk)
    assert (again.state, again.raw) == ("MINED", relay.raw)
    assert again.block_hash != relay.block_hash
    assert (stop.state, owner_transaction(stop).state) == ("EXECUTED", "EXECUTED")
    assert "after all" in stop.state_reason
    state = safe.sync()
    assert (state.limit(Limit.MAX_DRAWDOWN_BPS), state.pending) == (1_300, {})
    told = AuditEntry.objects.filter(golem_id=safe.live.golem.pk, data__request_id=str(stop.pk)).order_by("seq")
    assert [entry.event for entry in told][-4:] == [
        "OwnerTransactionFailed",
        "ChangeFailed",
        "OwnerTransactionExecuted",
        "ChangeExecuted",
    ]
    assert verify_stored_chain(safe.live.golem.pk).broken is None


def test_a_relay_that_reverted_does_not_hold_the_relayer_up_after_a_reorganisation(safe: OwnedSafe) -> None:
    rpc, contract = safe.live.world.rpc, safe.mirror.contract
    code = rpc.call("eth_getCode", contract, "latest")
    fail(safe)
    reorganise(safe.live.world, 2)
    # The node keeps what a test wrote over a contract when it goes back behind that.
    rpc.call("anvil_setCode", contract, code)
    later = approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 800)))
    reconcile_relays(now=clock.now())
    states = set(RelayedTransaction.objects.values_list("state", flat=True))
    assert "REVERTED" not in states
    # It succeeded, so that what was asked for under its nonce meanwhile is out of date.
    assert run(later).state == "STALE"
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900


def test_what_failed_and_a_stranger_sent_again_is_recorded_as_executed(safe: OwnedSafe) -> None:
    request = fail(safe)
    rival = approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 800)))
    assert owner_transaction(rival).safe_nonce == owner_transaction(request).safe_nonce
    safe.live.world.wait(send(safe, safe.address, RelayedTransaction.objects.get().data))
    assert reconcile_relays(now=clock.now())["late_executions"] == 1
    request.refresh_from_db()
    asked = owner_transaction(request)
    assert (request.state, asked.state) == ("EXECUTED", "EXECUTED")
    assert asked.executed_in not in {row.tx_hash for row in RelayedTransaction.objects.all()}
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900
    assert owner_transaction(rival).state == "DEAD"
    assert run(rival).state == "STALE"
    # Once is once, however often it is looked at.
    assert not reconcile_relays(now=clock.now()).get("late_executions")
    assert ChangeExecution.objects.filter(request=request).count() == 1


def test_what_failed_is_given_up_when_its_nonce_went_to_another_deep_enough(safe: OwnedSafe) -> None:
    request = fail(safe)
    assert run(approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 800)))).state == (
        "EXECUTED"
    )
    mine(safe.live.world, 64)
    assert not reconcile_relays(now=clock.now()).get("late_executions")
    assert owner_transaction(request).state == "DEAD"
    request.refresh_from_db()
    assert request.state == "FAILED"


def test_the_page_of_what_failed_offers_to_use_its_nonce_up(safe: OwnedSafe, client: Client) -> None:
    request = fail(safe)
    safe.live.owner.groups.add(ensure_owner_group())
    client.force_login(safe.live.owner)
    assert "whoever saw the signed call may send it again" in client.get(page_of(request.pk)).content.decode()
    answer = client.post(page_of(request.pk).replace("/change/", "/use-up-nonce/"))
    empty = ChangeRequest.objects.get(kind="nonce")
    assert answer["Location"] == page_of(empty.pk)
    assert run(approved(safe, empty)).state == "EXECUTED"
    assert "whoever saw the signed call" not in client.get(page_of(request.pk)).content.decode()


def test_a_relay_that_was_overtaken_by_the_same_transaction_is_executed(safe: OwnedSafe) -> None:
    world = safe.live.world
    request = approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900)))
    with nothing_mined(safe):
        assert run(request).state == "APPROVED"
        relay = RelayedTransaction.objects.get()
        world.rpc.call("anvil_dropTransaction", relay.tx_hash)
        send(safe, safe.address, relay.data)
        mine(world)
        world.rpc.call("eth_sendRawTransaction", relay.raw)
        mine(world)
    request = run(request)
    assert (request.state, request.problem) == ("EXECUTED", {})
    assert RelayedTransaction.objects.get().state == "REVERTED"
    assert safe.sync().limit(Limit.MAX_DRAWDOWN_BPS) == 900


def test_a_relay_whose_nonce_went_to_another_is_out_of_date_and_not_failed(safe: OwnedSafe) -> None:
    request = approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 900)))
    with nothing_mined(safe):
        assert run(request).state == "APPROVED"
        relay = RelayedTransaction.objects.get()
        safe.live.world.rpc.call("anvil_dropTransaction", relay.tx_hash)
    safe.nonce = owner_transaction(request).safe_nonce
    safe.owner_call(safe.address, b"")
    safe.live.world.rpc.call("eth_sendRawTransaction", relay.raw)
    request = run(request)
    assert (request.state, request.problem["code"]) == ("STALE", ChangeStale.code)
    assert owner_transaction(request).state == "DEAD"


def set_base_fee(safe: OwnedSafe, wei: int) -> None:
    for _ in range(2):
        safe.live.world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(wei))
        mine(safe.live.world)
    safe.live.world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(wei))


def test_a_call_that_costs_more_than_the_relayer_may_pay_is_refused_before_it_is_signed_and_sent_when_gas_is_cheap(
    safe: OwnedSafe,
) -> None:
    request = approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 400)))
    before = int(safe.live.world.rpc.call("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
    set_base_fee(safe, 10**12)
    try:
        told = run(request)
        assert told.state == "APPROVED", told.state
        assert not RelayedTransaction.objects.exists()
    finally:
        set_base_fee(safe, before)
    assert run(request).state == "EXECUTED"


def test_a_relayed_call_that_was_sent_in_a_future_that_did_not_come_is_replaced_in_its_time(safe: OwnedSafe) -> None:
    request = approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 400)))
    with override_settings(GOLEM_RELAYER_WAIT_SECONDS=1, GOLEM_STUCK_AFTER_SECONDS=0):
        with mining_paused(safe.live.world):
            with override_settings(GOLEM_STUCK_AFTER_SECONDS=3_600):
                run(request)
            RelayedTransaction.objects.update(sent_at=clock.now() + timedelta(days=1))
            mend_future_rows(now=clock.now())
            run(request)
            assert RelayedTransaction.objects.count() == 2
        assert run(request).state == "EXECUTED"


def test_a_relayed_call_that_nodes_refuse_for_its_fee_is_signed_again_at_a_higher_one(
    safe: OwnedSafe, monkeypatch: pytest.MonkeyPatch
) -> None:
    from permits_app import gas_relayer

    request = approved(safe, ask(safe, safe.live.owner, limit_change(Limit.MAX_DRAWDOWN_BPS, 400)))
    before = int(safe.live.world.rpc.call("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
    original = gas_relayer._store

    def store_and_rise(*asked: Any, **named: Any) -> RelayedTransaction:
        row = original(*asked, **named)
        if not named.get("replaced"):
            set_base_fee(safe, int(row.max_fee_per_gas) + 1)
        return row

    monkeypatch.setattr(gas_relayer, "_store", store_and_rise)
    try:
        with override_settings(GOLEM_RELAYER_WAIT_SECONDS=1):
            for _ in range(3):
                run(request)
    finally:
        set_base_fee(safe, before)
    assert run(request).state == "EXECUTED"
    assert RelayedTransaction.objects.filter(state="REPLACED").exists()
