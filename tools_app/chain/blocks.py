"""Reading blocks and logs out of a node's JSON, and the two searches that take more than one question.

A block of a time is searched for with some sixty headers at a time, which on a remote node costs a sixth of the round
trips of halving. Log queries are cut to what the chain's nodes allow and halved again when one says it was too much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from tools_app.chain.abi import checksum
from tools_app.chain.node_errors import BlockUnavailable, LogRangeTooWide, RpcNonsense
from tools_app.chain.rpc import RpcReply, RpcRequest, parse_quantity
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.views import BlockRef, LogEntry, LogQuery

Send = Callable[[Sequence[RpcRequest]], list[RpcReply]]
_FAN: Final = 64
_CHUNKS_AT_ONCE: Final = 16
_MOST_CHUNKS: Final = 400
_MOST_LOGS: Final = 50_000


@dataclass(frozen=True, slots=True)
class _NodeBlock:
    """What a node says of a block, none of it looked at yet."""

    number: object = None
    timestamp: object = None
    base_fee: Annotated[object, Field(alias="baseFeePerGas")] = "0x0"
    gas_limit: Annotated[object, Field(alias="gasLimit")] = "0x0"


def parse_block(raw: object) -> BlockRef:
    """A BlockRef of a node's block. Raises RpcNonsense, BlockUnavailable when there is none."""
    if raw is None:
        raise BlockUnavailable("The node does not have that block")
    match raw:
        case {"hash": str(block_hash)}:
            told = read_stored(_NodeBlock, raw)
        case _:
            raise RpcNonsense("The node answered something that is no block")
    return BlockRef(
        number=parse_quantity(told.number),
        hash=block_hash,
        timestamp=parse_quantity(told.timestamp),
        base_fee=parse_quantity(told.base_fee),
        gas_limit=parse_quantity(told.gas_limit),
    )


def parse_log(raw: Any) -> LogEntry:  # Any: a node's JSON
    """A LogEntry of a node's log. Raises RpcNonsense."""
    try:
        match raw:
            case {
                "address": address,
                "topics": topics,
                "data": data,
                "blockNumber": number,
                "transactionHash": tx_hash,
                "logIndex": index,
            }:
                return LogEntry(
                    address=checksum(address),
                    topics=tuple(topics),
                    data=data,
                    block_number=parse_quantity(number),
                    tx_hash=tx_hash,
                    log_index=parse_quantity(index),
                    block_hash=str(raw.get("blockHash") or ""),
                )
    except (TypeError, ValueError):
        pass
    raise RpcNonsense("The node answered something that is no log")


def header_request(number: int) -> RpcRequest:
    return RpcRequest("eth_getBlockByNumber", (hex(number), False))


class BlockSearch:
    """The search for the first block at or after `timestamp`, a batch of headers at a time.

    On a short chain headers are spread evenly. On a long one they lie around where the block would be at the chain's
    pace, ever further apart, so that a pace that is nearly right ends the search with the second batch.
    """

    def __init__(self, *, timestamp: int, head: BlockRef, block_seconds: int = 12) -> None:
        """Raises BlockUnavailable when `head` is before it."""
        if head.timestamp < timestamp:
            raise BlockUnavailable(f"The chain has no block at or after {timestamp} yet", timestamp=timestamp)
        self.found = head
        self._timestamp = timestamp
        self._low = 0
        self._pace = (block_seconds, 1)

    @property
    def is_over(self) -> bool:
        """Whether `found` is the block."""
        return self._low >= self.found.number

    def next_numbers(self) -> list[int]:
        """Which headers to ask for next; none when it is over."""
        low, high = self._low, self.found.number
        if high - low <= _FAN * _FAN:
            return list(range(low, high, max(1, -(-(high - low) // _FAN))))
        seconds, blocks = self._pace
        guess = high - (self.found.timestamp - self._timestamp) * blocks // max(1, seconds)
        steps = [0, *(2**power for power in range((high - low).bit_length()))]
        return sorted({min(high - 1, max(low, guess + way * step)) for step in steps for way in (-1, 1)})

    def take(self, headers: Sequence[BlockRef]) -> None:
        """Narrow the search by what was asked for."""
        for header in sorted(headers, key=lambda header: header.number):
            if header.timestamp >= self._timestamp:
                if header.number < self.found.number:
                    self.found = header
                break
            if self.found.timestamp > header.timestamp:
                self._pace = (self.found.timestamp - header.timestamp, self.found.number - header.number)
            self._low = max(self._low, header.number + 1)


def fetch_logs(send: Send, queries: Sequence[LogQuery], *, max_range: int) -> list[list[LogEntry]]:
    """Logs of each query in chain order, all asked together. Raises LogRangeTooWide, RpcNonsense."""
    waiting = [
        (place, start, min(start + max_range - 1, query.to_block))
        for place, query in enumerate(queries)
        for start in _cut(query, max_range)
    ]
    found: list[list[LogEntry]] = [[] for _ in queries]
    while waiting:
        batch, waiting = waiting[:_CHUNKS_AT_ONCE], waiting[_CHUNKS_AT_ONCE:]
        replies = send([_log_request(queries[place], start, end) for place, start, end in batch])
        for (place, start, end), reply in zip(batch, replies, strict=True):
            if isinstance(reply.error, LogRangeTooWide) and end > start:
                middle = (start + end) // 2
                waiting = [(place, start, middle), (place, middle + 1, end), *waiting]
                continue
            rows = reply.unwrap()
            if not isinstance(rows, list):
                raise RpcNonsense("The node answered something that is no list of logs")
            found[place] += [parse_log(row) for row in rows]
            if len(found[place]) > _MOST_LOGS:
                raise LogRangeTooWide(f"More than {_MOST_LOGS} logs; narrow the range", most_logs=_MOST_LOGS)
    return [sorted(logs, key=lambda log: (log.block_number, log.log_index)) for logs in found]


def _cut(query: LogQuery, max_range: int) -> range:
    blocks = query.to_block - query.from_block + 1
    if (blocks - 1) // max_range >= _MOST_CHUNKS:
        raise LogRangeTooWide(
            f"{blocks} blocks; at most {max_range * _MOST_CHUNKS} can be searched at once",
            most_blocks=max_range * _MOST_CHUNKS,
        )
    return range(query.from_block, query.to_block + 1, max_range)


def _log_request(query: LogQuery, start: int, end: int) -> RpcRequest:
    addressed = query.addresses[0] if len(query.addresses) == 1 else list(query.addresses)
    wanted: dict[str, object] = {
        "topics": [list(topic) if isinstance(topic, tuple) else topic for topic in query.topics],
        "fromBlock": hex(start),
        "toBlock": hex(end),
        **({"address": addressed} if query.addresses else {}),
    }
    return RpcRequest("eth_getLogs", (wanted,))
