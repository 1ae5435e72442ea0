"""Finds in simulated logs what a plan does to its account without saying so: tokens that move, rights that are given.

Logs are what contracts claim, so they lead to measuring and are never taken for the measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from tools_app.simulation.engine import ApprovalSeen, CallOutcome, SimulationRequest, TransferSeen
from tools_app.simulation.rights import EVERYTHING, find_right, find_unusual_transfer
from tools_app.standards.token_logs import read_transfers
from tools_app.toolkit.views import LogEntry

MOST_SEEN: Final = 256
"""A contract can emit thousands of made-up logs; this many of each kind are enough to refuse a plan."""


def find_transfers(calls: Sequence[CallOutcome], request: SimulationRequest) -> tuple[TransferSeen, ...]:
    """Movements from or to the account of tokens whose balance the request does not watch, in log order."""
    watched = {token for account, token in request.watch if account == request.account}
    found = (
        seen
        for index, log in _logs(calls)
        if log.address not in watched
        for seen in _movements(index, log, request.account)
        if request.account in (seen.sender, seen.recipient)
    )
    return tuple(islice(found, MOST_SEEN))


def find_approvals(calls: Sequence[CallOutcome], request: SimulationRequest) -> tuple[ApprovalSeen, ...]:
    """Rights over the account's assets that the request does not name; taking a right back is not one.

    Where the calls act for another account, the sender's own rights count too. What is named is an allowance of the
    token itself, which is measured; the same spender's right at another contract is another right.
    """
    named = {(token, spender) for token, owner, spender in request.allowances if owner == request.account}
    givers = dict.fromkeys((request.account, request.sender))
    found = (
        seen
        for index, log in _logs(calls)
        for giver in givers
        if (seen := find_right(index, log, giver)) is not None
        and not (is_measured(seen) and giver == request.account and (seen.token, seen.spender) in named)
    )
    return tuple(islice(found, MOST_SEEN))


def is_measured(seen: ApprovalSeen) -> bool:
    """Whether the right is an allowance that the token itself answers for."""
    return seen.contract == seen.token and seen.token_id is None and seen.amount != EVERYTHING


def _logs(calls: Sequence[CallOutcome]) -> Iterator[tuple[int, LogEntry]]:
    for index, call in enumerate(calls):
        for log in call.logs:
            if log.topics:
                yield index, log


def _movements(index: int, log: LogEntry, account: str) -> Iterator[TransferSeen]:
    moved = read_transfers(log)
    for each in moved:
        yield TransferSeen(index, log.address, each.sender, each.recipient, each.amount, each.token_id)
    if not moved and (unusual := find_unusual_transfer(index, log, account)) is not None:
        yield unusual
