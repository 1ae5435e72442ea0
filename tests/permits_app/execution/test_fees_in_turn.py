"""Permits of one account whose fees are raised in turn, and what the account's owners do beside them."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.test import override_settings

from golem_project.embedded.world.rpc import call_data
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.models.transaction import IN_A_BLOCK, PayloadPurpose, TransactionState
from permits_app.permits.blocked_commits import list_blocked_accounts
from permits_app.permits.lifecycle import FINAL
from permits_app.policy_cage.safe_batches import build_safe_call, consent_of
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.permits_app.execution.chain_tricks import mine, mining_paused
from tests.permits_app.execution.shared_safe import SharedSafe
from tests.permits_app.execution.test_lost_sequences import rows_of, send_from_a_wallet, work_for_a_moment
from tests.permits_app.execution.test_safe_wallet import ADD_OWNER, SafeGolem
from tests.permits_app.execution.zerodev_golem import ZerodevGolem
from tests.proof.caged.engines import make_account
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.toolkit.plan import Call

USD = 10**6
MICRO = 10**6
LATER = timedelta(seconds=91)
MOST_ROUNDS = 20
FIRST, SECOND = "500000000", "410000000"


def start_both(golem: LiveGolem) -> tuple[str, str]:
    """Two permits of one account, sent and not mined."""
    permits = [str(golem.preview(amount=amount)["permit_id"]) for amount in (FIRST, SECOND)]
    for permit_id in permits:
        golem.start(permit_id)
        work_for_a_moment(golem, permit_id)
    return permits[0], permits[1]


def work_both(golem: LiveGolem, *permits: str) -> None:
    """Worker and reconciler in turn until both permits have ended: a slow machine sees a receipt some rounds later."""
    for _ in range(MOST_ROUNDS):
        for permit_id in permits:
            work_for_a_moment(golem, permit_id)
        reconcile_transactions(now=clock.now())
        if all(golem.permit(permit_id).status in FINAL for permit_id in permits):
            return


def assert_paid_within_its_reservation(golem: LiveGolem, permit_id: str) -> None:
    permit = golem.permit(permit_id)
    reserved = sum(int(call["gas_limit"]) for call in permit.calls) * int(permit.max_fee_per_gas)
    offered = [row for row in rows_of(permit_id) if row.purpose == PayloadPurpose.CALL and row.is_live]
    assert sum(row.gas_limit * int(row.max_fee_per_gas) for row in offered) <= reserved
    assert permit.spend_entry.state == SpendState.SETTLED


def assert_one_nonce_each(golem: LiveGolem, *permits: str) -> None:
    live = [row for each in permits for row in rows_of(each) if row.is_live]
    assert len({row.nonce for row in live}) == len(live)
    assert golem.mined_nonce() == max(row.nonce for row in live) + 1
    assert list_blocked_accounts(now=clock.now() + timedelta(minutes=5)) == []


def test_fees_of_two_permits_of_an_account_are_raised_in_turn_and_both_are_carried_out_once(
    live_golem: LiveGolem,
) -> None:
    usdc = live_golem.balance("USDC")
    with mining_paused(live_golem.world):
        first, second = start_both(live_golem)
        assert reconcile_transactions(now=clock.now() + LATER)["sped_up"] == 1
        raised = [row for row in rows_of(first) if not row.is_live]
        assert len(raised) == 1 and all(row.is_live for row in rows_of(second)), "only the next nonce is replaced"
        assert reconcile_transactions(now=clock.now() + 2 * LATER)["sped_up"] == 1
    work_both(live_golem, first, second)
    for permit_id in (first, second):
        assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED
        assert_paid_within_its_reservation(live_golem, permit_id)
    assert usdc - live_golem.balance("USDC") == 910 * USD
    assert_one_nonce_each(live_golem, first, second)


def test_what_waits_behind_a_permit_whose_fees_went_past_its_budget_is_carried_out_after_it(
    live_golem: LiveGolem,
) -> None:
    usdc = live_golem.balance("USDC")
    with mining_paused(live_golem.world):
        first, second = start_both(live_golem)
        with override_settings(GOLEM_FEE_RAISE_BPS=100_000):
            done = reconcile_transactions(now=clock.now() + LATER)
        assert done["cancelled"] == len([row for row in rows_of(first) if row.is_live])
        assert all(row.purpose == PayloadPurpose.CALL for row in rows_of(second))
    work_both(live_golem, first, second)
    assert live_golem.permit(first).status == PermitStatus.REVERTED
    assert live_golem.permit(second).status == PermitStatus.COMMITTED, live_golem.permit(second).status_reason
    assert usdc - live_golem.balance("USDC") == 410 * USD
    assert live_golem.permit(first).spend_entry.settled_micro_usd < MICRO
    assert_one_nonce_each(live_golem, first, second)


def test_a_permit_that_was_replaced_is_mined_as_it_was_first_sent_and_counts_once(live_golem: LiveGolem) -> None:
    usdc = live_golem.balance("USDC")
    with mining_paused(live_golem.world):
        first, second = start_both(live_golem)
        reconcile_transactions(now=clock.now() + LATER)
        old, new = (row for row in rows_of(first) if row.call_index == 0)
        # Another node mined what was sent first: the one here drops the replacement.
        live_golem.world.rpc.call("anvil_dropTransaction", new.tx_hash)
        live_golem.world.rpc.call("eth_sendRawTransaction", old.raw)
        mine(live_golem.world)
    work_both(live_golem, first, second)
    old.refresh_from_db()
    new.refresh_from_db()
    assert old.state in IN_A_BLOCK and new.state == TransactionState.DROPPED
    for permit_id in (first, second):
        assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED, live_golem.permit(permit_id).status_reason
        assert_paid_within_its_reservation(live_golem, permit_id)
    assert usdc - live_golem.balance("USDC") == 910 * USD


def test_fees_of_two_operations_are_raised_in_turn_and_both_are_carried_out_once(zerodev: ZerodevGolem) -> None:
    usdc = zerodev.balance("USDC")
    first, second = zerodev.commit_held(amount=FIRST), zerodev.commit_held(amount=SECOND)
    assert reconcile_transactions(now=clock.now() + LATER)["sped_up"] == 1
    assert [row.nonce for row in zerodev.rows(first)] == [0, 0] and len(zerodev.rows(second)) == 1
    zerodev.bundler.release()
    zerodev.look(first)
    assert reconcile_transactions(now=clock.now() + LATER)["sped_up"] <= 1
    zerodev.look(second)
    reconcile_transactions(now=clock.now())
    for permit_id in (first, second):
        assert zerodev.live.permit(permit_id).status == PermitStatus.COMMITTED
        permit = zerodev.live.permit(permit_id)
        reserved = int(permit.calls[0]["gas_limit"]) * int(permit.max_fee_per_gas)
        assert all(row.gas_limit * int(row.max_fee_per_gas) <= reserved for row in zerodev.rows(permit_id))
    assert usdc - zerodev.balance("USDC") == 910 * USD and zerodev.used_nonces() == 2


# What owners do with the account beside a permit.


def send_as(live: LiveGolem, sender: str, to: str, data: bytes, *, is_dear: bool = False) -> str:
    """A transaction of an account whose key no server has; its hash."""
    rpc = live.world.rpc
    rpc.call("anvil_impersonateAccount", sender)
    dear = {"maxFeePerGas": hex(10**12), "maxPriorityFeePerGas": hex(10**11)} if is_dear else {}
    sent = {"from": sender, "to": to, "data": "0x" + data.hex(), "gas": hex(500_000), **dear}
    return str(rpc.call("eth_sendTransaction", sent))


def pay_as_owner(live: LiveGolem, owner: str) -> None:
    """One owner of the golem's Safe has it pay a stranger, without asking anybody here."""
    token = live.world.tokens["USDC"].address
    data = bytes.fromhex(call_data("transfer(address,uint256)", "0x" + "77" * 20, 30 * USD)[2:])
    call = build_safe_call(
        [Call(token, data, 0, "")], safe=live.golem.address, signatures=consent_of(owner), multi_send=""
    )
    send_as(live, owner, call.to, call.data, is_dear=True)


