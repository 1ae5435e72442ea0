"""Finds in simulated logs what a plan does to its account without saying so: tokens that move, rights that are given.

Logs are what contracts claim, so they lead to measuring and are never taken for the measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.simulation.engine import ApprovalSeen, CallOutcome, SimulationRequest, TransferSeen
from tools_app.standards import erc20, erc721, permit2
from tools_app.toolkit.views import LogEntry

EVERYTHING: Final = -1
MOST_SEEN: Final = 256
"""A contract can emit thousands of made-up logs; this many of each kind are enough to refuse a plan."""
_TRANSFER_SINGLE: Final = (
    "event TransferSingle(address indexed operator, address indexed from, address indexed to,"
    " uint256 id, uint256 value)"
)
_TRANSFER_BATCH: Final = (
    "event TransferBatch(address indexed operator, address indexed from, address indexed to,"
    " uint256[] ids, uint256[] values)"
)
_TRANSFER: Final = event_topic(erc20.TRANSFER_EVENT)
_APPROVAL: Final = event_topic(erc20.APPROVAL_EVENT)
_APPROVAL_FOR_ALL: Final = event_topic(erc721.APPROVAL_FOR_ALL_EVENT)
_PERMIT2_APPROVAL: Final = event_topic(permit2.APPROVAL_EVENT)
_SINGLE: Final = event_topic(_TRANSFER_SINGLE)
_BATCH: Final = event_topic(_TRANSFER_BATCH)


def find_transfers(calls: Sequence[CallOutcome], request: SimulationRequest) -> tuple[TransferSeen, ...]:
    """Movements from or to the account of tokens whose balance the request does not watch, in log order."""
    watched = {token for account, token in request.watch if account == request.account}
    found = (
        seen
        for index, log in _logs(calls)
        if log.address not in watched
        for seen in _transfers(index, log)
        if request.account in (seen.sender, seen.recipient)
    )
    return tuple(islice(found, MOST_SEEN))


def find_approvals(calls: Sequence[CallOutcome], request: SimulationRequest) -> tuple[ApprovalSeen, ...]:
    """Rights over the account's tokens that the request does not name; taking a right back is not one."""
    named = {(token, spender) for token, owner, spender in request.allowances if owner == request.account}
    found: list[ApprovalSeen] = []
    for index, log in _logs(calls):
        seen = _approval(index, log, request.account)
        if seen is not None and (seen.token, seen.spender) not in named:
            found.append(seen)
    return tuple(found[:MOST_SEEN])


def _logs(calls: Sequence[CallOutcome]) -> Iterator[tuple[int, LogEntry]]:
    for index, call in enumerate(calls):
        for log in call.logs:
            if log.topics:
                yield index, log


def _transfers(index: int, log: LogEntry) -> Iterator[TransferSeen]:
    topic = log.topics[0]
    if topic == _TRANSFER:
        fungible = decode_log(erc20.TRANSFER_EVENT, log)
        if fungible is not None:
            yield TransferSeen(index, log.address, fungible["from"], fungible["to"], fungible["value"])
            return
        single = decode_log(erc721.TRANSFER_EVENT, log)
        if single is not None:
            yield TransferSeen(index, log.address, single["from"], single["to"], 1, single["tokenId"])
    elif topic == _SINGLE and (moved := decode_log(_TRANSFER_SINGLE, log)) is not None:
        yield TransferSeen(index, log.address, moved["from"], moved["to"], moved["value"], moved["id"])
    elif topic == _BATCH and (many := decode_log(_TRANSFER_BATCH, log)) is not None:
        for token_id, amount in zip(many["ids"], many["values"], strict=False):
            yield TransferSeen(index, log.address, many["from"], many["to"], amount, token_id)


def _approval(index: int, log: LogEntry, owner: str) -> ApprovalSeen | None:
    topic = log.topics[0]
    if topic == _APPROVAL:
        return _token_approval(index, log, owner)
    event: dict[str, Any] | None
    if topic == _APPROVAL_FOR_ALL:
        event = decode_log(erc721.APPROVAL_FOR_ALL_EVENT, log)
        if event is not None and event["owner"] == owner and event["approved"]:
            return _given(index, log, event["operator"], EVERYTHING)
    elif topic == _PERMIT2_APPROVAL and log.address == permit2.PERMIT2:
        event = decode_log(permit2.APPROVAL_EVENT, log)
        if event is not None and event["owner"] == owner and event["amount"]:
            return ApprovalSeen(index, log.address, event["token"], event["spender"], event["amount"])
    return None


def _token_approval(index: int, log: LogEntry, owner: str) -> ApprovalSeen | None:
    fungible = decode_log(erc20.APPROVAL_EVENT, log)
    if fungible is not None:
        given = fungible["owner"] == owner and fungible["value"]
        return _given(index, log, fungible["spender"], fungible["value"]) if given else None
    single = decode_log(erc721.APPROVAL_EVENT, log)
    if single is None or single["owner"] != owner or single["approved"] == erc721.ZERO_ADDRESS:
        return None
    return _given(index, log, single["approved"], 1, single["tokenId"])


def _given(index: int, log: LogEntry, spender: str, amount: int, token_id: int | None = None) -> ApprovalSeen:
    return ApprovalSeen(index, log.address, log.address, spender, amount, token_id)
