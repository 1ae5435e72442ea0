"""Functions that nobody declares, without a chain and a database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from permits_app.safety.assets import find_wrapped_native
from permits_app.safety.calldata_rules import judge_calldata
from tests.live_golem import LiveGolem
from tests.permits_app.safety.calls import ACCOUNT, OTHER, ROUTER, USDC, plain_call, swap_call
from tools_app.chain.abi import encode_call
from tools_app.standards import erc20, loan_callback
from tools_app.toolkit.plan import Call, TxPlan


def test_without_a_chain_only_a_tokens_own_bookkeeping_is_known() -> None:
    approve = erc20.approve_exact(token=USDC, spender=ROUTER, amount=5)
    unknown = Call(OTHER, bytes.fromhex("12345678"), 0, "call")
    assert judge_calldata(plain_call(TxPlan(chain_id=31337, calls=(approve,)))) is None
    refused = judge_calldata(plain_call(TxPlan(chain_id=31337, calls=(approve, unknown))))
    assert refused is not None and refused.observed == f"0x12345678 of {OTHER}"


WRAP, UNWRAP = "function deposit()", "function withdraw(uint256)"
MULTICALL = bytes.fromhex("ac9650d8")


def test_the_coin_is_wrapped_and_unwrapped_at_its_own_contract_alone(live_golem: LiveGolem) -> None:
    call = swap_call(live_golem)
    assert call.chain is not None
    wrapped = find_wrapped_native(call.chain)
    assert wrapped is not None
    for data in (encode_call(WRAP), encode_call(UNWRAP, 5)):
        assert judge_calldata(replace(call, plan=TxPlan(31337, (Call(wrapped, data, 0, "w"),)))) is None
        refused = judge_calldata(replace(call, plan=TxPlan(31337, (Call(OTHER, data, 0, "w"),))))
        assert refused is not None and refused.data["contract"] == OTHER
    other = Call(wrapped, encode_call("function permit(address,uint256)", OTHER, 5), 0, "w")
    assert judge_calldata(replace(call, plan=TxPlan(31337, (other,)))) is not None


def test_a_bundle_that_cannot_be_opened_is_declared_by_nobody(live_golem: LiveGolem) -> None:
    broken = Call(ROUTER, MULTICALL + b"\x01" * 32, 0, "bundle")
    refused = judge_calldata(replace(swap_call(live_golem), plan=TxPlan(31337, (broken,))))
    assert refused is not None and refused.data["selector"] == "0xac9650d8"


@pytest.mark.parametrize("named", [ACCOUNT, OTHER])
def test_steps_of_a_loan_are_announced_to_the_accounts_own_handler_alone(live_golem: LiveGolem, named: str) -> None:
    """A golem's key has no handler: whatever it names as one is a stranger's contract."""
    call = swap_call(live_golem)
    account = str(call.view.address)
    who = account if named == ACCOUNT else named
    steps = (erc20.approve_exact(token=USDC, spender=ROUTER, amount=5),)
    calls = loan_callback.run_within(
        steps,
        handler=OTHER,
        account=who,
        lender=ROUTER,
        ask=lambda data: Call(ROUTER, data, 0, "ask"),
        label="announce",
    )
    refused = judge_calldata(replace(call, plan=TxPlan(31337, calls)))
    assert refused is not None and refused.data["contract"] == OTHER
