"""Functions that nobody declares, without a chain and a database."""

from __future__ import annotations

from permits_app.safety.calldata_rules import judge_calldata
from tests.permits_app.safety.calls import OTHER, ROUTER, USDC, plain_call
from tools_app.standards import erc20
from tools_app.toolkit.plan import Call, TxPlan


def test_without_a_chain_only_a_tokens_own_bookkeeping_is_known() -> None:
    approve = erc20.approve_exact(token=USDC, spender=ROUTER, amount=5)
    unknown = Call(OTHER, bytes.fromhex("12345678"), 0, "call")
    assert judge_calldata(plain_call(TxPlan(chain_id=31337, calls=(approve,)))) is None
    refused = judge_calldata(plain_call(TxPlan(chain_id=31337, calls=(approve, unknown))))
    assert refused is not None and refused.observed == f"0x12345678 of {OTHER}"
