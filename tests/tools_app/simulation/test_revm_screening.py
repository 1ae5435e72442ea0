"""Screening candidates: the same answers in process and in revm, and never a gas figure."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import fields, replace
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.between import point_at, proxy, without
from tests.tools_app.simulation.plans import PLANS, V3_SWAP
from tests.tools_app.simulation.turbos import TURBO
from tools_app.chain import chains, networks
from tools_app.chain.abi import encode_call
from tools_app.chain.node_errors import RpcNonsense
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.pyevm.base import BASES
from tools_app.simulation.pyevm.engine import PyEvmSimulationEngine
from tools_app.simulation.revm_screening.screening import Screened, screen_candidates
from tools_app.simulation.revm_screening.state_server import serve_state
from tools_app.simulation.select import run_simulation
from tools_app.standards import erc20
from tools_app.toolkit.plan import Call

TIERS = (100, 500, 3000, 10_000)


@pytest.mark.parametrize("turbo", TURBO)
def test_the_best_of_many_routes_is_what_the_exact_engine_gives(
    open_reader: OpenReader, chain: World, turbo: bool
) -> None:
    account = chain.new_account(eth_wei=10**19, tokens={"USDC": 10_000 * 10**6})
    reader = open_reader()
    usdc, wrapped = reader.token("USDC"), reader.token("WETH")
    router = chain.contracts["uniswap_v3_swap_router_02"]
    amount = 1_000 * 10**6
    candidates = [
        (
            erc20.approve_exact(token=usdc, spender=router, amount=amount),
            Call(
                router,
                encode_call(V3_SWAP, (usdc.address, wrapped.address, tier, account.address, amount, 1, 0)),
                0,
                "swap",
            ),
        )
        for tier in TIERS
    ]
    request = SimulationRequest(
        31337,
        account.address,
        (),
        watch=((account.address, usdc.address), (account.address, wrapped.address)),
        block=reader.block,
    )
    screened = screen_candidates(request, candidates, deadline=Deadline.after_ms(20_000), turbo=turbo)

    assert any(one.succeeded for one in screened)
    assert not all(one.succeeded for one in screened)
    for calls, one in zip(candidates, screened, strict=True):
        exact = run_simulation(
            SimulationRequest(31337, account.address, calls, watch=request.watch, block=reader.block),
            deadline=Deadline.after_ms(10_000),
        )
        assert one.succeeded == exact.succeeded
        if exact.succeeded:
            assert one.outputs == tuple(call.output for call in exact.calls)
        assert one.deltas == {key: exact.delta_of(*key) for key in request.watch}


@pytest.mark.parametrize("turbo", TURBO)
def test_transient_storage_ends_with_each_transaction_of_a_candidate(
    open_reader: OpenReader, chain: World, turbo: bool
) -> None:
    """With data it keeps a word for the transaction; without, it returns what is kept."""
    keeper = "0x" + "77" * 20
    chain.rpc.call("anvil_setCode", keeper, "0x3615600a5760015f5d005b5f5c5f5260205ff3")
    account = chain.new_account()
    keep, tell = Call(keeper, b"\x01", 0, "keep"), Call(keeper, b"", 0, "tell")
    request = SimulationRequest(31337, account.address, (), block=open_reader().block)
    screened = screen_candidates(request, [(keep, tell), (tell,)], deadline=Deadline.after_ms(20_000), turbo=turbo)

    assert [one.outputs[-1] for one in screened] == [bytes(32), bytes(32)]


@pytest.mark.parametrize("turbo", TURBO)
def test_candidates_that_look_at_different_things_are_each_told_as_they_are(
    open_reader: OpenReader, chain: World, turbo: bool
) -> None:
    """Nothing is known beforehand, and an approval decides what the call after it will look at."""
    amounts = {symbol: token.units(10_000) for symbol, token in chain.tokens.items() if symbol != "WETH"}
    account = chain.new_account(eth_wei=10**19, tokens=amounts)
    teller = "0x" + "77" * 20
    chain.rpc.call("anvil_setCode", teller, "0x600143034060014303405f5260205260405ff3")
    for _ in range(2):
        chain.rpc.call("evm_mine")
    reader = open_reader()
    candidates = [plan(reader, chain, account.address) for plan in PLANS]
    candidates.append((Call(teller, b"", 0, "hashes of earlier blocks"),))
    watch = tuple((account.address, token.address) for token in (*reader.registered_tokens(), reader.native()))
    request = SimulationRequest(31337, account.address, (), watch=watch, block=reader.block)
    BASES.clear()
    screened = screen_candidates(request, candidates, deadline=Deadline.after_ms(20_000), turbo=turbo)

    for calls, one in zip(candidates, screened, strict=True):
        exact = run_simulation(replace(request, calls=calls), deadline=Deadline.after_ms(10_000))
        assert one.succeeded is exact.succeeded is True
        assert one.outputs == tuple(call.output for call in exact.calls)
        assert one.deltas == {key: exact.delta_of(*key) for key in watch}


@pytest.mark.parametrize("turbo", TURBO)
def test_a_node_that_breaks_while_candidates_run_is_an_error_and_no_answer(
    world: World, swap: SimulationRequest, turbo: bool
) -> None:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        reply = without("debug_traceCall", "eth_createAccessList")(request, reply)
        return {**reply, "result": "0x"} if request["method"] == "eth_getStorageAt" else reply

    with proxy(world.rpc_url, bend) as (node, _):
        point_at(node.url)
        with pytest.raises(RpcNonsense):
            screen_candidates(
                replace(swap, calls=(), watch=()), [swap.calls], deadline=Deadline.after_ms(20_000), turbo=turbo
            )


def test_state_is_served_to_who_was_told_the_address_and_to_nobody_else(
    open_reader: OpenReader, swap: SimulationRequest
) -> None:
    block = swap.block
    assert block is not None
    engine = PyEvmSimulationEngine(network=networks.get_network(31337), pool=chains.get_pool(31337))
    fork = engine.open_fork(swap, block, deadline=Deadline.after_ms(10_000))
    with serve_state(fork) as server:
        body = b'{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionCount","params":["' + swap.sender.encode() + b'"]}'
        with urllib.request.urlopen(urllib.request.Request(server.url, data=body), timeout=10) as answer:
            assert json.loads(answer.read())["result"] == "0x0"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(server.url[: server.url.rindex("/") + 1], data=body, timeout=10)
        assert server.server_address[0] == "127.0.0.1"


def test_a_screened_candidate_has_no_gas_that_could_enter_a_permit() -> None:
    assert {field.name for field in fields(Screened)} == {"succeeded", "outputs", "deltas"}
