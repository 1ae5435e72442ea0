"""What calls to Permit2 do that concern orders, read from their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.permit2 import PERMIT2
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, Statement

_INVALIDATE: Final = "function invalidateUnorderedNonces(uint256,uint256)"


class UniswapXEffects:
    """Reads cancellations; nothing else is sent for orders."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """A used nonce takes back what was signed with it and moves nothing. Raises UnknownCall."""
        if call.to != PERMIT2 or call.value or not calls(call.data, _INVALIDATE):
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")
        word, mask = read_exactly(call.data, _INVALIDATE)
        if not mask:
            raise UnknownCall("the call takes nothing back")
        into.statements.append(Statement(PERMIT2, str(word), "nonces used up", hex(mask)))
