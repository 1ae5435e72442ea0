"""Tells what the pool earned and what an account's shares did, from the logs of the pool and its wrapped token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import decode_log, encode_event_topics, event_topic
from tools_app.core.ratio import Ratio
from tools_app.portfolio.logged_past import read_logs_since
from tools_app.protocols.lido.addresses import deployments
from tools_app.protocols.lido.math import ONE, Rebase, SharesMoved
from tools_app.standards.erc20 import TRANSFER_EVENT
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import LogEntry

REBASED: Final = (
    "event TokenRebased(uint256 indexed reportTimestamp, uint256 timeElapsed, uint256 preTotalShares,"
    " uint256 preTotalEther, uint256 postTotalShares, uint256 postTotalEther, uint256 sharesMintedAsFees)"
)
SHARES_MOVED: Final = "event TransferShares(address indexed from, address indexed to, uint256 sharesValue)"
_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class Past:
    """Reports and movements since a block, oldest first."""

    rebases: tuple[Rebase, ...]
    moves: tuple[SharesMoved, ...] = ()


class ShareRate:
    """What a share of the pool is worth in ether, by the oracle's reports."""

    meaning = "ether for a share, as the oracle reported it"

    @property
    def topics(self) -> tuple[str, ...]:
        """That of a report."""
        return (event_topic(REBASED),)

    def about(self, chain_id: int, token: str) -> PoolId | None:
        """The pool tells it, of both of its tokens."""
        at = deployments(chain_id)
        return PoolId(at["steth"]) if at is not None and token in (at["steth"], at["wsteth"]) else None

    def held(self, chain_id: int, ref: PositionRef) -> Sequence[PoolId]:
        """The pool."""
        at = deployments(chain_id)
        return () if at is None else (PoolId(at["steth"]),)

    def read(self, log: LogEntry) -> Ratio | None:
        """The rate after a report."""
        found = _rebase(log)
        return None if found is None else Ratio(found.rate_after, ONE)


def read_rebases(reader: ChainReader, at: Mapping[str, str], *, days: int) -> Past:
    """The oracle's reports of the last `days`. Raises the node's errors."""
    since = reader.block.timestamp - days * _DAY_SECONDS
    logs = read_logs_since(reader, at["steth"], [event_topic(REBASED)], since)
    return Past(tuple(found for log in logs if (found := _rebase(log)) is not None and found.timestamp >= since))


def read_past(reader: ChainReader, at: Mapping[str, str], account: str, *, days: int) -> Past:
    """The same, with what came to and left `account`. Raises the node's errors."""
    first = reader.first_block_since(reader.block.timestamp - days * _DAY_SECONDS).number
    found: dict[tuple[int, int], SharesMoved] = {}
    for key, event in (("steth", SHARES_MOVED), ("wsteth", TRANSFER_EVENT)):
        for side in ({"from": account}, {"to": account}):
            logs = reader.logs(
                address=at[key],
                topics=encode_event_topics(event, **side),
                from_block=first,
                to_block=reader.block.number,
            )
            found |= {_place(log): moved for log in logs if (moved := _moved(log, event, account, at)) is not None}
    moves = tuple(found[place] for place in sorted(found))
    return Past(read_rebases(reader, at, days=days).rebases, moves)


def _rebase(log: LogEntry) -> Rebase | None:
    told = decode_log(REBASED, log)
    if told is None or not told["preTotalShares"] or not told["postTotalShares"]:
        return None
    return Rebase(
        timestamp=told["reportTimestamp"],
        elapsed=told["timeElapsed"],
        rate_before=told["preTotalEther"] * ONE // told["preTotalShares"],
        rate_after=told["postTotalEther"] * ONE // told["postTotalShares"],
        place=_place(log),
    )


def _moved(log: LogEntry, event: str, account: str, at: Mapping[str, str]) -> SharesMoved | None:
    told = decode_log(event, log)
    if told is None:
        return None
    shares = told["sharesValue"] if event == SHARES_MOVED else told["value"]
    sign = int(told["to"] == account) - int(told["from"] == account)
    # Into the pool's own contracts is no sale: wrapping, unwrapping, the queue.
    inside = {_NOBODY, at["steth"], at["wsteth"], at["queue"]}
    return SharesMoved(_place(log), sign * shares, is_sale=sign < 0 and told["to"] not in inside)


def _place(log: LogEntry) -> tuple[int, int]:
    return log.block_number, log.log_index
