"""Reading a stretch of blocks, with every answer held against the others: what contradicts itself is not taken.

The header of each block is read beside the logs. Headers must be the blocks that were asked for, each the child of the
one before. A log must lie in the stretch, in a block with the header's hash, be of a contract and a topic that were
asked for, come once, and be in its block's bloom. Where there are two nodes both must say the same logs. A block whose
bloom names what was asked for and that has no log of it is asked for again; what is left out then is a lie, unless the
bloom is so full that it names anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from eth_bloom import BloomFilter

from tools_app.chain.blocks import fetch_logs, header_request, parse_block, parse_log
from tools_app.chain.chains import get_pool
from tools_app.chain.networks import Network
from tools_app.chain.node_errors import RpcNonsense
from tools_app.chain.rpc import RpcRequest, parse_bytes
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.toolkit.pool_ids import PoolId
from tools_app.toolkit.views import LogEntry, LogQuery

Wanted = Mapping[PoolId, frozenset[str]]
"""By whose logs tell of it (a contract, or a manager of one of its pools), the first topics that are wanted."""

_ADDRESSES_AT_ONCE: Final = 100
_MOST_YEAR: Final = 2_200
_LEAST_DOUBT_PARTS: Final = 1_000_000
"""A bloom that names by chance what is not there, once in so many blocks, is believed to mean it."""
_BLOOM_BITS: Final = 2_048
_WITHOUT_BLOOMS: Final = frozenset({324})
"""Chains whose headers carry no blooms: there a node that leaves a log out is not found by them."""


class NodesDisagree(
    RpcNonsense,
    title="Two nodes say different things of the same blocks",
    cleared_by="the nodes of the chain say the same again; an operator takes the wrong one off",
):
    """Two nodes say different logs of the same blocks, and neither contradicts itself."""


@dataclass(frozen=True, slots=True)
class CheckedHeader:
    """One block: what the chain of hashes and the look into its bloom need."""

    number: int
    hash: str
    parent_hash: str
    time: datetime
    bloom: int | None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch as it was believed. `before` is the block before it, None where it begins with the first of all.

    `told` are the logs in the chain's order, each with what it is about.
    `asked` counts the questions that went out. `lie` is what was said first and is not so; empty when nothing was.
    """

    before: CheckedHeader | None
    headers: tuple[CheckedHeader, ...]
    told: tuple[tuple[PoolId, LogEntry], ...]
    asked: int
    lie: str = ""

    def time_of(self, number: int) -> datetime:
        """The time of one of its blocks."""
        return self.headers[number - self.headers[0].number].time


def read_stretch(
    network: Network, wanted: Wanted, *, first: int, last: int, deadline: Deadline, last_hash: str = ""
) -> Stretch:
    """The blocks from `first` to `last` and the wanted logs in them, in the chain's order.

    The last one must have `last_hash`, where that is known.

    Where one node contradicts itself another is asked, or the same one again. Raises RpcNonsense when that does too,
    and the node errors.
    """
    pool = get_pool(network.chain_id)
    try:
        return _read(pool, network, wanted, (first, last, last_hash), deadline)
    except NodesDisagree:
        raise
    except RpcNonsense as error:
        told = error.detail
    return replace(_read(pool.second_opinion(), network, wanted, (first, last, last_hash), deadline), lie=told)


def read_headers(pool: RpcPool, numbers: Sequence[int], *, deadline: Deadline) -> dict[int, CheckedHeader]:
    """Headers by number, without those the node does not have. Raises RpcNonsense and the node errors."""
    replies = pool.send([header_request(number) for number in numbers], deadline=deadline)
    found = {number: parse_header(reply.unwrap()) for number, reply in zip(numbers, replies, strict=True) if reply}
    headers = {number: header for number, header in found.items() if header is not None}
    for number, header in headers.items():
        if header.number != number:
            raise RpcNonsense(f"The node answered block {header.number} where {number} was asked")
    return headers


def _read(
    pool: RpcPool, network: Network, wanted: Wanted, asked_for: tuple[int, int, str], deadline: Deadline
) -> Stretch:
    first, last, last_hash = asked_for
    numbers = range(max(0, first - 1), last + 1)
    found = read_headers(pool, numbers, deadline=deadline)
    missing = [number for number in numbers if number not in found]
    if missing:
        raise RpcNonsense(f"The node left block {missing[0]} out")
    headers = [found[number] for number in numbers]
    queries = [query_of(wanted, group, first, last) for group in group_wanted(wanted)]
    lists = fetch_logs(
        lambda requests: pool.send(requests, deadline=deadline), queries, max_range=network.max_log_range
    )
    told = [log for logs in lists for log in logs]
    inside, logs, asked = check_answer(pool, network, wanted, headers, told, first, last_hash, deadline)
    asked += len(numbers) + len(queries)
    other = pool.second_opinion()
    if other is not pool:
        asked += len(queries)
        second = fetch_logs(
            lambda requests: other.send(requests, deadline=deadline), queries, max_range=network.max_log_range
        )
        if set(map(plain, told)) != {plain(log) for logs in second for log in logs}:
            raise NodesDisagree(f"Two nodes say different logs of the blocks from {first} to {last}")
    return Stretch(headers[0] if first > 0 else None, tuple(inside), tuple(logs), asked)


