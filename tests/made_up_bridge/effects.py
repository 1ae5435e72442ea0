"""What the bridge's calls do, read from their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.chain.abi import AbiDecodeError, decode_input, encode_call
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Arrival, Call

NAME = "made_up_bridge"
SEND = "function send(address,uint256,uint256,address,uint256,address,uint256)"


class BridgeEffects:
    """One reader for its one call."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        try:
            token, amount, to_chain, to_token, least, recipient, by = args = decode_input(SEND, call.data)
        except AbiDecodeError as error:
            raise UnknownCall("the bridge's call is not known") from error
        if call.value or encode_call(SEND, *args) != call.data:
            raise UnknownCall("the bridge's call has more than it says")
        into.spends[token] += amount
        into.arrivals.append(Arrival(NAME, to_chain, to_token, least, recipient, by))
        into.recipients.append(recipient)
