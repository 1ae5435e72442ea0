"""Filling a base from a node: few round trips on a good one, typed errors and never a success from a bad one."""

from __future__ import annotations

import json
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.saved import find_anvil
from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.chain.nodes import Node, closed_port_url, serve, serve_silence
from tests.tools_app.simulation.plans import lp_mint, v3_swap
from tools_app.chain import chains, networks
from tools_app.chain.http_pool import HttpPool
from tools_app.chain.rpc import RpcLimits
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import (
    SimulationRequest,
    SimulationResult,
    SimulationTimeout,
    SimulationUnavailable,
)
from tools_app.simulation.pyevm.base import BASES, Account, Base, BaseStore, CodeStore
from tools_app.simulation.pyevm.loader import NodeSource
from tools_app.simulation.select import select_engine

Bend = Callable[[dict[str, Any], dict[str, Any]], Any]


@contextmanager
def proxy(world: World, bend: Bend | None = None, *, shuffle: bool = False) -> Iterator[tuple[Node, list[int]]]:
    """A node that passes the world's answers on, bent; the list collects the size of each POST."""
    posts: list[int] = []
    parts = urlsplit(world.rpc_url)
    upstream = HttpPool(parts, headers={"Content-Type": "application/json"}, most_connections=8)
    lock = threading.Lock()

    def answer(requests: list[dict[str, Any]]) -> Any:
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


@pytest.fixture
def swap(open_reader: OpenReader, chain: World) -> SimulationRequest:
    account = chain.new_account(eth_wei=10**19, tokens={"USDC": 10_000 * 10**6})
    reader = open_reader()
    return SimulationRequest(
        chain_id=31337,
        sender=account.address,
        calls=v3_swap(reader, chain, account.address),
        watch=((account.address, reader.token("USDC").address), (account.address, reader.token("WETH").address)),
        block=reader.block,
    )


def run_through(node_url: str, request: SimulationRequest, *, budget_ms: int = 10_000) -> SimulationResult:
    chains.configure_chains(
        [networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [node_url])],
        replace(chains._settings, limits=RpcLimits(request_ms=budget_ms)),
    )
    BASES.clear()
    return select_engine(31337, "pyevm").run(request, deadline=Deadline.after_ms(budget_ms))


def test_a_cold_swap_takes_at_most_four_round_trips_and_a_warm_one_none(world: World, swap: SimulationRequest) -> None:
    with proxy(world) as (node, posts):
        cold = run_through(node.url, swap)
        cold_posts = len(posts)
        warm = select_engine(31337, "pyevm").run(swap, deadline=Deadline.after_ms(10_000))

    assert cold.succeeded
    assert cold_posts <= 4
    assert len(posts) == cold_posts
    assert warm == cold


def test_a_base_that_another_thread_fills_meanwhile_shifts_no_answer(world: World, swap: SimulationRequest) -> None:
    block = swap.block
    assert block is not None
    direct = RpcPool.of_network(networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [world.rpc_url]))
    source = NodeSource(
        pool=direct, block_hash=block.hash, number=block.number, deadline=Deadline.after_ms(10_000)
    )  # fmt: skip
    header = source.load_header()
    filled: list[str] = []

    def fill(request: dict[str, Any], answer: dict[str, Any]) -> Any:
        if request["method"] == "eth_getBlockByHash":
            BASES.get(31337, block.hash).header = header
            filled.append(request["method"])
        return answer

    with proxy(world) as (node, _):
        alone = run_through(node.url, swap)
    with proxy(world, fill) as (node, _):
        assert run_through(node.url, swap) == alone
    assert alone.succeeded
    assert filled


def _without(*methods: str) -> Bend:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        if request["method"] in methods:
            return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "Method not found"}}
        return reply

    return bend


@pytest.mark.parametrize("missing", [("debug_traceCall",), ("debug_traceCall", "eth_createAccessList")])
def test_a_node_with_fewer_methods_gives_the_same_result(
    world: World, swap: SimulationRequest, missing: tuple[str, ...]
) -> None:
    straight = run_through(world.rpc_url, swap)
    with proxy(world, _without(*missing)) as (node, _):
        assert run_through(node.url, swap) == straight


