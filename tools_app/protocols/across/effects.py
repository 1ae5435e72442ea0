"""Reads what a call to a spoke pool does from its bytes; written from the contract's interface, not from the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.across.addresses import deployments
from tools_app.standards.calldata import read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Arrival, Call

_DEPOSIT: Final = (
    "function deposit(bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,bytes32,uint32,uint32,uint32,bytes)"
)
_WRAPPED: Final = "function wrappedNativeToken() view returns (address)"
_OLDEST_QUOTE_SECONDS: Final = 3_600


class SpokePoolEffects:
    """Reads what is paid in for another chain."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        known = deployments(chain.chain_id)
        if known is None or call.to not in known.values() or call.value:
            raise UnknownCall(f"{call.to} is no pool of the bridge, or is sent coin, which no tool does")
        values = read_exactly(call.data, _DEPOSIT)
        depositor, recipient, token, arrives, amount, least, to_chain, relayer, quoted, until, alone, message = values
        if _address(depositor) != account:
            raise UnknownCall(f"what nobody pays out would be given back to {_address(depositor)}")
        if any(relayer) or alone:
            raise UnknownCall("one relayer alone might pay it out for a time")
        if message:
            raise UnknownCall("what arrives would call a contract with a message")
        if not 0 <= chain.block.timestamp - quoted <= _OLDEST_QUOTE_SECONDS:
            raise UnknownCall("the fee is asked of a time that is over or has not come")
        sent = _address(token)
        if sent == str(chain.call(call.to, _WRAPPED)[0]):
            raise UnknownCall("what wraps the coin is paid out as the coin, of which nothing is read here")
        into.spends[sent] += amount
        into.recipients.append(_address(recipient))
        into.arrivals.append(Arrival("across", to_chain, _address(arrives), least, _address(recipient), until))


def _address(word: bytes) -> str:
    if any(word[:12]):
        raise UnknownCall("an account of a chain of another kind is named")
    return checksum("0x" + word[12:].hex())
