"""What giving a card does, read from its bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.one_of_a_kind_tokens import OF_MANY, SUPPORTS
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import AmountGiven, Call, ItemGiven

GIVE = "function give(address,uint256,uint256)"


class CardEffects:
    """One function. Its author forgot that there may be many of one card, where the cards do not say so."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        if call.value or not calls(call.data, GIVE):
            raise UnknownCall("the cards know giving alone")
        to, number, amount = read_exactly(call.data, GIVE)
        told = chain.call_many([ReadCall(call.to, SUPPORTS, (kind,)) for kind in OF_MANY.values()])
        if any(each.ok and each.values[0] for each in told):
            into.amounts.append(AmountGiven(call.to, number, to, amount))
        else:
            into.items.append(ItemGiven(call.to, number, to))
        into.recipients.append(to)
