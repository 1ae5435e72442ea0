"""A plan one of whose calls will never run is over: nothing more of it runs, and nobody waits behind it.

The key of the golem is also in a wallet of its owner, which sends what it likes: the very nonce of a call, before it is
sent, while it waits, or at a higher fee.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from permits_app.actions.start_commit import start_commit
from permits_app.custody.signers.base import UnsignedTransaction
from permits_app.custody.signers.choose_signer import open_signer
from permits_app.execution.payloads import send_payload
from permits_app.execution.reconcile import list_reopened, reconcile_transactions
from permits_app.models import ActionPermit, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import UNSETTLED, PayloadPurpose
from permits_app.permits.blocked_commits import list_blocked_accounts
from permits_app.permits.permit_hashes import hash_plan
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused, reorganise
from tools_app.core import clock

GWEI = 10**9
OTHERS_FEE = 500 * GWEI


def rows_of(permit_id: str) -> list[OutboundTransaction]:
    return list(OutboundTransaction.objects.filter(permit_id=UUID(permit_id)).order_by("call_index", "pk"))


def send_from_a_wallet(golem: LiveGolem, nonce: int, *, value: int = 0) -> str:
    """The owner's own transaction with the golem's key under `nonce`."""
    plain = UnsignedTransaction(
        chain_id=CHAIN_ID,
        nonce=nonce,
        to=golem.world.contracts["weth"] if value else golem.golem.address,
        value=value,
        data=b"",
        gas_limit=60_000,
        max_fee_per_gas=OTHERS_FEE,
        max_priority_fee_per_gas=OTHERS_FEE,
    )
    signed = open_signer(golem.golem.address).sign(plain)
    return str(golem.world.rpc.call("eth_sendRawTransaction", "0x" + signed.raw.hex()))


@contextmanager
def used_between_store_and_send(
    golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, index: int = 0, how_many: int = 1
) -> Iterator[None]:
    """Once the bytes of a permit are stored, and before call `index` is sent, the wallet uses its nonce."""
    done: list[int] = []

    def use_first(row: OutboundTransaction, **asked: Any) -> bool:
        if row.call_index == index and not done:
            for extra in range(how_many):
                golem.world.wait(send_from_a_wallet(golem, row.nonce + extra))
            done.append(row.nonce)
        return original(row, **asked)

    original = send_payload
    with monkeypatch.context() as patched:
        patched.setattr("permits_app.execution.executor.send_payload", use_first)
        yield
    assert done, "nobody took the nonce"


def lengthen(golem: LiveGolem, permit_id: str, calls: int) -> None:
    """Make a permit of two calls one of `calls`: the approval again and again, then the swap."""
    permit = golem.permit(permit_id)
    first, last = permit.calls
    permit.calls = [*([first] * (calls - 1)), last]
    shown, swapped = permit.simulation["calls"]
    permit.simulation["calls"] = [*([shown] * (calls - 1)), swapped]
    permit.plan_hash = hash_plan(permit)
    permit.save(update_fields=["calls", "simulation", "plan_hash"])


def work_for_a_moment(golem: LiveGolem, permit_id: str) -> None:
    with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2, GOLEM_FIRST_LOOK_SECONDS=0.2):
        golem.work(permit_id)


def assert_over(golem: LiveGolem, permit_id: str) -> ActionPermit:
    """Settled with a finding, nothing of it counted as spent but gas, no nonce left that anybody waits for."""
    permit = golem.permit(permit_id)
    assert permit.status == PermitStatus.REVERTED, permit.status_reason
    assert "its nonce was used by another transaction" in permit.status_reason
    assert permit.spend_entry.state == SpendState.SETTLED
    assert permit.outcome.is_cancelled and not permit.outcome.is_verified
    reconcile_transactions(now=clock.now())
    open_rows = OutboundTransaction.objects.filter(
        sender=golem.golem.address, is_live=True, state__in=[str(state) for state in UNSETTLED]
    )
    assert not open_rows.exists()
    return permit


def assert_goes_on(golem: LiveGolem) -> None:
    """A new action is committed, also by the clock of a minute later."""
    permit_id = golem.preview(amount="410000000")["permit_id"]
    start_commit(golem=golem.golem, permit_id=UUID(permit_id), actor="t", now=clock.now() + timedelta(seconds=40))
    answer = golem.work(permit_id)
    assert answer is not None and answer["status"] == PermitStatus.COMMITTED, answer
    assert list_blocked_accounts(now=clock.now() + timedelta(hours=1)) == []


@pytest.mark.parametrize("calls", [2, 3, 4, 5])
def test_a_plan_whose_first_nonce_was_taken_before_it_was_sent_is_over_in_the_same_look(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    lengthen(live_golem, permit_id, calls)
    usdc = live_golem.balance("USDC")
    live_golem.start(permit_id)
    with used_between_store_and_send(live_golem, monkeypatch):
        work_for_a_moment(live_golem, permit_id)
    assert_over(live_golem, permit_id)
    assert live_golem.balance("USDC") == usdc
    assert live_golem.mined_nonce() == calls
    rows = rows_of(permit_id)
    assert [row.broadcast_count for row in rows if row.purpose == PayloadPurpose.CALL] == [1] + [0] * (calls - 1)
    assert_goes_on(live_golem)


@pytest.mark.parametrize("index", [1, 2, 3])
def test_a_plan_that_loses_a_later_call_ends_there_and_fills_only_what_comes_after(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch, index: int
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    lengthen(live_golem, permit_id, 5)
    usdc = live_golem.balance("USDC")
    live_golem.start(permit_id)
    with used_between_store_and_send(live_golem, monkeypatch, index):
        work_for_a_moment(live_golem, permit_id)
    permit = assert_over(live_golem, permit_id)
    assert f"call {index + 1} will never run" in permit.status_reason
    assert f"call {index + 2} was never sent" in permit.status_reason
    assert live_golem.balance("USDC") == usdc
    assert sum(row.purpose == PayloadPurpose.FILL for row in rows_of(permit_id)) == 4 - index
    assert_goes_on(live_golem)


def test_permits_behind_a_lost_plan_go_on_within_the_same_round(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = live_golem.preview()["permit_id"]
    later = [live_golem.preview(amount=str(300_000_000 + number))["permit_id"] for number in range(3)]
    live_golem.start(first)
    for permit_id in later:
        live_golem.start(permit_id)

    def work_on_the_others(row: OutboundTransaction, **asked: Any) -> bool:
        if str(row.permit_id) == first and row.call_index == 0 and not seen:
            seen.append(row.nonce)
            live_golem.world.wait(send_from_a_wallet(live_golem, row.nonce))
            for permit_id in later:
                work_for_a_moment(live_golem, permit_id)
        return original(row, **asked)

    seen: list[int] = []
    original = send_payload
    with monkeypatch.context() as patched:
        patched.setattr("permits_app.execution.executor.send_payload", work_on_the_others)
        work_for_a_moment(live_golem, first)
    assert_over(live_golem, first)
    live_golem.wait_until_mined(8)
    for permit_id in later:
        live_golem.work(permit_id)
        assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED


def test_a_call_that_a_wallet_replaced_at_a_higher_fee_takes_the_later_ones_that_wait_with_it(
    live_golem: LiveGolem,
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    usdc = live_golem.balance("USDC")
    live_golem.start(permit_id)
    with mining_paused(live_golem.world):
        work_for_a_moment(live_golem, permit_id)
        first, second = rows_of(permit_id)
        assert (first.broadcast_count, second.broadcast_count) == (1, 1)
        live_golem.world.rpc.call("anvil_dropTransaction", second.tx_hash)
        send_from_a_wallet(live_golem, first.nonce)
        mine(live_golem.world)
        done = reconcile_transactions(now=clock.now())
        assert (done["lost"], done["cancelled"]) == (1, 1)
    assert UUID(permit_id) in list_reopened(now=clock.now() - timedelta(seconds=60))
    live_golem.wait_until_mined(2)
    live_golem.work(permit_id)
    assert_over(live_golem, permit_id)
    assert live_golem.balance("USDC") == usdc
    assert_goes_on(live_golem)


def test_a_wallet_that_took_all_nonces_of_a_plan_ends_it_without_a_fill(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    with used_between_store_and_send(live_golem, monkeypatch, how_many=2):
        work_for_a_moment(live_golem, permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.REVERTED
    reconcile_transactions(now=clock.now())
    assert live_golem.mined_nonce() == 2
    assert_goes_on(live_golem)


def test_a_plan_whose_first_call_reverted_before_the_next_was_sent_sends_no_more(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    original = send_payload

    def die_after_the_first(row: OutboundTransaction, **asked: Any) -> bool:
        if row.call_index:
            raise KeyboardInterrupt
        return original(row, **asked)

    with monkeypatch.context() as patched, mining_paused(live_golem.world):
        patched.setattr("permits_app.execution.executor.send_payload", die_after_the_first)
        with pytest.raises(KeyboardInterrupt):
            live_golem.work(permit_id)
        # In the block of its approval the token refuses everybody.
        usdc = live_golem.world.tokens["USDC"].address
        code = live_golem.world.rpc.call("eth_getCode", usdc, "latest")
        live_golem.world.rpc.call("anvil_setCode", usdc, "0x60006000fd")
        try:
            mine(live_golem.world)
        finally:
            live_golem.world.rpc.call("anvil_setCode", usdc, code)
    work_for_a_moment(live_golem, permit_id)
    rows = rows_of(permit_id)
    assert [row.broadcast_count for row in rows if row.purpose == PayloadPurpose.CALL] == [1, 0]
    permit = live_golem.permit(permit_id)
    assert permit.status == PermitStatus.REVERTED
    assert "call 1 reverted" in permit.status_reason and "call 2 was never sent" in permit.status_reason
    reconcile_transactions(now=clock.now())
    assert_goes_on(live_golem)


def test_later_calls_of_a_plan_that_the_reconciler_cancelled_are_used_up_as_well(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    lengthen(live_golem, permit_id, 4)
    live_golem.start(permit_id)
    with mining_paused(live_golem.world):
        work_for_a_moment(live_golem, permit_id)
        # Nothing that the permit reserved pays for a higher fee: the stuck call is cancelled.
        with override_settings(GOLEM_FEE_RAISE_BPS=100_000):
            done = reconcile_transactions(now=clock.now() + timedelta(seconds=91))
        assert done["cancelled"] == 4
        fills = [row for row in rows_of(permit_id) if row.purpose == PayloadPurpose.FILL]
        assert [row.call_index for row in fills] == [0, 1, 2, 3]
    live_golem.wait_until_mined(4)
    live_golem.work(permit_id)
    assert_over(live_golem, permit_id)
    assert_goes_on(live_golem)


def test_what_a_key_that_is_away_kept_from_being_filled_is_filled_in_a_later_round(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    from permits_app.errors import SignerUnavailable
    from permits_app.execution import replacement

    def away(address: str) -> Any:
        raise SignerUnavailable("away")

    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    with used_between_store_and_send(live_golem, monkeypatch):
        with monkeypatch.context() as patched:
            patched.setattr(replacement, "open_signer", away)
            work_for_a_moment(live_golem, permit_id)
            assert live_golem.permit(permit_id).status == PermitStatus.UNKNOWN
    assert reconcile_transactions(now=clock.now())["cancelled"] == 1
    live_golem.work(permit_id)
    assert_over(live_golem, permit_id)
    assert_goes_on(live_golem)


def test_a_fill_that_a_wallet_replaces_is_not_waited_for(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    with mining_paused(live_golem.world):
        work_for_a_moment(live_golem, permit_id)
        with override_settings(GOLEM_FEE_RAISE_BPS=100_000):
            reconcile_transactions(now=clock.now() + timedelta(seconds=91))
        fill = next(row for row in rows_of(permit_id) if row.purpose == PayloadPurpose.FILL and not row.call_index)
        live_golem.world.rpc.call("anvil_dropTransaction", fill.tx_hash)
        send_from_a_wallet(live_golem, fill.nonce)
        mine(live_golem.world)
        reconcile_transactions(now=clock.now())
    live_golem.wait_until_mined(2)
    live_golem.work(permit_id)
    assert_over(live_golem, permit_id)
    assert_goes_on(live_golem)


def test_a_fill_that_its_own_fee_holds_up_is_filled_again(live_golem: LiveGolem) -> None:
    world = live_golem.world
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    with mining_paused(world):
        work_for_a_moment(live_golem, permit_id)
        with override_settings(GOLEM_FEE_RAISE_BPS=100_000):
            reconcile_transactions(now=clock.now() + timedelta(seconds=91))
        cap = max(int(row.max_fee_per_gas) for row in rows_of(permit_id))
        base = int(world.rpc.call("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
        world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(cap * 2))
        mine(world)
        assert live_golem.mined_nonce() == 0
        reconcile_transactions(now=clock.now() + timedelta(seconds=182))
        world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(cap * 2))
        mine(world)
        assert live_golem.mined_nonce() >= 1
        world.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(base))
        reconcile_transactions(now=clock.now())
    live_golem.wait_until_mined(2)
    live_golem.work(permit_id)
    assert_over(live_golem, permit_id)


def test_a_nonce_that_a_reorganisation_freed_again_is_used_up(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    before = int(live_golem.world.rpc.call("eth_blockNumber"), 16)
    with used_between_store_and_send(live_golem, monkeypatch):
        work_for_a_moment(live_golem, permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.REVERTED
    reorganise(live_golem.world, int(live_golem.world.rpc.call("eth_blockNumber"), 16) - before)
    assert live_golem.mined_nonce() == 0
    waiting = live_golem.preview(amount="420000000")["permit_id"]
    live_golem.start(waiting)
    work_for_a_moment(live_golem, waiting)
    for _ in range(3):
        reconcile_transactions(now=clock.now())
    live_golem.wait_until_mined(4)
    live_golem.work(waiting)
    assert live_golem.permit(waiting).status == PermitStatus.COMMITTED


def test_a_node_that_forgets_its_mempool_is_sent_the_same_bytes_again(live_golem: LiveGolem) -> None:
    permit_id = live_golem.preview()["permit_id"]
    live_golem.start(permit_id)
    with mining_paused(live_golem.world):
        work_for_a_moment(live_golem, permit_id)
        before = [row.raw for row in rows_of(permit_id)]
        live_golem.world.rpc.call("anvil_dropAllTransactions")
        live_golem.work(permit_id)
    live_golem.wait_until_mined(2)
    live_golem.work(permit_id)
    assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert [row.raw for row in rows_of(permit_id)] == before
