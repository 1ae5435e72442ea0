"""What a halted golem may sign, where its positions cannot even lie."""

from __future__ import annotations

import pytest

from archetypes_app.models import Golem
from permits_app.execution.halt_calls import is_halts_own
from permits_app.models import ActionPermit
from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.v3.plans import DECREASE

ACCOUNT, TOKEN = "0x" + "11" * 20, "0x" + "22" * 20


def judged(data: bytes, *, chain_id: int) -> bool:
    call = {"to": TOKEN, "data": "0x" + data.hex(), "value": "0", "gas_limit": "100000", "label": ""}
    permit = ActionPermit(chain_id=chain_id, signer=ACCOUNT, calls=[call], halt_epoch=1)
    return is_halts_own(permit, Golem(halt_epoch=1))


@pytest.mark.parametrize("chain_id", [1, 31337, 999_999_999])
def test_a_revocation_is_the_halts_own_on_every_chain(chain_id: int) -> None:
    assert judged(encode_call("function approve(address,uint256)", ACCOUNT, 0), chain_id=chain_id)
    assert not judged(encode_call("function approve(address,uint256)", ACCOUNT, 1), chain_id=chain_id)


@pytest.mark.parametrize("chain_id", [1, 31337, 999_999_999])
def test_a_withdrawal_from_what_is_no_position_manager_is_not_signed(chain_id: int) -> None:
    assert not judged(encode_call(DECREASE, (7, 10, 0, 0, 2**40)), chain_id=chain_id)
