"""Screening candidates: the same answers in process and in revm, and never a gas figure."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.plans import V3_SWAP
from tests.tools_app.simulation.turbos import TURBO
from tools_app.chain.abi import encode_call
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest
from tools_app.simulation.select import run_simulation
from tools_app.simulation.turbo.screening import Screened, screen_candidates
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


def test_a_screened_candidate_has_no_gas_that_could_enter_a_permit() -> None:
    assert {field.name for field in fields(Screened)} == {"succeeded", "outputs", "deltas"}
