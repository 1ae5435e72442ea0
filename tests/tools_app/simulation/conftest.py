"""The readers of the chain tests, bytecode of more protocols, and a swap to simulate."""

from __future__ import annotations

# pytest asks it about what the collector finds; first imported in the middle of a collection it would be half there.
import tracemalloc  # noqa: F401

import pytest

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader, chain_table, open_reader, reader
from tests.tools_app.simulation.plans import v3_swap
from tests.tools_app.simulation.protocol_bytecode import bytecode
from tools_app.simulation.engine import SimulationRequest

__all__ = ["bytecode", "chain_table", "open_reader", "reader", "swap"]


@pytest.fixture
def swap(open_reader: OpenReader, chain: World) -> SimulationRequest:
    """Approve and swap by an account that can, both balances watched."""
    account = chain.new_account(eth_wei=10**19, tokens={"USDC": 10_000 * 10**6})
    reader = open_reader()
    return SimulationRequest(
        chain_id=31337,
        sender=account.address,
        calls=v3_swap(reader, chain, account.address),
        watch=((account.address, reader.token("USDC").address), (account.address, reader.token("WETH").address)),
        block=reader.block,
    )
