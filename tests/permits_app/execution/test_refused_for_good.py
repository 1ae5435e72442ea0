"""Bytes that no node will ever take: their nonce is used up, and their permit ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from permits_app.execution.reconcile import reconcile_transactions
from permits_app.models.permit import PermitStatus
from tests.evm.world import World
from tests.live_golem import make_live_golem
from tests.proof.lying_node import LyingNode
from tools_app.core import clock

# Characters of a signed transaction without data are fewer.
_EMPTY = 300


def refusing(message: str) -> Any:
    """A node that refuses every transaction with data."""

    def lie(requests: list[dict[str, Any]], ask: Any) -> Any:
        passed = [one for one in requests if not _is_refused(one)]
        told = iter(ask(passed) if passed else [])
        return [
            {"jsonrpc": "2.0", "id": one["id"], "error": {"code": -32000, "message": message}}
            if _is_refused(one)
            else next(told)
            for one in requests
        ]

    return lie


def _is_refused(request: dict[str, Any]) -> bool:
    return request["method"] == "eth_sendRawTransaction" and len(request["params"][0]) > _EMPTY


@pytest.mark.parametrize("is_for_good", [True, False])
def test_what_no_node_takes_ends_once_it_is_sure_that_none_will(
    db: None, local_chain: World, lying_node: LyingNode, *, is_for_good: bool
) -> None:
    golem = make_live_golem(local_chain)
    permit_id = golem.preview()["permit_id"]
    usdc, mined = golem.balance("USDC"), golem.mined_nonce()
    golem.start(permit_id)
    message = "exceeds block gas limit" if is_for_good else "the pool is full"
    with override_settings(GOLEM_RECEIPT_WAIT_SECONDS=0.2), lying_node.lying(refusing(message)):
        golem.work(permit_id)
        assert golem.permit(permit_id).status == PermitStatus.UNKNOWN
        assert "cancelled" not in reconcile_transactions(now=clock.now())
        done = reconcile_transactions(now=clock.now() + timedelta(seconds=91))
        assert done.get("cancelled", 0) == (2 if is_for_good else 0)
        if is_for_good:
            golem.wait_until_mined(mined + 2)
    answer = golem.work(permit_id)

    assert answer is not None
    if not is_for_good:
        assert answer["status"] == PermitStatus.COMMITTED
        return
    assert answer["status"] == PermitStatus.REVERTED, answer
    assert "its nonce was used by another transaction" in answer["status_reason"]
    assert (golem.balance("USDC"), golem.mined_nonce()) == (usdc, mined + 2)
    assert golem.commit(golem.preview(amount="400000000")["permit_id"])["status"] == PermitStatus.COMMITTED