def test_answers_of_a_batch_in_another_order_are_matched_by_id(world: World, swap: SimulationRequest) -> None:
    straight = run_through(world.rpc_url, swap)
    with proxy(world, shuffle=True) as (node, _):
        assert run_through(node.url, swap) == straight


def _result(method: str, make: Callable[[Any], Any]) -> Bend:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "result": make(reply.get("result"))} if request["method"] == method else reply

    return bend


def _first_account(change: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    def make(prestate: Any) -> Any:
        address = next(iter(prestate))
        return {**prestate, address: change(prestate[address])}

    return make


@pytest.mark.parametrize(
    "bend",
    [
        _result("eth_chainId", lambda _: "0x1"),
        _result("eth_getBlockByHash", lambda _: None),
        _result("eth_getBlockByHash", lambda block: {**block, "hash": "0x" + "ab" * 32}),
        _result("eth_getBlockByHash", lambda block: {**block, "number": "0x1"}),
        _result("eth_getBlockByHash", lambda block: {key: v for key, v in block.items() if key != "gasLimit"}),
        _result("eth_getBlockByHash", lambda block: {**block, "miner": "0x12"}),
        _result("debug_traceCall", lambda _: []),
        _result("debug_traceCall", lambda _: {"0x12": {}}),
        _result("debug_traceCall", _first_account(lambda _: None)),
        _result("debug_traceCall", _first_account(lambda entry: {**entry, "balance": "much"})),
        _result("debug_traceCall", _first_account(lambda entry: {**entry, "nonce": "0xzz"})),
        _result("debug_traceCall", _first_account(lambda entry: {**entry, "code": "0x1"})),
        _result("debug_traceCall", _first_account(lambda entry: {**entry, "storage": {"0x0": "0x1" + "00" * 32}})),
        _result("debug_traceCall", _first_account(lambda entry: {**entry, "storage": []})),
    ],
)
def test_a_lying_or_broken_node_never_makes_a_success(world: World, swap: SimulationRequest, bend: Bend) -> None:
    with proxy(world, bend) as (node, _), pytest.raises(SimulationUnavailable):
        run_through(node.url, swap)


@pytest.mark.parametrize("method", ["eth_getStorageAt", "eth_getBalance", "eth_getCode", "eth_getTransactionCount"])
def test_broken_single_reads_never_make_a_success(world: World, swap: SimulationRequest, method: str) -> None:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        reply = _without("debug_traceCall", "eth_createAccessList")(request, reply)
        return {key: v for key, v in reply.items() if key != "result"} if request["method"] == method else reply

    with proxy(world, bend) as (node, _), pytest.raises(SimulationUnavailable):
        run_through(node.url, swap)


def test_a_reorganisation_during_the_prefetch_is_an_error_and_no_other_state(
    world: World, swap: SimulationRequest
) -> None:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        if request["method"] in ("eth_getBlockByHash", "eth_chainId"):
            return reply
        gone = {"code": -32000, "message": "header not found"}
        return {"jsonrpc": "2.0", "id": request["id"], "error": gone}

    with proxy(world, bend) as (node, _), pytest.raises(SimulationUnavailable) as unavailable:
        run_through(node.url, swap)

    assert unavailable.value.data["cause"] == "BLOCK_UNAVAILABLE"


def test_a_stale_head_is_the_block_that_is_named(world: World, chain: World, swap: SimulationRequest) -> None:
    """The node moved on; the simulation still speaks of the pinned block and says so."""
    before = run_through(world.rpc_url, swap)
    chain.send(chain.actors.deployer, chain.actors.deployer.address)
    after = run_through(world.rpc_url, swap)

    assert after == before
    assert after.block == swap.block


def test_a_silent_node_is_a_timeout_and_a_dead_one_unavailable(swap: SimulationRequest) -> None:
    with serve_silence() as url, pytest.raises(SimulationTimeout):
        run_through(url, swap, budget_ms=150)
    with pytest.raises(SimulationUnavailable):
        run_through(closed_port_url(), swap)


def test_a_fork_of_a_forked_node_gives_what_that_node_gives(
    world: World, open_reader: OpenReader, chain: World, tmp_path: Path
) -> None:
    account = chain.new_account(eth_wei=10**19, tokens={"USDC": 10_000 * 10**6, "DAI": 10_000 * 10**18})
    with run_node(find_anvil(), tmp_path, "--fork-url", world.rpc_url) as url:
        chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [url])])
        reader = _reader_at(url)
        request = SimulationRequest(31337, account.address, lp_mint(reader, chain, account.address), block=reader.block)
        BASES.clear()
        ours = select_engine(31337, "pyevm").run(request, deadline=Deadline.after_ms(30_000))
        theirs = select_engine(31337, "rpc").run(request, deadline=Deadline.after_ms(30_000))

    assert ours.succeeded
    assert [call.gas_used for call in ours.calls] == [call.gas_used for call in theirs.calls]
    assert [call.output for call in ours.calls] == [call.output for call in theirs.calls]
    assert ours.deltas == theirs.deltas


