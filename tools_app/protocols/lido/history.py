"""Tells what the pool earned and what an account's shares did, from the logs of the pool and its wrapped token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_event_topics, event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.core.ratio import Ratio
from tools_app.portfolio.history_from_logs import read_logs_since
from tools_app.protocols.lido.addresses import LidoContracts, contracts_on
from tools_app.protocols.lido.math import ONE, Rebase, SharesMoved
from tools_app.standards.erc20 import MOVED, TRANSFER_EVENT, TokenTransfer
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
class _Rebased:
    report_timestamp: int
    time_elapsed: int
    pre_total_shares: int
    pre_total_ether: int
    post_total_shares: int
    post_total_ether: int


@dataclass(frozen=True, slots=True)
class _SharesMoved:
    from_: str
    to: str
    shares_value: int


_REBASED: Final = AbiEvent(REBASED, _Rebased)
_SHARES_MOVED: Final = AbiEvent(SHARES_MOVED, _SharesMoved)


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
        at = contracts_on(chain_id)
        return PoolId(at.steth) if at is not None and token in (at.steth, at.wsteth) else None

    def held(self, chain_id: int, ref: PositionRef) -> Sequence[PoolId]:
        """The pool."""
        at = contracts_on(chain_id)
        return () if at is None else (PoolId(at.steth),)

    def read(self, log: LogEntry) -> Ratio | None:
        """The rate after a report."""
        found = _rebase(log)
        return None if found is None else Ratio(found.rate_after, ONE)


def read_rebases(reader: ChainReader, at: LidoContracts, *, days: int) -> Past:
    """The oracle's reports of the last `days`. Raises the node's errors."""
    since = reader.block.timestamp - days * _DAY_SECONDS
    logs = read_logs_since(reader, at.steth, [event_topic(REBASED)], since)
    return Past(tuple(found for log in logs if (found := _rebase(log)) is not None and found.timestamp >= since))


def read_past(reader: ChainReader, at: LidoContracts, account: str, *, days: int) -> Past:
    """The same, with what came to and left `account`. Raises the node's errors."""
    first = reader.first_block_since(reader.block.timestamp - days * _DAY_SECONDS).number
    found: dict[tuple[int, int], SharesMoved] = {}
    for address, event in ((at.steth, SHARES_MOVED), (at.wsteth, TRANSFER_EVENT)):
        for side in ({"from": account}, {"to": account}):
            logs = reader.logs(
                address=address,
                topics=encode_event_topics(event, **side),
                from_block=first,
                to_block=reader.block.number,
            )
            found |= {_place(log): moved for log in logs if (moved := _moved(log, account, at)) is not None}
    moves = tuple(found[place] for place in sorted(found))
    return Past(read_rebases(reader, at, days=days).rebases, moves)


def _rebase(log: LogEntry) -> Rebase | None:
    told = _REBASED.read(log)
    if told is None or not told.pre_total_shares or not told.post_total_shares:
        return None
    return Rebase(
        timestamp=told.report_timestamp,
        elapsed=told.time_elapsed,
        rate_before=told.pre_total_ether * ONE // told.pre_total_shares,
        rate_after=told.post_total_ether * ONE // told.post_total_shares,
        place=_place(log),
    )


def _moved(log: LogEntry, account: str, at: LidoContracts) -> SharesMoved | None:
    told = _SHARES_MOVED.read(log) if log.address == at.steth else MOVED.read(log)
    if told is None:
        return None
    shares = told.value if isinstance(told, TokenTransfer) else told.shares_value
    sign = int(told.to == account) - int(told.from_ == account)
    # Into the pool's own contracts is no sale: wrapping, unwrapping, the queue.
    inside = {_NOBODY, at.steth, at.wsteth, at.queue}
    return SharesMoved(_place(log), sign * shares, is_sale=sign < 0 and told.to not in inside)


def _place(log: LogEntry) -> tuple[int, int]:
    return log.block_number, log.log_index
