"""Reads from the pools what became of transfers: what was paid out of late, for how much, how quickly; what became of
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import encode_event_topics
from tools_app.protocols.across.addresses import pool_on
from tools_app.protocols.across.errors import BridgePaused, TransferNotFound
from tools_app.protocols.across.math import fee_bps, quantile
from tools_app.protocols.across.transfers import (
    DEPOSITED,
    FILLED,
    FILLS,
    PAID,
    STATUS,
    Deposited,
    Transfer,
    read_deposit,
    read_own,
    to_address,
    to_word,
)
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.views import LogEntry, TokenMeta

LOOK_SECONDS: Final = 7_200
"""So far back transfers tell what the next one costs."""
LEAST_SEEN: Final = 3
MOST_TIMED: Final = 20
LONGEST_SECONDS: Final = 21_600
"""So long after it was paid in may anything be paid out: the pools refuse a later end."""
SEARCHED_SECONDS: Final = 7 * 86_400
FEE_PERCENT: Final = 75
QUICK_PERCENT, SLOW_PERCENT = 50, 90

_NO_DEPOSITS: Final = "function pausedDeposits() view returns (bool)"
_NO_FILLS: Final = "function pausedFills() view returns (bool)"


@dataclass(frozen=True, slots=True)
class PaidOut:
    """One transfer that a relayer paid: base units that left and arrived, its number, and the block it arrived in."""

    number: int
    amount: int
    arrived: int
    block_number: int


@dataclass(frozen=True, slots=True)
class Lately:
    """Transfers of one token between two chains that were paid out within LOOK_SECONDS, newest first."""

    paid: tuple[PaidOut, ...]

    @property
    def fee_bps(self) -> int | None:
        """What three of four of them paid at most; None where too few were seen."""
        fees = [fee_bps(each.amount, each.arrived) for each in self.paid]
        return quantile(fees, FEE_PERCENT) if len(fees) >= LEAST_SEEN else None

    @property
    def largest(self) -> int | None:
        """The most that left at once; None where nothing was seen."""
        return max((each.amount for each in self.paid), default=None)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from paying in to paying out; None where too few were seen."""

    quick: int | None
    slow: int | None
    seen: int


@dataclass(frozen=True, slots=True)
class Left:
    """A transfer as the chain that it left tells it, with where it goes and the transaction it left in."""

    transfer: Transfer
    to_chain: int
    account: str
    tx_hash: str


def read_lately(reader: ChainReader, *, origin: int, token: TokenMeta, arrives: TokenMeta) -> Lately:
    """What the pool of the reader's chain paid out of transfers from `origin`. Raises the node's errors."""
    since = reader.first_block_since(reader.block.timestamp - LOOK_SECONDS).number
    logs = reader.logs(
        address=pool_on(reader.chain_id),
        topics=encode_event_topics(FILLED, originChainId=origin),
        from_block=since,
        to_block=reader.block.number,
    )
    found = (_paid_out(log, token, arrives) for log in reversed(logs))
    return Lately(tuple(each for each in found if each is not None))


def read_times(source: ChainReader, target: ChainReader, lately: Lately) -> Times:
    """How long the newest of them took. Raises the node's errors."""
    newest = lately.paid[:MOST_TIMED]
    if len(newest) < LEAST_SEEN:
        return Times(None, None, len(newest))
    since = source.first_block_since(source.block.timestamp - LOOK_SECONDS - LONGEST_SECONDS).number
    logs = source.logs(
        address=pool_on(source.chain_id),
        topics=encode_event_topics(DEPOSITED, destinationChainId=target.chain_id),
        from_block=since,
        to_block=source.block.number,
    )
    begun = {told.deposit_id: told.quote_timestamp for told in _deposits(logs, source.chain_id)}
    seconds = [
        max(0, target.block_at(each.block_number).timestamp - begun[each.number])
        for each in newest
        if each.number in begun
    ]
    if len(seconds) < LEAST_SEEN:
        return Times(None, None, len(seconds))
    return Times(quantile(seconds, QUICK_PERCENT), quantile(seconds, SLOW_PERCENT), len(seconds))


def check_open(source: ChainReader, target: ChainReader) -> None:
    """That one pool takes in and the other pays out. Raises BridgePaused, and the node's errors."""
    for reader, question, does in ((source, _NO_DEPOSITS, "takes nothing in"), (target, _NO_FILLS, "pays nothing out")):
        ((paused,),) = read_all(reader, [ReadCall(pool_on(reader.chain_id), question)])
        if paused:
            raise BridgePaused(f"Across {does} on chain {reader.chain_id} now", chain_id=reader.chain_id)


def find_left(reader: ChainReader, *, number: int, account: str) -> Left:
    """The account's transfer of that number, in the chain's last week. Raises TransferNotFound, the node's errors."""
    since = reader.first_block_since(reader.block.timestamp - SEARCHED_SECONDS).number
    topics = encode_event_topics(DEPOSITED, depositId=number, depositor=to_word(account))
    logs = reader.logs(address=pool_on(reader.chain_id), topics=topics, from_block=since, to_block=reader.block.number)
    for log in logs:
        found = read_own(log, account, reader.chain_id)
        if found is not None:
            return Left(found[1], found[0], account, log.tx_hash)
    raise TransferNotFound(
        f"no transfer {number} of {account} left chain {reader.chain_id} within {SEARCHED_SECONDS // 86_400} days",
        bridge_id=str(number),
        chain_id=reader.chain_id,
    )


def read_paid(reader: ChainReader, left: Left) -> bool:
    """Whether it was paid out on the reader's chain. Raises the node's errors."""
    (status,) = reader.call(pool_on(reader.chain_id), STATUS, left.transfer.hash(left.account, reader.chain_id))
    return int(status) == PAID


def find_payment(reader: ChainReader, left: Left) -> str | None:
    """The transaction in which it was paid out; None where the node's logs do not tell. Raises the node's errors."""
    since = reader.first_block_since(left.transfer.until - LONGEST_SECONDS).number
    logs = reader.logs(
        address=pool_on(reader.chain_id),
        topics=encode_event_topics(FILLED, originChainId=left.transfer.origin, depositId=left.transfer.number),
        from_block=since,
        to_block=reader.block.number,
    )
    return logs[-1].tx_hash if logs else None


def _paid_out(log: LogEntry, token: TokenMeta, arrives: TokenMeta) -> PaidOut | None:
    told = FILLS.read(log)
    if told is None or not told.input_amount:
        return None
    if (to_address(told.input_token), to_address(told.output_token)) != (token.address, arrives.address):
        return None
    return PaidOut(told.deposit_id, told.input_amount, told.output_amount, log.block_number)


def _deposits(logs: Sequence[LogEntry], chain_id: int) -> list[Deposited]:
    found = (read_deposit(log, chain_id) for log in logs)
    return [each for each in found if each is not None]