def check_answer(
    pool: RpcPool,
    network: Network,
    wanted: Wanted,
    headers: Sequence[CheckedHeader],
    told: Sequence[LogEntry],
    first: int,
    last_hash: str,
    deadline: Deadline,
) -> tuple[Sequence[CheckedHeader], list[tuple[PoolId, LogEntry]], int]:
    """Hold headers and logs of a stretch against each other, whoever told them: the headers from `first` on, what is
    wanted in the chain's order, and how many questions to `pool` that took. Raises RpcNonsense.
    """
    _check_chain(headers)
    last = headers[-1]
    if last_hash and last.hash != last_hash:
        raise RpcNonsense(f"The node's block {last.number} is not the one that the chain goes on from")
    found_logs = ((about, log) for log in told if (about := _find_wanted(wanted, log)) is not None)
    logs = sorted(found_logs, key=lambda pair: (pair[1].block_number, pair[1].log_index))
    inside = headers[first - headers[0].number :]
    _check_logs(wanted, told, inside)
    asked = 0
    if network.chain_id not in _WITHOUT_BLOOMS:
        asked = _check_blooms(pool, wanted, logs, inside, deadline)
    return inside, logs, asked


def read_logs_of(
    pool: RpcPool, wanted: Wanted, headers: Sequence[CheckedHeader], *, deadline: Deadline
) -> list[LogEntry]:
    """What a node says was logged in these very blocks, of what is wanted. Raises RpcNonsense and the node errors."""
    requests = [
        RpcRequest(
            "eth_getLogs",
            (
                {
                    "blockHash": header.hash,
                    "address": list(query.addresses),
                    "topics": [list(each) if isinstance(each, tuple) else each for each in query.topics],
                },
            ),
        )
        for header in headers
        for query in (query_of(wanted, group, header.number, header.number) for group in group_wanted(wanted))
    ]
    found = []
    for reply in pool.send(requests, deadline=deadline):
        rows = reply.unwrap()
        if not isinstance(rows, list):
            raise RpcNonsense("The node answered something that is no list of logs")
        found += [log for log in map(parse_log, rows) if _find_wanted(wanted, log) is not None]
    return found


def group_wanted(wanted: Wanted) -> list[list[PoolId]]:
    """Contracts are asked about together, and so are the pools of one manager."""
    by_manager: dict[str, list[PoolId]] = {}
    for about in sorted(wanted):
        by_manager.setdefault(about.manager, []).append(about)
    return [
        group[at : at + _ADDRESSES_AT_ONCE]
        for group in by_manager.values()
        for at in range(0, len(group), _ADDRESSES_AT_ONCE)
    ]


def query_of(wanted: Wanted, group: Sequence[PoolId], first: int, last: int) -> LogQuery:
    """What is asked of a node about contracts of one group."""
    topics = sorted({topic for about in group for topic in wanted[about]})
    contracts = tuple(dict.fromkeys(about.contract for about in group))
    names = (tuple(about.text for about in group),) if group[0].manager else ()
    return LogQuery(contracts, (tuple(topics), *names), first, last)


def _find_wanted(wanted: Wanted, log: LogEntry) -> PoolId | None:
    """What a log is about. Several are asked about together: each is told of the topics of all."""
    if not log.topics:
        return None
    first = log.topics[0].lower()
    of_contract = PoolId(log.address)
    if first in wanted.get(of_contract, ()):
        return of_contract
    about = PoolId(log.topics[1].lower(), log.address) if len(log.topics) > 1 else of_contract
    return about if first in wanted.get(about, ()) else None


def plain(log: LogEntry) -> LogEntry:
    """As every node writes it."""
    return replace(
        log,
        topics=tuple(topic.lower() for topic in log.topics),
        data=log.data.lower(),
        tx_hash=log.tx_hash.lower(),
        block_hash=log.block_hash.lower(),
    )


