"""Reads a chain's past once per reader: the first block since a time, and logs."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.chain.blocks import BlockSearch, Send, fetch_logs, header_request, parse_block
from tools_app.chain.rpc import RpcReply, RpcRequest
from tools_app.toolkit.views import BlockRef, LogEntry, LogQuery


def make_log_query(
    *, address: str | Sequence[str] | None, topics: Sequence[str | Sequence[str] | None], from_block: int, to_block: int
) -> LogQuery:
    """A query of what eth_getLogs takes."""
    return LogQuery(
        addresses=() if address is None else (address,) if isinstance(address, str) else tuple(address),
        topics=tuple(topic if topic is None or isinstance(topic, str) else tuple(topic) for topic in topics),
        from_block=max(0, from_block),
        to_block=to_block,
    )


class PastReads:
    """Searches under way take a step with every batch of their reader; logs of one context are asked for once."""

    def __init__(self, *, block_seconds: int) -> None:
        self._block_seconds = block_seconds
        self._searches: dict[int, BlockSearch] = {}
        self._logs: dict[LogQuery, list[LogEntry]] = {}

    def begin_search(self, *, timestamp: int, head: BlockRef) -> BlockSearch:
        """The search for the first block since `timestamp`. Raises BlockUnavailable when `head` is before it."""
        if timestamp not in self._searches:
            search = BlockSearch(timestamp=timestamp, head=head, block_seconds=self._block_seconds)
            self._searches[timestamp] = search
        return self._searches[timestamp]

    def find_block(self, send: Send, *, timestamp: int, head: BlockRef) -> BlockRef:
        """The first block since `timestamp`, searched to the end. Raises BlockUnavailable, RpcNonsense."""
        search = self.begin_search(timestamp=timestamp, head=head)
        while not search.is_over:
            replies = send([header_request(number) for number in search.next_numbers()])
            search.take([parse_block(reply.unwrap()) for reply in replies])
        return search.found

    def next_requests(self) -> list[RpcRequest]:
        """The next step of every search that is not over."""
        return [header_request(number) for search in self._searches.values() for number in search.next_numbers()]

    def take(self, replies: Sequence[RpcReply]) -> None:
        """Narrow the searches by the replies to `next_requests`; one that failed is asked for again later."""
        headers = [parse_block(reply.result) for reply in replies if reply.error is None and reply.result]
        for search in self._searches.values():
            search.take(headers)

    def find_logs(self, send: Send, queries: Sequence[LogQuery], *, max_range: int) -> list[list[LogEntry]]:
        """Logs of each query, all that are missing in one round trip. Raises LogRangeTooWide, RpcNonsense."""
        missing = [query for query in dict.fromkeys(queries) if query not in self._logs]
        if missing:
            found = fetch_logs(send, missing, max_range=max_range)
            self._logs.update(zip(missing, found, strict=True))
        return [list(self._logs[query]) for query in queries]
