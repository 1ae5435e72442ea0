"""A stand-in of HyperSync that answers from the local chain, in the shape that its makers publish for curl."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.evm.world import World
from tests.stand_in import serve_stand_in

Change = Callable[[dict[str, Any]], Any]


class HyperSync:
    """`change` is done to each answer; `most` blocks are told at once; `got` are the queries with their headers."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.change: Change = lambda answer: answer
        self.status, self.most = 200, 10_000
        self.got: list[tuple[dict[str, Any], dict[str, str]]] = []

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        assert (method, path) == ("POST", "/31337/query")
        query = json.loads(body)
        self.got.append((query, headers))
        if self.status != 200:
            return self.status, {"error": "unauthorized"}
        end = min(query["to_block"], query["from_block"] + self.most)
        return 200, self.change(
            {
                "data": [{"blocks": self._list_blocks(query["from_block"], end), "logs": self._list_logs(query, end)}],
                "archive_height": end + 1_000,
                "next_block": end,
                "total_execution_time": 12,
            }
        )

    def _list_blocks(self, first: int, end: int) -> list[dict[str, Any]]:
        blocks = (self.world.rpc.call("eth_getBlockByNumber", hex(number), False) for number in range(first, end))
        return [
            {
                "number": int(block["number"], 16),
                "hash": block["hash"],
                "parent_hash": block["parentHash"],
                "timestamp": block["timestamp"],
                "logs_bloom": block["logsBloom"],
            }
            for block in blocks
        ]

    def _list_logs(self, query: dict[str, Any], end: int) -> list[dict[str, Any]]:
        found = []
        for selection in query["logs"]:
            asked = {
                "address": selection["address"],
                "topics": selection["topics"],
                "fromBlock": hex(query["from_block"]),
                "toBlock": hex(end - 1),
            }
            for log in self.world.rpc.call("eth_getLogs", asked):
                topics = [*log["topics"], *[None] * (4 - len(log["topics"]))]
                found.append(
                    {
                        "block_number": int(log["blockNumber"], 16),
                        "block_hash": log["blockHash"],
                        "transaction_hash": log["transactionHash"],
                        "log_index": int(log["logIndex"], 16),
                        "address": log["address"],
                        "data": log["data"],
                        **{f"topic{place}": topic for place, topic in enumerate(topics)},
                    }
                )
        return found


@contextmanager
def serve_hypersync(world: World, settings: Any) -> Iterator[HyperSync]:
    """One that is switched on."""
    service = HyperSync(world)
    with serve_stand_in(service.answer) as url:
        settings.GOLEM_HYPERSYNC_URL = url + "/{chain_id}"
        settings.GOLEM_HYPERSYNC_TOKEN = "a token that nobody else has"
        settings.GOLEM_SERVICES_ALLOW_PRIVATE_ADDRESSES = True
        yield service
