"""A node between an engine and the world: it passes everything on, bent as a test wants it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from tests.tools_app.chain.nodes import Node, serve
from tools_app.chain import chains, networks
from tools_app.chain.http_pool import HttpPool
from tools_app.chain.rpc import RpcLimits
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.pyevm.base import BASES
from tools_app.simulation.select import select_engine

Bend = Callable[[dict[str, Any], dict[str, Any]], Any]


@contextmanager
def proxy(
    url: str, bend: Bend | None = None, *, shuffle: bool = False, before: Callable[[int], None] | None = None
) -> Iterator[tuple[Node, list[int]]]:
    """A node that passes on what the one at `url` answers, bent; the list collects the size of each POST.

    `before` is told how many POSTs there were so far, before the next is passed on.
    """
    posts: list[int] = []
    parts = urlsplit(url)
    upstream = HttpPool(parts, headers={"Content-Type": "application/json"}, most_connections=8)
    lock = threading.Lock()

    def answer(requests: list[dict[str, Any]]) -> Any:
        if before is not None:
            before(len(posts))
        with lock:
            posts.append(len(requests))
        body = json.dumps(requests if len(requests) > 1 else requests[0]).encode()
        reply = upstream.post(body, connect_ms=1_000, deadline=Deadline.after_ms(10_000), most_bytes=1 << 25)
        replies = json.loads(reply.body)
        replies = replies if isinstance(replies, list) else [replies]
        by_id = {item["id"]: item for item in replies}
        ordered = [by_id[request["id"]] for request in requests]
        if bend is not None:
            ordered = [bend(request, item) for request, item in zip(requests, ordered, strict=True)]
        return list(reversed(ordered)) if shuffle else ordered

    with serve(answer) as node:
        yield node, posts


def point_at(node_url: str, *, request_ms: int = 10_000) -> None:
    """The local chain is the one at this url from now on, and nothing of it is known yet."""
    chains.configure_chains(
        [networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [node_url])],
        replace(chains._settings, limits=RpcLimits(request_ms=request_ms)),
    )
    BASES.clear()


def run_through(
    node_url: str, request: SimulationRequest, *, engine: str = "pyevm", budget_ms: int = 10_000
) -> SimulationResult:
    """The result of an engine that knows the chain through this node alone."""
    point_at(node_url, request_ms=budget_ms)
    return select_engine(31337, engine).run(request, deadline=Deadline.after_ms(budget_ms))


def without(*methods: str) -> Bend:
    """A node that lacks these methods."""

    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        if request["method"] in methods:
            return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "Method not found"}}
        return reply

    return bend
