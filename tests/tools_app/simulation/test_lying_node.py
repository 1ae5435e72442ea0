"""Nodes that lie or break, before every engine: a typed error or the truth, and never a success made of a lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.saved_world import find_anvil
from tests.evm.world import World
from tests.tools_app.chain.nodes import closed_port_url, serve_drip, serve_silence
from tests.tools_app.simulation.between import Bend, point_at, proxy, run_through, without
from tools_app.chain.blocks import parse_block
from tools_app.core.clock import Deadline
from tools_app.simulation.differential import SimulationDisagrees
from tools_app.simulation.engine import SimulationRequest, SimulationTimeout, SimulationUnavailable
from tools_app.simulation.select import ENGINE_NAMES, run_simulation
from tools_app.toolkit.enums import RiskTier

engines = pytest.mark.parametrize("engine", ENGINE_NAMES)


def _result(method: str, make: Callable[[Any], Any]) -> Bend:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "result": make(reply.get("result"))} if request["method"] == method else reply

    return bend


def _first_account(change: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    def make(prestate: Any) -> Any:
        address = next(iter(prestate))
        return {**prestate, address: change(prestate[address])}

    return make


def _rows(change: Callable[[dict[str, Any]], Any]) -> Callable[[Any], Any]:
    def make(blocks: Any) -> Any:
        return [{**blocks[0], "calls": [change(row) for row in blocks[0]["calls"]]}]

    return make


def _lacks(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda told: {name: value for name, value in told.items() if name != key}


@engines
def test_answers_of_a_batch_in_another_order_are_matched_by_id(
    world: World, swap: SimulationRequest, engine: str
) -> None:
    straight = run_through(world.rpc_url, swap, engine=engine)
    with proxy(world.rpc_url, shuffle=True) as (node, posts):
        assert run_through(node.url, swap, engine=engine) == straight
    assert max(posts) > 1


@engines
@pytest.mark.parametrize(
    "answer_ids",
    [
        lambda request: request["id"] + 1,
        lambda request: 0,
        lambda request: None,
        lambda request: str(request["id"]),
    ],
)
def test_answers_to_other_questions_are_not_taken(
    world: World, swap: SimulationRequest, engine: str, answer_ids: Callable[[dict[str, Any]], Any]
) -> None:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "id": answer_ids(request)}

    with proxy(world.rpc_url, bend) as (node, _), pytest.raises(SimulationUnavailable):
        run_through(node.url, swap, engine=engine)


@engines
def test_a_node_of_another_chain_is_refused(world: World, swap: SimulationRequest, engine: str) -> None:
    with proxy(world.rpc_url, _result("eth_chainId", lambda _: "0x1")) as (node, _):
        with pytest.raises(SimulationUnavailable) as refused:
            run_through(node.url, swap, engine=engine)

    assert refused.value.data["cause"] == "RPC_WRONG_CHAIN"


@pytest.mark.parametrize(
    "bend",
    [
        _result("eth_getBlockByHash", lambda _: None),
        _result("eth_getBlockByHash", lambda block: {**block, "hash": "0x" + "ab" * 32}),
        _result("eth_getBlockByHash", lambda block: {**block, "number": "0x1"}),
        *(_result("eth_getBlockByHash", _lacks(key)) for key in ("hash", "number", "timestamp", "gasLimit", "miner")),
        _result("eth_getBlockByHash", lambda block: {**block, "miner": "0x12"}),
        _result("debug_traceCall", lambda _: None),
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
def test_state_of_another_shape_never_makes_a_success(world: World, swap: SimulationRequest, bend: Bend) -> None:
    with proxy(world.rpc_url, bend) as (node, _), pytest.raises(SimulationUnavailable):
        run_through(node.url, swap)


@pytest.mark.parametrize("method", ["eth_getStorageAt", "eth_getBalance", "eth_getCode", "eth_getTransactionCount"])
def test_broken_single_reads_never_make_a_success(world: World, swap: SimulationRequest, method: str) -> None:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        reply = without("debug_traceCall", "eth_createAccessList")(request, reply)
        return {key: v for key, v in reply.items() if key != "result"} if request["method"] == method else reply

    with proxy(world.rpc_url, bend) as (node, _), pytest.raises(SimulationUnavailable):
        run_through(node.url, swap)


@pytest.mark.parametrize(
    "bend",
    [
        _result("eth_simulateV1", lambda _: None),
        _result("eth_simulateV1", lambda blocks: blocks * 2),
        _result("eth_simulateV1", lambda blocks: [{**blocks[0], "number": "0x1"}]),
        _result("eth_simulateV1", lambda blocks: [_lacks("number")(blocks[0])]),
        _result("eth_simulateV1", lambda blocks: [_lacks("calls")(blocks[0])]),
        _result("eth_simulateV1", lambda blocks: [{**blocks[0], "calls": blocks[0]["calls"][1:]}]),
        _result("eth_simulateV1", _rows(_lacks("status"))),
        _result("eth_simulateV1", _rows(_lacks("gasUsed"))),
        _result("eth_simulateV1", _rows(_lacks("returnData"))),
        _result("eth_simulateV1", _rows(_lacks("logs"))),
        _result("eth_simulateV1", _rows(lambda row: {**row, "gasUsed": -1})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "status": True})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "status": "0x2"})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "returnData": "0x1"})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "logs": [{"address": "0x12"}]})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "logs": {"address": "0x12"}})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "logs": [_lacks("data")(log) for log in row["logs"]]})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "logs": [{**log, "data": 5} for log in row["logs"]]})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "logs": [{**log, "topics": [5]} for log in row["logs"]]})),
    ],
)
def test_a_simulation_of_another_shape_never_makes_a_success(world: World, swap: SimulationRequest, bend: Bend) -> None:
    with proxy(world.rpc_url, bend) as (node, _), pytest.raises(SimulationUnavailable):
        run_through(node.url, swap, engine="rpc")


def _richer(prestate: Any) -> Any:
    """Every number in storage is one more: balances, allowances, prices."""
    return {
        address: {
            **entry,
            "storage": {
                slot: f"0x{(int(word, 16) + 1) % 2**256:064x}" for slot, word in (entry.get("storage") or {}).items()
            },
        }
        for address, entry in prestate.items()
    }


@pytest.mark.parametrize(
    "bend",
    [
        _result("debug_traceCall", _richer),
        _result("eth_simulateV1", _rows(lambda row: {**row, "gasUsed": hex(int(row["gasUsed"], 16) * 11 // 10)})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "logs": []})),
        _result("eth_simulateV1", _rows(lambda row: {**row, "returnData": row["returnData"][:-2] + "00"})),
    ],
)
def test_a_plausible_lie_to_one_engine_is_a_disagreement_of_two(
    world: World, swap: SimulationRequest, bend: Bend
) -> None:
    with proxy(world.rpc_url, bend) as (node, _):
        point_at(node.url)
        with pytest.raises(SimulationDisagrees):
            run_simulation(swap, deadline=Deadline.after_ms(10_000), risk_tier=RiskTier.ELEVATED)


@engines
def test_a_block_that_goes_while_it_is_read_is_an_error_and_no_other_state(
    world: World, swap: SimulationRequest, engine: str
) -> None:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        if request["method"] in ("eth_getBlockByHash", "eth_chainId"):
            return reply
        gone = {"code": -32000, "message": "header not found"}
        return {"jsonrpc": "2.0", "id": request["id"], "error": gone}

    with proxy(world.rpc_url, bend) as (node, _), pytest.raises(SimulationUnavailable) as unavailable:
        run_through(node.url, swap, engine=engine)

    assert unavailable.value.data["cause"] == "BLOCK_UNAVAILABLE"


@pytest.mark.parametrize(("engine", "after_posts"), [("pyevm", 0), ("pyevm", 1), ("pyevm", 2), ("rpc", 0), ("rpc", 1)])
def test_a_real_reorganisation_between_two_reads_is_an_error_and_no_other_state(
    world: World, swap: SimulationRequest, tmp_path: Path, engine: str, after_posts: int
) -> None:
    """A node of our own replaces the pinned block by another before it is asked the next question about it."""
    with run_node(find_anvil(), tmp_path, "--fork-url", world.rpc_url) as url:
        node_rpc = JsonRpc(url)
        for _ in range(3):
            node_rpc.call("evm_mine")
        pinned = parse_block(node_rpc.call("eth_getBlockByNumber", "latest", False))
        reorganised: list[Any] = []

        def reorganise(posts: int) -> None:
            if posts >= after_posts and not reorganised:
                # Another miner: within one second a block with nothing in it would come out the same.
                node_rpc.call("anvil_setCoinbase", "0x" + "99" * 20)
                reorganised.append(node_rpc.call("anvil_reorg", 1, []))

        # Single reads and what was not watched, so that there are several questions to come between.
        bend = without("debug_traceCall", "eth_createAccessList")
        with proxy(url, bend, before=reorganise) as (node, posts):
            request = replace(swap, block=pinned, watch=())
            with pytest.raises(SimulationUnavailable) as gone:
                run_through(node.url, request, engine=engine)

        assert len(reorganised) == 1
        assert parse_block(node_rpc.call("eth_getBlockByNumber", hex(pinned.number), False)).hash != pinned.hash
        node_rpc.close()
    assert gone.value.data["cause"] == "BLOCK_UNAVAILABLE"


@engines
def test_a_node_whose_head_is_behind_the_pinned_block_does_not_answer_for_it(
    world: World, swap: SimulationRequest, engine: str
) -> None:
    block = swap.block
    assert block is not None
    ahead = replace(block, number=block.number + 1, hash="0x" + "77" * 32)
    with pytest.raises(SimulationUnavailable) as gone:
        run_through(world.rpc_url, replace(swap, block=ahead), engine=engine)

    assert gone.value.data["cause"] == "BLOCK_UNAVAILABLE"


@engines
def test_when_the_node_moved_on_the_simulation_still_speaks_of_the_pinned_block(
    world: World, chain: World, swap: SimulationRequest, engine: str
) -> None:
    before = run_through(world.rpc_url, swap, engine=engine)
    chain.send(chain.actors.deployer, chain.actors.deployer.address)
    after = run_through(world.rpc_url, swap, engine=engine)

    assert after == before
    assert after.block == swap.block


@engines
def test_a_silent_or_dripping_node_is_a_timeout_and_a_dead_one_unavailable(
    swap: SimulationRequest, engine: str
) -> None:
    for slow in (serve_silence, serve_drip):
        with slow() as url, pytest.raises(SimulationTimeout):
            run_through(url, swap, engine=engine, budget_ms=150)
    with pytest.raises(SimulationUnavailable):
        run_through(closed_port_url(), swap, engine=engine)
