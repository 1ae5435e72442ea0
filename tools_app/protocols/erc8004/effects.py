"""What calls to the registries do, read from their bytes; written from the standard's text, not from the tools.

They move no money. What they write down is told word for word, and an agent that leaves is told with who gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tools_app.protocols.erc8004.addresses import deployments
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call, ItemGiven, Statement

_REGISTER: Final = "function register(string)"
_SET_URI: Final = "function setAgentURI(uint256,string)"
_SET_METADATA: Final = "function setMetadata(uint256,string,bytes)"
_TRANSFER: Final = "function safeTransferFrom(address,address,uint256)"
_GIVE_FEEDBACK: Final = "function giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)"
_REQUEST: Final = "function validationRequest(address,uint256,string,bytes32)"
_FEEDBACK_KEYS: Final = ("value", "valueDecimals", "tag1", "tag2", "endpoint", "feedbackURI", "feedbackHash")

Reader = Callable[[str, tuple[Any, ...], str, Effects], None]


class RegistryEffects:
    """Reads calls to the three registries."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` writes down or hands over. Raises UnknownCall."""
        at = deployments(chain.chain_id) or {}
        if call.value:
            raise UnknownCall(f"{call.to} is sent coin, and takes none")
        for (key, signature), reader in _READERS.items():
            if call.to == at.get(key) and calls(call.data, signature):
                reader(call.to, read_exactly(call.data, signature), account, into)
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")


def _register(to: str, args: tuple[Any, ...], account: str, into: Effects) -> None:
    (uri,) = args
    into.statements.append(Statement(to, "a new agent", "agentURI", uri))


def _set_uri(to: str, args: tuple[Any, ...], account: str, into: Effects) -> None:
    number, uri = args
    into.statements.append(Statement(to, f"agent {number}", "agentURI", uri))


def _set_metadata(to: str, args: tuple[Any, ...], account: str, into: Effects) -> None:
    number, key, value = args
    into.statements.append(Statement(to, f"agent {number}", f"metadata {key}", "0x" + bytes(value).hex()))


def _transfer(to: str, args: tuple[Any, ...], account: str, into: Effects) -> None:
    giver, taker, number = args
    if giver != account:
        raise UnknownCall(f"agent {number} would be taken from {giver}")
    into.recipients.append(taker)
    into.paid_plainly.append(taker)
    into.statements.append(Statement(to, f"agent {number}", "owner", taker))
    into.items.append(ItemGiven(to, number, taker))


def _give_feedback(to: str, args: tuple[Any, ...], account: str, into: Effects) -> None:
    number, value, decimals, *texts, digest = args
    written = (str(value), str(decimals), *texts, "0x" + bytes(digest).hex())
    for key, text in zip(_FEEDBACK_KEYS, written, strict=True):
        into.statements.append(Statement(to, f"agent {number}", key, text))


def _request(to: str, args: tuple[Any, ...], account: str, into: Effects) -> None:
    validator, number, uri, digest = args
    written = {"validator": validator, "requestURI": uri, "requestHash": "0x" + bytes(digest).hex()}
    for key, text in written.items():
        into.statements.append(Statement(to, f"agent {number}", key, text))


_READERS: Final[Mapping[tuple[str, str], Reader]] = {
    ("identity", _REGISTER): _register,
    ("identity", _SET_URI): _set_uri,
    ("identity", _SET_METADATA): _set_metadata,
    ("identity", _TRANSFER): _transfer,
    ("reputation", _GIVE_FEEDBACK): _give_feedback,
    ("validation", _REQUEST): _request,
}
