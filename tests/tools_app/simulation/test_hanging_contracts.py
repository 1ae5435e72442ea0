"""No contract can hang or swell the process that runs it, whatever gas a block's header allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.evm.world import World
from tests.proof.evm.here import open_case
from tests.tools_app.simulation.machines import A, make_case
from tools_app.chain.blocks import parse_block
from tools_app.core.clock import Deadline
from tools_app.simulation.engine import SimulationRequest, SimulationTimeout, SimulationUnavailable
from tools_app.simulation.pyevm import budget, precompiles
from tools_app.simulation.pyevm.budget import MOST_GAS, Budget
from tools_app.simulation.pyevm.transaction import execute
from tools_app.simulation.select import run_simulation
from tools_app.toolkit.enums import EngineSetting
from tools_app.toolkit.plan import Call

HUGE = 1 << 50


def run_bounded(code: str, ms: float) -> None:
    """`code` with a gigantic amount of gas and `ms` milliseconds."""
    state, transaction = open_case(make_case(code, gas=HUGE, balance=1))
    state.budget = Budget(Deadline.after_ms(ms))
    execute(state, transaction, has_floor=True)


def test_a_loop_with_a_long_body_is_stopped_at_its_deadline() -> None:
    """One jump for some 20,000 opcodes."""
    with pytest.raises(SimulationTimeout):
        run_bounded("5b" + "3050" * 10_000 + "5f56", 200)


def test_calls_without_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST_FRAMES", 500)
    with pytest.raises(SimulationUnavailable, match="more than 500 calls"):
        run_bounded("5b" + "5f5f5f5f5f60775af150" + "5f56", 60_000)


def test_a_power_that_takes_seconds_is_not_begun() -> None:
    modexp = (5).to_bytes(20, "big")
    head = b"".join(size.to_bytes(32, "big") for size in (32, 1_000_000, 32))
    slow = head + b"\xff" * 96
    assert precompiles.estimate_ms(modexp, slow, MOST_GAS * 10) > 1_000
    assert precompiles.estimate_ms(modexp, slow, 1_000_000) == 0
    assert precompiles.estimate_ms(modexp, head[:32] + bytes(64) + b"\x03", MOST_GAS) < 1


def test_a_gigantic_block_gives_no_call_its_gas(chain: World, swap: SimulationRequest) -> None:
    """A contract that answers how much gas it was left with."""
    chain.rpc.call("anvil_setCode", "0x" + A, "0x5a5f5260205ff3")
    usual = chain.rpc.call("eth_getBlockByNumber", "latest", False)["gasLimit"]
    chain.rpc.call("evm_setBlockGasLimit", hex(HUGE))
    try:
        chain.rpc.call("anvil_mine", "0x1")
        header = chain.rpc.call("eth_getBlockByNumber", "latest", False)
        assert int(header["gasLimit"], 16) == HUGE
        request = replace(swap, block=parse_block(header), calls=(Call("0x" + A, b"", 0, "call"),))
        result = run_simulation(request, deadline=Deadline.after_ms(20_000), setting=EngineSetting.PYEVM)
    finally:
        chain.rpc.call("evm_setBlockGasLimit", usual)
    assert 0 < int.from_bytes(result.calls[0].output, "big") <= MOST_GAS
