"""Reads what calls to the registries do from their bytes; written from the standard's text, not from the tools.

They move no money. What they write down is told word for word, and an agent that leaves is told with who gets it.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.erc8004.addresses import deployments
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.context import AbiValue
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import ItemGiven

_FEEDBACK_KEYS: Final = ("value", "valueDecimals", "tag1", "tag2", "endpoint", "feedbackURI", "feedbackHash")


def _register(reading: Reading, uri: str) -> None:
    reading.state("a new agent", {"agentURI": uri})


def _set_uri(reading: Reading, number: int, uri: str) -> None:
    reading.state(f"agent {number}", {"agentURI": uri})


def _set_metadata(reading: Reading, number: int, key: str, value: bytes) -> None:
    reading.state(f"agent {number}", {f"metadata {key}": _hex(value)})


def _transfer(reading: Reading, giver: str, taker: str, number: int) -> None:
    if giver != reading.account:
        raise UnknownCall(f"agent {number} would be taken from {giver}")
    reading.into.recipients.append(taker)
    reading.into.paid_plainly.append(taker)
    reading.state(f"agent {number}", {"owner": taker})
    reading.into.items.append(ItemGiven(reading.call.to, number, taker))


def _give_feedback(reading: Reading, number: int, value: int, decimals: int, *more: AbiValue) -> None:
    *texts, digest = more
    written = (str(value), str(decimals), *texts, _hex(digest))
    reading.state(f"agent {number}", dict(zip(_FEEDBACK_KEYS, written, strict=True)))


def _request(reading: Reading, validator: str, number: int, uri: str, digest: bytes) -> None:
    reading.state(f"agent {number}", {"validator": validator, "requestURI": uri, "requestHash": _hex(digest)})


def _hex(value: bytes) -> str:
    return "0x" + bytes(value).hex()


EFFECTS: Final = CallTable(
    "erc8004",
    deployments,
    {
        ("identity", "function register(string)"): _register,
        ("identity", "function setAgentURI(uint256,string)"): _set_uri,
        ("identity", "function setMetadata(uint256,string,bytes)"): _set_metadata,
        ("identity", "function safeTransferFrom(address,address,uint256)"): _transfer,
        (
            "reputation",
            "function giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)",
        ): _give_feedback,
        ("validation", "function validationRequest(address,uint256,string,bytes32)"): _request,
    },
)
