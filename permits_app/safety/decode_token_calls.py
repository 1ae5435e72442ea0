"""What a call does to a token's own bookkeeping, read from its bytes: transfers, approvals, a coin sent plainly."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tools_app.chain.abi import AbiDecodeError, decode_input
from tools_app.standards.loan_callback import unfold
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.views import NATIVE


class TokenAct(StrEnum):
    APPROVE = "APPROVE"
    TRANSFER = "TRANSFER"


@dataclass(frozen=True, slots=True)
class TokenCall:
    """A call that speaks to a token itself. `party` is the spender or the recipient; `amount` in base units."""

    act: TokenAct
    token: str
    party: str
    amount: int


_SIGNATURES = (
    (TokenAct.APPROVE, "function approve(address spender, uint256 amount)"),
    (TokenAct.APPROVE, "function increaseAllowance(address spender, uint256 addedValue)"),
    (TokenAct.TRANSFER, "function transfer(address to, uint256 amount)"),
)


def read_token_call(call: Call) -> TokenCall | None:
    """The token call that `call` is, a plain payment of the chain's coin included, or None.

    An ERC-20 call must be encoded exactly: bytes behind its arguments make it something else.
    """
    if not call.data:
        return TokenCall(TokenAct.TRANSFER, NATIVE, call.to, call.value)
    if len(call.data) != 4 + 64 or call.value:
        return None
    for act, signature in _SIGNATURES:
        try:
            party, amount = decode_input(signature, call.data)
        except AbiDecodeError:
            continue
        return TokenCall(act, call.to, party, amount)
    return None


def list_recipients(plan: TxPlan) -> tuple[str, ...]:
    """Everyone the plan says it pays and everyone its plain token calls pay, once."""
    paid = [
        found.party for found in map(read_token_call, unfold(plan.calls)) if found and found.act is TokenAct.TRANSFER
    ]
    return tuple(dict.fromkeys((*plan.recipients, *paid)))
