"""Filling a base from a node in few round trips, and what is kept of it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.saved_world import find_anvil
from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.between import proxy, run_through, without
from tests.tools_app.simulation.plans import lp_mint
from tools_app.chain import chains, networks
from tools_app.chain.rpc_pool import RpcPool
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.pyevm.base import BASES, Base, BaseStore, CodeStore, EvmAccount
from tools_app.simulation.pyevm.loader import NodeSource
from tools_app.simulation.select import select_engine


def test_a_cold_swap_takes_at_most_four_round_trips_and_a_warm_one_none(world: World, swap: SimulationRequest) -> None:
    with proxy(world.rpc_url) as (node, posts):
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
    source = NodeSource(pool=direct, block_hash=block.hash, number=block.number, deadline=Deadline.after_ms(10_000))
    header = source.load_header()
    filled: list[str] = []

    def fill(request: dict[str, Any], answer: dict[str, Any]) -> Any:
        if request["method"] == "eth_getBlockByHash":
            BASES.get(31337, block.hash).header = header
            filled.append(request["method"])
        return answer

    with proxy(world.rpc_url) as (node, _):
        alone = run_through(node.url, swap)
    with proxy(world.rpc_url, fill) as (node, _):
        assert run_through(node.url, swap) == alone
    assert alone.succeeded
    assert filled


@pytest.mark.parametrize("missing", [("debug_traceCall",), ("debug_traceCall", "eth_createAccessList")])
def test_a_node_with_fewer_methods_gives_the_same_result(
    world: World, swap: SimulationRequest, missing: tuple[str, ...]
) -> None:
    straight = run_through(world.rpc_url, swap)
    with proxy(world.rpc_url, without(*missing)) as (node, _):
        assert run_through(node.url, swap) == straight


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
        base.put_account(number.to_bytes(20, "big"), EvmAccount(1, 10**18 + number, number.to_bytes(2, "big") * 10_000))
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
        large.put_account(bytes([number]) * 20, EvmAccount(1, 0, bytes([number + 1]) * 24_000))
    assert store.get(1, "0xb") is large
    assert store.get(1, "0xa") is small
    large.put_account(bytes([9]) * 20, EvmAccount(1, 0, bytes([99]) * 24_000))
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
    assert EvmAccount(0, 0, one).code == again