def _reader_at(url: str) -> Any:
    from datetime import UTC, datetime

    chains.configure_chains([networks.with_rpc_urls(networks.KNOWN_NETWORKS[31337], [url])])
    return chains.open_reader(31337, now=datetime.now(tz=UTC), deadline=Deadline.after_ms(30_000))


def test_bases_are_shared_by_block_and_the_oldest_leaves_first() -> None:
    store = BaseStore(most_bases=2, most_bytes=10**9)
    first = store.get(1, "0xa")
    assert store.get(1, "0xa") is first
    assert store.get(2, "0xa") is not first
    store.get(1, "0xa")
    store.get(1, "0xb")
    assert store.get(1, "0xa") is first
    assert len(store) == 2


def _weigh(make: Callable[[], Base]) -> tuple[int, int]:
    """What Python says a base takes, and what the base says; in bytes."""
    tracemalloc.start()
    base = make()
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return taken, base.size


def _of_slots() -> Base:
    base = Base()
    addresses = [number.to_bytes(20, "big") for number in range(8)]
    for slot in range(4_000):
        base.slots[addresses[slot % 8], 2**255 + slot] = 2**254 + slot
    return base


def _of_codes() -> Base:
    base = Base()
    for number in range(200):
        base.put_account(number.to_bytes(20, "big"), Account(1, 10**18 + number, number.to_bytes(2, "big") * 10_000))
    return base


@pytest.mark.parametrize("make", [_of_slots, _of_codes])
def test_a_base_knows_about_what_it_weighs(make: Callable[[], Base]) -> None:
    taken, told = _weigh(make)

    assert taken / 1.5 < told < taken * 1.5


def test_bases_together_stay_within_their_bytes_and_code_counts() -> None:
    """A hostile contract may look at thousands of large contracts; whoever comes next does not pay for it."""
    store = BaseStore(most_bases=16, most_bytes=100_000)
    small = store.get(1, "0xa")
    small.slots[bytes(20), 1] = 1
    large = store.get(1, "0xb")
    for number in range(4):
        large.put_account(bytes([number]) * 20, Account(1, 0, bytes([number + 1]) * 24_000))
    assert store.get(1, "0xb") is large
    assert store.get(1, "0xa") is small
    large.put_account(bytes([9]) * 20, Account(1, 0, bytes([99]) * 24_000))
    assert large.size > 100_000

    fresh = store.get(1, "0xc")
    assert store.get(1, "0xc") is fresh
    assert store.get(1, "0xa") is small
    assert store.get(1, "0xb") is not large


def test_equal_code_is_kept_once_and_within_its_bound() -> None:
    store = CodeStore(most_bytes=100)
    one, same = bytes([1]) * 60, bytes(bytearray([1]) * 60)
    assert store.intern(one) is one
    assert store.intern(same) is one
    store.intern(bytes([2]) * 60)
    again = bytes(bytearray([1]) * 60)
    assert store.intern(again) is again
    assert Account(0, 0, one).code == again
