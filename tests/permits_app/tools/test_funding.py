"""`wallet_fund` between chains of one golem: the bridge's own call is told whole."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.tools.wallet_fund import FundingByBridge
from tests.evm.world import CHAIN_ID
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.conftest import two_owners as two_owners
from tests.permits_app.approvals.people import give_device
from tests.permits_app.tools.test_wallet_life import USD, ask
from tools_app.core.errors import InvalidParams

Two = tuple[LiveGolem, Any, Any]


def test_what_the_golem_has_on_another_chain_comes_by_the_bridges_own_call(two_owners: Two) -> None:
    live, owner, _ = two_owners
    give_device(owner) if not owner.totpdevice_set.exists() else None
    wish = {"source": "bridge", "token": "USDC", "amount": str(5 * USD)}
    with pytest.raises(InvalidParams, match="no other chain"):
        ask(live, "fund", **wish, from_chain=10)
    live.golem.other_chain_ids = [8453]
    live.golem.save(update_fields=["other_chain_ids"])
    with pytest.raises(InvalidParams, match="how much"):
        ask(live, "fund", **{**wish, "amount": None}, from_chain=8453)
    with pytest.raises(FundingByBridge) as refused:
        ask(live, "fund", **wish, from_chain=8453)
    call = refused.value.data["next"]
    assert call | {"bridge": "", "venue": ""} == {
        "action_type": "bridge",
        "venue": "",
        "bridge": "",
        "token": "USDC",
        "amount": str(5 * USD),
        "source_chain": 8453,
        "dest_chain": CHAIN_ID,
    }