def commit_beside_a_payment(live: LiveGolem, owner: str, permit_id: str) -> None:
    """The permit's transaction and a payment of the owners are in one block, the payment first."""
    with mining_paused(live.world):
        work_for_a_moment(live, permit_id)
        assert rows_of(permit_id)[0].broadcast_count == 1
        pay_as_owner(live, owner)
        mine(live.world)
    for _ in range(3):
        work_for_a_moment(live, permit_id)


def assert_counts_its_own_alone(live: LiveGolem, permit_id: str) -> None:
    permit = live.permit(permit_id)
    assert permit.status == PermitStatus.COMMITTED, permit.status_reason
    assert permit.spend_entry.state == SpendState.SETTLED
    assert 499 * MICRO <= permit.spend_entry.settled_micro_usd < 520 * MICRO
    moved = {row["symbol"]: int(row["raw"]) for row in permit.outcome.actual["balance_deltas"]}
    assert moved["USDC"] == -500 * USD


def test_what_owners_of_a_safe_pay_in_the_same_block_is_not_the_permits(live_golem: LiveGolem) -> None:
    owned = SafeGolem(live_golem)
    second = make_account("a second owner").address
    owned.live.world.fund(second, 10**18)
    owned.live.world.fund(owned.safe.address, 10**18)
    add = encode_call(ADD_OWNER, second, 1)
    owned.live.world.wait(send_as(owned.live, owned.safe.address, owned.safe.address, add))
    usdc, permit_id = owned.balance("USDC"), str(owned.live.preview()["permit_id"])
    owned.live.start(permit_id)
    commit_beside_a_payment(owned.live, second, permit_id)
    assert usdc - owned.balance("USDC") == 530 * USD
    assert_counts_its_own_alone(owned.live, permit_id)


