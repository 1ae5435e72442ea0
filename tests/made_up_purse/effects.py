"""What a draw does, read from its bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, PrincipalRead, UnknownCall
from tools_app.toolkit.plan import Call

DRAW = "function draw(address,address,uint256,address)"


class PurseEffects:
    """One function."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        if call.value or not calls(call.data, DRAW):
            raise UnknownCall("the purse knows draws alone")
        principal, token, amount, to = read_exactly(call.data, DRAW)
        into.principals.append(PrincipalRead(principal.lower(), principal, token, amount))
        if to == account:
            into.receives[token] += amount
            into.recipients.append(account)
