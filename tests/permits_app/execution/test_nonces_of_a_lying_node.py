"""A node that tells an account's nonces wrongly: nothing is signed on one word, and what went wrong is found."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings

from permits_app.actions.sweep_permits import list_unfinished
from permits_app.execution.chain_follower import Follower
from permits_app.execution.reconcile import list_reopened, reconcile_transactions
from permits_app.models import NonceCursor, NonceReservation, OutboundTransaction
from permits_app.models.permit import PermitStatus
from permits_app.models.transaction import PayloadPurpose
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.execution.chain_tricks import mine
from tests.proof.lying_node import LyingNode, change_answers
from tools_app.core import clock

COUNT = "eth_getTransactionCount"


@pytest.fixture
def golem(db: None, lying_node: LyingNode, local_chain: World) -> LiveGolem:
    return make_live_golem(local_chain)


def shifted(by: int, times: int | None = None, tags: tuple[str, ...] = ("pending", "latest")) -> Any:
    def change(request: dict[str, Any], result: str) -> str:
        return hex(max(0, int(result, 16) + by)) if request["params"][1] in tags else result

    return change_answers(COUNT, change, times=times)


def send_from_elsewhere(golem: LiveGolem, count: int = 1) -> None:
    """The owner uses the key in another wallet."""
    rpc, address = golem.world.rpc, golem.golem.address
    rpc.call("anvil_impersonateAccount", address)
    for _ in range(count):
        rpc.call("eth_sendTransaction", {"from": address, "to": address, "value": "0x1"})
    rpc.call("anvil_stopImpersonatingAccount", address)
    mine(golem.world)


def commit_again(golem: LiveGolem, amount: str = "300000000") -> None:
    answer = golem.commit(golem.preview(amount=amount)["permit_id"])
    assert answer["status"] == PermitStatus.COMMITTED, answer


@pytest.mark.parametrize("by", [5, -1])
def test_one_wrong_word_about_the_next_nonce_signs_nothing_beyond_the_chain(
    golem: LiveGolem,
    lying_node: LyingNode,
    by: int,
) -> None:
    golem.commit(golem.preview()["permit_id"])
    mined = golem.mined_nonce()
    permit_id = golem.preview(amount="400000000")["permit_id"]
    golem.start(permit_id)
    with lying_node.lying(shifted(by, times=1, tags=("pending",))):
        golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.COMMITTED
    rows = OutboundTransaction.objects.filter(permit_id=permit_id)
    assert sorted(rows.values_list("nonce", flat=True)) == list(range(mined, mined + rows.count()))


def test_nodes_that_do_not_settle_on_a_nonce_have_nothing_signed(
    golem: LiveGolem,
    lying_node: LyingNode,
) -> None:
    golem.commit(golem.preview()["permit_id"])
    permit_id = golem.preview(amount="400000000")["permit_id"]
    told = iter(range(5, 1_000))
    golem.start(permit_id)
    with lying_node.lying(change_answers(COUNT, lambda _, result: hex(int(result, 16) + next(told)))):
        golem.work(permit_id)
    permit = golem.permit(permit_id)
    assert not permit.transactions.exists() and not NonceReservation.objects.filter(permit=permit).exists()
    assert (permit.problem["code"], permit.problem["recovery"]) == ("NONCE_UNSETTLED", "WAIT")
    assert permit.problem["retry_after_seconds"] > 0
    commit_again(golem)


@pytest.mark.parametrize("tags", [("pending",), ("pending", "latest")])
def test_a_lie_that_lasts_leaves_a_gap_that_is_found_and_filled_once_it_ends(
    golem: LiveGolem,
    lying_node: LyingNode,
    tags: tuple[str, ...],
) -> None:
    golem.commit(golem.preview()["permit_id"])
    mined = golem.mined_nonce()
    usdc = golem.balance("USDC")
    permit_id = golem.preview(amount="400000000")["permit_id"]
    golem.start(permit_id)
    with lying_node.lying(shifted(5, tags=tags)), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        golem.work(permit_id)
        reconcile_transactions(now=clock.now())
    assert golem.permit(permit_id).status == PermitStatus.UNKNOWN
    assert reconcile_transactions(now=clock.now())["filled"] == 5
    golem.wait_until_mined(mined + 6)
    golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - golem.balance("USDC") == 400_000_000
    fills = OutboundTransaction.objects.filter(purpose=PayloadPurpose.FILL, sender=golem.golem.address)
    assert sorted(fills.values_list("nonce", flat=True)) == list(range(mined, mined + 5))
    commit_again(golem)


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_what_waited_behind_a_gap_is_handed_on_with_the_rounds_and_not_with_the_sweep(
    golem: LiveGolem,
    lying_node: LyingNode,
    is_forgotten: bool,
) -> None:
    golem.commit(golem.preview()["permit_id"])
    permit_id = golem.preview(amount="400000000")["permit_id"]
    golem.start(permit_id)
    with lying_node.lying(shifted(5)), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2):
        golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.UNKNOWN
    if is_forgotten:
        for row in OutboundTransaction.objects.filter(permit_id=permit_id):
            golem.world.rpc.call("anvil_dropTransaction", row.tx_hash)
    assert reconcile_transactions(now=clock.now())["filled"] == 5
    assert list_unfinished(now=clock.now()) == []
    if is_forgotten:
        now = clock.now()
        assert reconcile_transactions(now=now)["fills_mined"] == 5
        handed = list_reopened(now=now)
    else:
        # The node still had the bytes and mines them behind the fills.
        for row in OutboundTransaction.objects.filter(permit_id=permit_id):
            golem.world.wait(row.tx_hash)
        handed = list(Follower(31337, hand=lambda _: None).look(now=clock.now()).handed)
    assert handed == [UUID(permit_id)]
    golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.COMMITTED
    now = clock.now()
    reconcile_transactions(now=now)
    assert list_reopened(now=now) == []


def test_nonces_given_out_beyond_the_chain_and_never_signed_are_given_out_again(
    golem: LiveGolem,
    lying_node: LyingNode,
) -> None:
    golem.commit(golem.preview()["permit_id"])
    mined = golem.mined_nonce()
    NonceCursor.objects.filter(address=golem.golem.address).update(next_nonce=mined + 4)
    NonceReservation.objects.create(chain_id=31337, address=golem.golem.address, nonce=mined + 3, state="ABANDONED")
    reconcile_transactions(now=clock.now())
    permit_id = golem.preview(amount="400000000")["permit_id"]
    assert golem.commit(permit_id)["status"] == PermitStatus.COMMITTED
    assert min(golem.permit(permit_id).transactions.values_list("nonce", flat=True)) == mined


def test_what_the_owner_sends_from_elsewhere_is_stepped_over(golem: LiveGolem) -> None:
    send_from_elsewhere(golem, 3)
    commit_again(golem, "400000000")
    mined = golem.mined_nonce()
    send_from_elsewhere(golem, 2)
    commit_again(golem)
    assert reconcile_transactions(now=clock.now()).get("filled", 0) == 0
    assert golem.mined_nonce() > mined + 2
