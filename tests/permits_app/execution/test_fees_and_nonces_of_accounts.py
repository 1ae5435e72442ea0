"""What gas costs and who uses a nonce, for accounts that act through a Safe, a cage, or an operation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from permits_app.actions.release_permit import resimulate
from permits_app.custody.signers.base import UnsignedTransaction
from permits_app.custody.signers.choose_signer import open_signer
from permits_app.execution.payloads import send_payload
from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models import OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.permits.blocked_commits import list_blocked_accounts
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.caged_golem import CagedGolem
from tests.permits_app.execution.test_base_fees import assert_refused_unsigned, dear_gas, work_for_a_moment
from tests.permits_app.execution.test_lost_sequences import OTHERS_FEE
from tests.permits_app.execution.test_safe_of_several import SharedSafe
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tools_app.chain.node_errors import FeeTooLow
from tools_app.core import clock


def use_nonce_first(live: LiveGolem, monkeypatch: pytest.MonkeyPatch, permit_id: str) -> None:
    """Once the batch is stored, and before it is sent, the key's wallet uses its nonce; then a worker looks."""
    done: list[int] = []
    original = send_payload

    def use_first(row: OutboundTransaction, **asked: Any) -> bool:
        if not done:
            done.append(row.nonce)
            plain = UnsignedTransaction(CHAIN_ID, row.nonce, row.sender, 0, b"", 60_000, OTHERS_FEE, OTHERS_FEE)
            raw = open_signer(row.sender).sign(plain).raw.hex()
            live.world.wait(str(live.world.rpc.call("eth_sendRawTransaction", "0x" + raw)))
        return original(row, **asked)

    with monkeypatch.context() as patched:
        patched.setattr("permits_app.execution.executor.send_payload", use_first)
        work_for_a_moment(live, permit_id)
    assert done


def assert_lost_and_nothing_waits(live: LiveGolem, permit_id: str) -> None:
    reconcile_transactions(now=clock.now())
    permit = live.permit(permit_id)
    assert permit.status == PermitStatus.REVERTED, permit.status_reason
    assert "its nonce was used by another transaction" in permit.status_reason
    assert permit.spend_entry.state == SpendState.SETTLED and permit.outcome.is_cancelled
    assert list_blocked_accounts(now=clock.now()) == []


def test_a_batch_of_a_safe_whose_nonce_was_taken_is_over_and_the_next_goes_on(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned = SafeGolem(live_golem)
    usdc, permit_id = owned.balance("USDC"), owned.live.preview()["permit_id"]
    owned.live.start(permit_id)
    use_nonce_first(owned.live, monkeypatch, permit_id)
    assert_lost_and_nothing_waits(owned.live, permit_id)
    assert owned.balance("USDC") == usdc
    done = owned.live.commit(owned.live.preview(amount="410000000")["permit_id"])
    assert done["status"] == PermitStatus.COMMITTED, done


def test_a_batch_of_a_cage_whose_nonce_was_taken_is_over_and_the_next_goes_on(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    caged = CagedGolem(live_golem)
    permit_id = caged.live.preview()["permit_id"]
    caged.live.start(permit_id)
    caged.sync()
    use_nonce_first(caged.live, monkeypatch, permit_id)
    assert_lost_and_nothing_waits(caged.live, permit_id)
    caged.sync()
    later = caged.live.preview(amount="410000000")["permit_id"]
    caged.live.start(later)
    caged.sync()
    done = caged.live.work(later)
    assert done is not None and done["status"] == PermitStatus.COMMITTED, done


def test_a_lost_nonce_of_one_golem_holds_up_no_other(
    live_golem: LiveGolem, local_chain: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_live_golem(local_chain, name="Other", owner_name="owner-b")
    permit_id, others = live_golem.preview()["permit_id"], other.preview()["permit_id"]
    live_golem.start(permit_id)
    other.start(others)
    use_nonce_first(live_golem, monkeypatch, permit_id)
    done = other.work(others)
    assert done is not None and done["status"] == PermitStatus.COMMITTED
    assert_lost_and_nothing_waits(live_golem, permit_id)


def test_a_batch_of_a_safe_whose_base_fee_rose_above_the_cap_is_refused_before_it_is_signed(
    live_golem: LiveGolem,
) -> None:
    owned = SafeGolem(live_golem)
    permit_id = owned.live.preview()["permit_id"]
    with dear_gas(owned.live, permit_id):
        owned.live.start(permit_id)
        assert_refused_unsigned(owned.live, permit_id, owned.live.work(permit_id))
    done = owned.live.commit(owned.live.preview(amount="410000000")["permit_id"])
    assert done["status"] == PermitStatus.COMMITTED, done


def test_a_permit_that_owners_released_is_refused_while_gas_costs_more_than_its_cap(live_golem: LiveGolem) -> None:
    shared = SharedSafe(live_golem)
    answer, request = shared.propose()
    signed = shared.approve(request)
    permit = shared.live.permit(answer["permit_id"])
    with dear_gas(shared.live, answer["permit_id"]):
        with pytest.raises(FeeTooLow) as refused:
            resimulate(permit=permit, golem=shared.live.golem, now=clock.now())
        assert int(refused.value.data["base_fee_wei"]) > int(refused.value.data["max_fee_per_gas_wei"])
        assert shared.run(signed).state != "EXECUTED"
    assert not OutboundTransaction.objects.filter(permit_id=UUID(answer["permit_id"])).exists()
