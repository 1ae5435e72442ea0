"""What calls to Permit2 do, read from their bytes: orders are taken back, and spenders may take for a while."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.permit2_calls import read_given
from tools_app.standards.permit2_nonces import INVALIDATE
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement


class UniswapXEffects:
    """Reads cancellations of orders, and what the account itself lets a spender take through Permit2."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """A used nonce takes back what was signed with it and moves nothing. Raises UnknownCall.

        What is given has an end, which must be the plan's deadline.
        """
        given = () if call.value else read_given(call)
        for each in given:
            into.approvals.append((each.token, each.spender, each.amount))
            if each.amount:
                into.deadlines.append(each.until)
        if given:
            return
        if call.to != PERMIT2 or call.value or not calls(call.data, INVALIDATE):
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")
        word, mask = read_exactly(call.data, INVALIDATE)
        if not mask:
            raise UnknownCall("the call takes nothing back")
        into.statements.append(Statement(PERMIT2, str(word), "nonces used up", hex(mask)))
