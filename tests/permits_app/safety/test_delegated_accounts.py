"""An account that runs another contract's code (EIP-7702) is not its key's alone: it signs nothing here."""

from __future__ import annotations

import pytest

from permits_app.errors import PolicyRejected
from tests.live_golem import LiveGolem

SOMEBODY = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


def test_an_account_that_delegated_itself_is_refused_at_preview_and_at_commit(live_golem: LiveGolem) -> None:
    account, rpc = live_golem.golem.address, live_golem.world.rpc
    before = live_golem.preview()["permit_id"]
    rpc.call("anvil_setCode", account, "0xef0100" + SOMEBODY[2:])
    rpc.call("evm_mine")
    with pytest.raises(PolicyRejected) as refused:
        live_golem.preview(amount="400000000")
    answer = live_golem.commit(before)

    assert (refused.value.code, refused.value.data["rule"]) == ("POLICY_REJECTED", "simulator.account_delegated")
    assert refused.value.data["contract"] == SOMEBODY
    assert "withdrawn" in refused.value.data["would_pass"]
    assert not live_golem.permit(before).transactions.exists()
    assert answer["problem"]["rule"] == "simulator.account_delegated"
    rpc.call("anvil_setCode", account, "0x")
    assert live_golem.commit(live_golem.preview(amount="400000000")["permit_id"])["status"] == "COMMITTED"
