"""Receipts that lie: what contradicts itself is not seen, and judged once the node tells the truth."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from permits_app.models import OutboundTransaction
from permits_app.models.permit import PermitStatus
from tests.evm.world import World
from tests.live_golem import LiveGolem, make_live_golem
from tests.proof.lying_node import LyingNode, change_answers

RECEIPT = "eth_getTransactionReceipt"


@pytest.fixture
def golem(db: None, lying_node: LyingNode, local_chain: World) -> LiveGolem:
    return make_live_golem(local_chain)


def reverted(_: Any, receipt: Any) -> Any:
    return receipt and {**receipt, "status": "0x0"}


def elsewhere(_: Any, receipt: Any) -> Any:
    return receipt and {**receipt, "blockHash": "0x" + "ab" * 32}


def another(_: Any, receipt: Any) -> Any:
    return receipt and {**receipt, "transactionHash": "0x" + "cd" * 32}


def dropped(_: Any, receipt: Any) -> Any:
    return None


@pytest.mark.parametrize("change", [reverted, elsewhere, another, dropped])
def test_a_receipt_that_the_chain_contradicts_is_not_seen(golem: LiveGolem, lying_node: LyingNode, change: Any) -> None:
    usdc = golem.balance("USDC")
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)
    with lying_node.lying(change_answers(RECEIPT, change)), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.3):
        golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.UNKNOWN
    golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - golem.balance("USDC") == 500_000_000


def test_one_receipt_that_says_reverted_while_the_next_does_not_is_not_believed(
    golem: LiveGolem, lying_node: LyingNode
) -> None:
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)

    def no_logs(_: Any, receipt: Any) -> Any:
        return receipt and {**receipt, "status": "0x0", "logs": []}

    with lying_node.lying(change_answers(RECEIPT, no_logs, times=1)):
        golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.COMMITTED


def test_what_a_node_denies_knowing_is_not_given_up_while_its_block_lists_it(
    golem: LiveGolem, lying_node: LyingNode
) -> None:
    """The nonce is used, by this very transaction."""
    usdc = golem.balance("USDC")
    permit_id = golem.preview()["permit_id"]
    golem.start(permit_id)

    def deny(requests: list[Any], ask: Any) -> Any:
        answers = ask(requests)
        for request, answer in zip(requests, answers, strict=True):
            if request["method"] in (RECEIPT, "eth_getTransactionByHash"):
                answer["result"] = None
        return answers

    with lying_node.lying(deny), override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.3):
        golem.work(permit_id)
        golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.UNKNOWN
    golem.work(permit_id)
    assert golem.permit(permit_id).status == PermitStatus.COMMITTED
    assert usdc - golem.balance("USDC") == 500_000_000
    assert OutboundTransaction.objects.filter(permit_id=permit_id, state="DROPPED").count() == 0