def test_what_owners_of_a_caged_safe_pay_in_the_same_block_is_not_the_permits(live_golem: LiveGolem) -> None:
    caged = CagedGolem(live_golem)
    owner = caged.safe.owners[0].address
    caged.live.world.fund(owner, 10**18)
    usdc, permit_id = caged.balance("USDC"), str(caged.live.preview()["permit_id"])
    caged.live.start(permit_id)
    caged.sync()
    commit_beside_a_payment(caged.live, owner, permit_id)
    assert usdc - caged.balance("USDC") == 530 * USD
    assert_counts_its_own_alone(caged.live, permit_id)


def test_what_owners_of_a_smart_account_pay_beside_an_operation_is_not_the_permits(zerodev: ZerodevGolem) -> None:
    permit_id, usdc = zerodev.commit_held(), zerodev.balance("USDC")
    token = zerodev.live.world.tokens["USDC"].address
    zerodev.act_as_account(token, "transfer(address,uint256)", "0x" + "77" * 20, 30 * USD)
    zerodev.bundler.release()
    zerodev.look(permit_id)
    assert usdc - zerodev.balance("USDC") == 530 * USD
    assert_counts_its_own_alone(zerodev.live, permit_id)


def test_owners_who_use_their_safe_while_a_plan_waits_end_it_and_its_next_one_goes_on(live_golem: LiveGolem) -> None:
    shared = SharedSafe(live_golem)
    usdc = shared.balance("USDC")
    answer, request = shared.propose()
    shared.approve(request)
    # Two of them sign something else under the nonce that the plan was signed for.
    transfer = call_data("transfer(address,uint256)", "0x" + "77" * 20, 30 * USD)
    everybody, shared.safe.owners = shared.safe.owners, shared.safe.owners[:2]
    shared.safe.nonce = shared.nonce()
    shared.safe.owner_call(shared.live.world.tokens["USDC"].address, bytes.fromhex(transfer[2:]))
    shared.safe.owners = everybody
    done = shared.run(request)
    assert done.state in ("STALE", "FAILED"), (done.state, done.problem)
    assert shared.live.permit(answer["permit_id"]).status in (PermitStatus.BLOCKED, PermitStatus.REVERTED)
    assert usdc - shared.balance("USDC") == 30 * USD
    later, again = shared.propose(amount=SECOND)
    shared.run(shared.approve(again))
    assert shared.live.permit(later["permit_id"]).status == PermitStatus.COMMITTED
    assert usdc - shared.balance("USDC") == 440 * USD
    assert OutboundTransaction.objects.filter(permit_id=UUID(str(later["permit_id"]))).count() == 1


def test_a_key_that_a_wallet_uses_between_two_permits_takes_no_nonce_of_theirs_twice(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    usdc = live_golem.balance("USDC")
    first = str(live_golem.preview(amount=FIRST)["permit_id"])
    second = str(live_golem.preview(amount=SECOND)["permit_id"])
    live_golem.start(first)
    work_for_a_moment(live_golem, first)
    live_golem.world.wait(send_from_a_wallet(live_golem, live_golem.mined_nonce()))
    live_golem.start(second)
    work_both(live_golem, first, second)
    for permit_id in (first, second):
        assert live_golem.permit(permit_id).status == PermitStatus.COMMITTED, live_golem.permit(permit_id).status_reason
    assert usdc - live_golem.balance("USDC") == 910 * USD