def parse_header(raw: Any) -> CheckedHeader | None:  # Any: a node's JSON
    """A header of a node's block; None for none. Any: its JSON. Raises RpcNonsense."""
    if raw is None:
        return None
    block = parse_block(raw)
    bloom = raw.get("logsBloom")
    parent = raw.get("parentHash")
    if not isinstance(parent, str):
        raise RpcNonsense("The node answered a block without the hash of the one before")
    try:
        time = datetime.fromtimestamp(block.timestamp, UTC)
    except (OverflowError, ValueError, OSError):
        raise RpcNonsense("The node answered a block of a time that no calendar has") from None
    if time.year > _MOST_YEAR:
        raise RpcNonsense(f"The node answered a block of the year {time.year}")
    return CheckedHeader(
        number=block.number,
        hash=block.hash.lower(),
        parent_hash=parent.lower(),
        time=time,
        bloom=int.from_bytes(parse_bytes(bloom), "big") if isinstance(bloom, str) else None,
    )


def _check_chain(headers: Sequence[CheckedHeader]) -> None:
    for parent, child in zip(headers, headers[1:], strict=False):
        if child.parent_hash != parent.hash:
            raise RpcNonsense(f"The node's block {child.number} is not the child of its block {parent.number}")
        if child.time < parent.time:
            raise RpcNonsense(f"The node's block {child.number} is older than the one before")


def _check_logs(wanted: Wanted, logs: Sequence[LogEntry], headers: Sequence[CheckedHeader]) -> None:
    by_number = {header.number: header for header in headers}
    topics = frozenset(topic for each in wanted.values() for topic in each)
    contracts = frozenset(about.contract for about in wanted)
    seen: set[tuple[int, int]] = set()
    for log in logs:
        place = (log.block_number, log.log_index)
        header = by_number.get(log.block_number)
        if header is None:
            raise RpcNonsense(f"The node answered a log of block {log.block_number}, which was not asked for")
        if log.block_hash.lower() != header.hash:
            raise RpcNonsense(f"The node answered a log of another block {log.block_number} than its own")
        if log.address not in contracts or not log.topics or log.topics[0].lower() not in topics:
            raise RpcNonsense(f"The node answered a log in block {log.block_number} that was not asked for")
        if place in seen:
            raise RpcNonsense(f"The node answered log {log.log_index} of block {log.block_number} twice")
        seen.add(place)


def _check_blooms(
    pool: RpcPool,
    wanted: Wanted,
    logs: Sequence[tuple[PoolId, LogEntry]],
    headers: Sequence[CheckedHeader],
    deadline: Deadline,
) -> int:
    """Hold logs against blooms, both ways; how many questions that took. Raises RpcNonsense."""
    present = {(log.block_number, about) for about, log in logs}
    by_number = {header.number: header for header in headers}
    for about, log in logs:
        bloom = by_number[log.block_number].bloom
        if bloom is not None and not _names(BloomFilter(bloom), about, [log.topics[0]]):
            raise RpcNonsense(f"The node answered a log that is not in the bloom of its block {log.block_number}")
    doubts = [
        (header, about)
        for header in headers
        if header.bloom
        for about in wanted
        if (header.number, about) not in present and _names(BloomFilter(header.bloom), about, wanted[about])
    ]
    if not doubts:
        return 0
    other = pool.second_opinion()
    requests = [
        RpcRequest(
            "eth_getLogs",
            (
                {
                    "blockHash": header.hash,
                    "address": about.contract,
                    "topics": [list(each) if isinstance(each, tuple) else each for each in topics],
                },
            ),
        )
        for header, about in doubts
        for topics in (about.filter_logs(sorted(wanted[about])),)
    ]
    for (header, about), reply in zip(doubts, other.send(requests, deadline=deadline), strict=True):
        rows = reply.unwrap()
        if not isinstance(rows, list):
            raise RpcNonsense("The node answered something that is no list of logs")
        if [row for row in rows if _find_wanted(wanted, parse_log(row)) == about]:
            raise RpcNonsense(f"The node left out what {about.contract} logged in block {header.number}")
        if _is_sure(header.bloom or 0, len(wanted[about]) * len(wanted)):
            raise RpcNonsense(f"The node hides what the bloom of block {header.number} says {about.contract} logged")
    return len(requests)


def _names(bloom: BloomFilter, about: PoolId, topics: Sequence[str] | frozenset[str]) -> bool:
    named = (about.contract, about.text) if about.manager else (about.contract,)
    if not all(bytes.fromhex(each[2:]) in bloom for each in named):
        return False
    return any(bytes.fromhex(topic[2:]) in bloom for topic in topics)


def _is_sure(bloom: int, pairs: int) -> bool:
    """Whether a bloom with so few bits names a contract and a topic by chance less than once in a million blocks."""
    bits = bloom.bit_count()
    return pairs * bits**6 * _LEAST_DOUBT_PARTS < _BLOOM_BITS**6
