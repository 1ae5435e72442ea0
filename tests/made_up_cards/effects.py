"""What giving a card does, read from its bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, ItemGiven

GIVE = "function give(address,uint256,uint256)"


class CardEffects:
    """One function. Its author forgot that there may be many of one card."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        if call.value or not calls(call.data, GIVE):
            raise UnknownCall("the cards know giving alone")
        to, number, _ = read_exactly(call.data, GIVE)
        into.items.append(ItemGiven(call.to, number, to))
        into.recipients.append(to)
