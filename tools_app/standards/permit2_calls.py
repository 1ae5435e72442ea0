"""Reads from an account's call to Permit2 what it gives or takes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.plan import Call

APPROVE: Final = "function approve(address,address,uint160,uint48)"
LOCKDOWN: Final = "function lockdown((address,address)[])"


@dataclass(frozen=True, slots=True)
class GivenThroughPermit2:
    """`spender` may take `amount` base units of `token` until `until` (Unix seconds); 0 of both takes it back."""

    token: str
    spender: str
    amount: int
    until: int


def read_given(call: Call) -> tuple[GivenThroughPermit2, ...]:
    """What `call` gives through Permit2, or takes back; empty for any other call. Raises UnknownCall."""
    if call.to != PERMIT2:
        return ()
    if calls(call.data, APPROVE):
        return (GivenThroughPermit2(*read_exactly(call.data, APPROVE)),)
    if calls(call.data, LOCKDOWN):
        (pairs,) = read_exactly(call.data, LOCKDOWN)
        return tuple(GivenThroughPermit2(token, spender, 0, 0) for token, spender in pairs)
    return ()
