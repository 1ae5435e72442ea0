"""Reading blocks and logs out of a node's JSON, and the two searches that take more than one question.

`first_block_since` asks for sixteen headers at a time, which on a remote node costs a quarter of the round trips of
halving. Log queries are cut to what the chain's nodes allow and halved again when one says it was too much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tools_app.chain.abi import checksum
from tools_app.chain.node_errors import BlockUnavailable, LogRangeTooWide, RpcNonsense
from tools_app.chain.rpc import RpcReply, RpcRequest, parse_quantity
from tools_app.toolkit.views import BlockRef, LogEntry

Send = Callable[[Sequence[RpcRequest]], list[RpcReply]]
_FAN: Final = 16
_MOST_CHUNKS: Final = 400
_MOST_LOGS: Final = 50_000


def parse_block(raw: Any) -> BlockRef:
    """A BlockRef of a node's block. Raises RpcNonsense, BlockUnavailable when there is none."""
    if raw is None:
        raise BlockUnavailable("The node does not have that block")
    if not isinstance(raw, dict) or not isinstance(raw.get("hash"), str):
        raise RpcNonsense("The node answered something that is no block")
    return BlockRef(
        number=parse_quantity(raw.get("number")),
        hash=raw["hash"],
        timestamp=parse_quantity(raw.get("timestamp")),
        base_fee=parse_quantity(raw.get("baseFeePerGas", "0x0")),
    )


def parse_log(raw: Any) -> LogEntry:
    """A LogEntry of a node's log. Raises RpcNonsense."""
    try:
        return LogEntry(
            address=checksum(raw["address"]),
            topics=tuple(raw["topics"]),
            data=raw["data"],
            block_number=parse_quantity(raw["blockNumber"]),
            tx_hash=raw["transactionHash"],
            log_index=parse_quantity(raw["logIndex"]),
            block_hash=str(raw.get("blockHash") or ""),
        )
    except (KeyError, TypeError, ValueError):
        raise RpcNonsense("The node answered something that is no log") from None


def header_request(number: int) -> RpcRequest:
    return RpcRequest("eth_getBlockByNumber", (hex(number), False))


def find_first_block_since(send: Send, *, timestamp: int, head: BlockRef) -> BlockRef:
    """The first block at or after `timestamp`, not after `head`. Raises BlockUnavailable when `head` is before it."""
    if head.timestamp < timestamp:
        raise BlockUnavailable(f"The chain has no block at or after {timestamp} yet", timestamp=timestamp)
    low, high = 0, head
    while low < high.number:
        step = max(1, -(-(high.number - low) // (_FAN + 1)))
        numbers = list(range(low, high.number, step))[: _FAN + 1]
        headers = [parse_block(reply.unwrap()) for reply in send([header_request(number) for number in numbers])]
        reached = next((header for header in headers if header.timestamp >= timestamp), None)
        before = [header.number for header in headers if header.timestamp < timestamp]
        if reached is not None:
            high = reached
        low = max(before) + 1 if before else high.number
    return high


def fetch_logs(
    send: Send,
    *,
    address: str | Sequence[str] | None,
    topics: Sequence[Any],
    from_block: int,
    to_block: int,
    max_range: int,
) -> list[LogEntry]:
    """Logs of the blocks, inclusive, in chain order. Raises LogRangeTooWide, RpcNonsense."""
    if from_block > to_block:
        return []
    if (to_block - from_block) // max_range >= _MOST_CHUNKS:
        raise LogRangeTooWide(
            f"{to_block - from_block + 1} blocks; at most {max_range * _MOST_CHUNKS} can be searched at once",
            most_blocks=max_range * _MOST_CHUNKS,
        )
    base: dict[str, Any] = {"topics": list(topics)}
    if address is not None:
        base["address"] = address if isinstance(address, str) else list(address)
    waiting = [(start, min(start + max_range - 1, to_block)) for start in range(from_block, to_block + 1, max_range)]
    found: list[LogEntry] = []
    while waiting:
        batch, waiting = waiting[:_FAN], waiting[_FAN:]
        replies = send(
            [RpcRequest("eth_getLogs", ({**base, "fromBlock": hex(a), "toBlock": hex(b)},)) for a, b in batch]
        )
        for (start, end), reply in zip(batch, replies, strict=True):
            if isinstance(reply.error, LogRangeTooWide) and end > start:
                middle = (start + end) // 2
                waiting = [(start, middle), (middle + 1, end), *waiting]
                continue
            rows = reply.unwrap()
            if not isinstance(rows, list):
                raise RpcNonsense("The node answered something that is no list of logs")
            found += [parse_log(row) for row in rows]
        if len(found) > _MOST_LOGS:
            raise LogRangeTooWide(f"More than {_MOST_LOGS} logs; narrow the range", most_logs=_MOST_LOGS)
    return sorted(found, key=lambda log: (log.block_number, log.log_index))
