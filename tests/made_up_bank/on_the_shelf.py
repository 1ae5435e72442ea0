"""Puts the bank on the shelf out of a temporary folder, as a protocol that somebody drops in, for one test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.made_up_bank.dropped_in import dropped_in
from tools_app.toolkit.protocol import SHELF, ProtocolDef

NAME = "made_up_bank"
_FILES = ("__init__", "addresses", "positions", "effects", "offers", "tools", "cases", "protocol")


@dataclass(frozen=True)
class Bank:
    """The bank on the chain of this test."""

    world: World
    address: str
    protocol: ProtocolDef
    modules: dict[str, Any]

    def set_mood(self, mood: int) -> None:
        """What it does besides what it is asked."""
        self.world.transact(self.world.actors.deployer, self.address, "setMood(uint256)", mood)

    def read(self, signature: str, *args: Any) -> Any:
        """One figure of the contract."""
        found = self.world.rpc.read(self.address, signature, *args, returns="(uint256)")
        return found[0] if isinstance(found, list | tuple) else found


@pytest.fixture
def bank(local_chain: World, tmp_path: Path) -> Iterator[Bank]:
    """The bank, deployed with WETH to lend, its folder found like any other; gone when the test is over."""
    address = _deploy(local_chain)
    with dropped_in(NAME, Path(__file__).parent, _FILES, tmp_path) as modules:
        modules["addresses"].DEPLOYED[CHAIN_ID] = {
            "bank": address,
            "cash": local_chain.tokens["DAI"].address,
            "loan": local_chain.tokens["WETH"].address,
        }
        protocol: ProtocolDef = modules["protocol"].PROTOCOL
        assert SHELF.get(NAME) is protocol
        yield Bank(local_chain, address, protocol, modules)


def _deploy(world: World) -> str:
    cash, loan = world.tokens["DAI"].address, world.tokens["WETH"].address
    deployer = world.actors.deployer
    address = world.deploy(deployer, "MadeUpBank", "(address,address)", cash, loan)
    world.fund(address, 0, {"WETH": 50 * 10**18, "DAI": 100_000 * 10**18})
    prices = [_price(world, symbol) for symbol in ("WETH", "DAI")]
    world.transact(deployer, address, "setPriceOfLoan(uint256)", 10**18 * prices[0] // prices[1])
    return address


def _price(world: World, symbol: str) -> int:
    feed = world.tokens[symbol].feed
    found = world.rpc.read(feed, "latestRoundData()", returns="(uint80,int256,uint256,uint256,uint80)")
    return int(found[1])
