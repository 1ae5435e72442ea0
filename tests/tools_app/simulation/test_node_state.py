"""The state difference a node tells: equal to ours at the edges, and refused where the node is no source of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.between import Bend, point_at, proxy, run_through, without
from tests.tools_app.simulation.mined import GAS, check_as_mined, mine_together
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SigningTerms, SimulationRequest, SimulationResult, SimulationUnavailable
from tools_app.simulation.select import ENGINE_NAMES, run_simulation, select_engine
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call

SINK = "66" * 20
DIES = f"73{SINK}ff"
# Contracts by what a plan that calls each of them twice leaves behind.
LEAVES = {
    "a counter of every call, and a slot that ends where it began": "5f546001015f5560015415600155",
    "a slot that is emptied": "5f60ff5500",
    "a slot that is filled and emptied again": "600160075560006007555f5f55",
    "a contract for each call": "6360015ff35f526004601c5ff000",
    "a contract that ends in the transaction that made it": f"75{DIES}5f526016600a5ff000",
    "coins elsewhere, and the code": DIES,
    "the block's number, time, parent and miner": "435f5542600155600143034060025541600355",
    "nothing, by a revert": "60016001555f5ffd",
    "nothing, by running out of gas": "5b5f56",
}


@pytest.mark.parametrize("code", LEAVES.values(), ids=LEAVES.keys())
def test_a_plan_leaves_on_every_engine_what_it_leaves_on_the_chain(
    open_reader: OpenReader, chain: World, code: str
) -> None:
    contract = "0x" + "77" * 20
    chain.rpc.call("anvil_setCode", contract, "0x" + code)
    chain.rpc.call("anvil_setStorageAt", contract, f"0x{255:064x}", f"0x{5:064x}")
    chain.rpc.call("anvil_setBalance", contract, hex(77))
    account = chain.new_account(eth_wei=10**19)
    calls = tuple(Call(contract, b"", value, "call") for value in (0, 5))
    block = open_reader().block
    request = SimulationRequest(31337, account.address, calls, block=block, wants_state_diff=True)
    results = [select_engine(31337, name).run(request, deadline=Deadline.after_ms(20_000)) for name in ENGINE_NAMES]

    assert results[0].state_diff is not None
    assert results[0].state_diff == results[1].state_diff
    if results[0].gas_used > GAS:
        # What burns all it is given burns another amount under a transaction's own limit.
        return
    receipts = mine_together(chain, account, calls, after=block)
    for result in results:
        check_as_mined(chain, request, result, receipts)


FEES = SigningTerms((GAS,), 10**9, 10**10, 10**8, randomness=b"7" * 32)


def both(chain: World, reader: ChainReader, code: str, *, terms: SigningTerms | None = None) -> list[SimulationResult]:
    """A call of a contract with `code` on every engine, with the state difference."""
    contract = "0x" + "77" * 20
    chain.rpc.call("anvil_setCode", contract, "0x" + code)
    account = chain.new_account(eth_wei=10**19)
    request = SimulationRequest(
        31337,
        account.address,
        (Call(contract, b"", 0, "call"),),
        block=reader.block,
        wants_state_diff=True,
        terms=terms,
    )
    return [select_engine(31337, name).run(request, deadline=Deadline.after_ms(20_000)) for name in ENGINE_NAMES]


@pytest.mark.parametrize("terms", [None, FEES], ids=["free", "signed"])
def test_a_call_a_hundred_and_twenty_deep_is_told(
    open_reader: OpenReader, chain: World, terms: SigningTerms | None
) -> None:
    """It fills the slot of the number in its input, 120 without input, and calls itself with one less until zero."""
    code = "366009576078600c565b5f355b6001815580601657005b600190035f525f5f60205f5f305af15000"
    results = both(chain, open_reader(), code, terms=terms)

    assert results[0].state_diff is not None
    assert results[0].state_diff == results[1].state_diff
    [deep] = [one for one in results[0].state_diff.accounts if one.storage]
    assert len(deep.storage) == 121


def test_what_a_contract_keeps_of_base_fee_and_price_is_what_it_is_signed_with(
    open_reader: OpenReader, chain: World
) -> None:
    code = "485f553a600155446002553231600355"
    free, signed = (both(chain, open_reader(), code, terms=terms) for terms in (None, FEES))
    for results in (free, signed):
        assert results[0].state_diff is not None
        assert results[0].state_diff == results[1].state_diff
    assert signed[0].state_diff is not None and free[0].state_diff is not None
    kept = {slot: word for one in signed[0].state_diff.accounts for slot, _, word in one.storage}

    assert kept[0] == FEES.base_fee
    assert kept[1] == FEES.gas_price
    assert kept[2] == int.from_bytes(FEES.randomness, "big")
    assert kept[3] == 10**19 - GAS * FEES.gas_price
    assert not {0, 1} & {slot for one in free[0].state_diff.accounts for slot, _, _ in one.storage}
    # Fees are no part of what the calls change.
    assert all(one.balance is None for one in signed[0].state_diff.accounts)


def test_who_does_not_ask_does_not_wait_for_it(world: World, swap: SimulationRequest) -> None:
    with proxy(world.rpc_url) as (node, posts):
        silent = run_through(node.url, swap, engine="rpc")
        few = len(posts)
        telling = run_through(node.url, replace(swap, wants_state_diff=True), engine="rpc")

    assert silent.state_diff is None
    assert replace(telling, state_diff=None) == silent
    assert len(posts) == 2 * few + len(swap.calls)


def _trace(change: Callable[[Any], Any], *, tracer: str) -> Bend:
    def bend(request: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        if request["method"] != "debug_traceCall" or request["params"][2]["tracer"] != tracer:
            return reply
        return {**reply, "result": change(reply["result"])}

    return bend


_WEI = count()


def _poorer(told: dict[str, Any]) -> dict[str, Any]:
    """A wei less for every call before this one."""
    coins = {address: hex(max(0, int(entry["balance"], 16) - next(_WEI))) for address, entry in told["pre"].items()}
    return {**told, "pre": {address: {**entry, "balance": coins[address]} for address, entry in told["pre"].items()}}


def _other_words(told: dict[str, Any]) -> dict[str, Any]:
    words = {a: {**e, "storage": dict.fromkeys(e.get("storage") or {}, "0x7")} for a, e in told["pre"].items()}
    return {**told, "pre": words}


@pytest.mark.parametrize(
    "bend",
    [
        _trace(lambda _: None, tracer="prestateTracer"),
        _trace(lambda _: [], tracer="prestateTracer"),
        _trace(lambda told: {"pre": told["pre"]}, tracer="prestateTracer"),
        _trace(lambda told: {**told, "post": {"0x12": {}}}, tracer="prestateTracer"),
        _trace(lambda told: {**told, "post": dict.fromkeys(told["post"], 5)}, tracer="prestateTracer"),
        _trace(lambda told: {**told, "pre": dict.fromkeys(told["pre"], {"nonce": -1})}, tracer="prestateTracer"),
        _trace(_poorer, tracer="prestateTracer"),
        _trace(_other_words, tracer="prestateTracer"),
        _trace(lambda _: None, tracer="callTracer"),
        _trace(lambda frame: {**frame, "error": "execution reverted"}, tracer="callTracer"),
        _trace(lambda frame: {**frame, "output": "0x01"}, tracer="callTracer"),
        _trace(lambda frame: {**frame, "gasUsed": "0x5208"}, tracer="callTracer"),
    ],
)
def test_a_trace_of_something_else_is_no_state_difference(world: World, swap: SimulationRequest, bend: Bend) -> None:
    with proxy(world.rpc_url, bend) as (node, _), pytest.raises(SimulationUnavailable):
        run_through(node.url, replace(swap, wants_state_diff=True), engine="rpc")


def test_a_node_that_lays_nothing_over_the_block_is_found_out(world: World, swap: SimulationRequest) -> None:
    """It traces the second call as if the first had not been, in a plan whose calls would all succeed alone."""
    with proxy(world.rpc_url) as (node, _):
        straight = node.answer

        def forget(requests: list[dict[str, Any]]) -> Any:
            for request in requests:
                if request["method"] == "debug_traceCall":
                    request["params"][2].pop("stateOverrides", None)
            return straight(requests)

        node.answer = forget
        calls = (swap.calls[0], swap.calls[0])
        with pytest.raises(SimulationUnavailable):
            run_through(node.url, replace(swap, calls=calls, wants_state_diff=True), engine="rpc")


def test_where_the_node_does_not_trace_the_engine_in_process_tells_it(world: World, swap: SimulationRequest) -> None:
    request = replace(swap, wants_state_diff=True)
    with proxy(world.rpc_url, without("debug_traceCall")) as (node, _):
        point_at(node.url)
        with pytest.raises(SimulationUnavailable) as refused:
            select_engine(31337, "rpc").run(request, deadline=Deadline.after_ms(10_000))
        result = run_simulation(request, deadline=Deadline.after_ms(10_000))

    assert refused.value.data["cause"] == "RPC_METHOD_MISSING"
    assert result.engine == "pyevm"
    assert result.state_diff is not None
