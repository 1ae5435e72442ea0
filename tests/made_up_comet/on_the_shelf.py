"""Puts the comet on the shelf for one test: deployed with DAI to lend, covered by WETH."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.made_up_bank.dropped_in import dropped_in

NAME = "made_up_comet"
_FILES = ("__init__", "addresses", "positions", "effects", "tools", "protocol")


@dataclass(frozen=True)
class Comet:
    """The comet on the chain of this test."""

    world: World
    address: str
    modules: dict[str, Any]

    def read(self, signature: str, *args: Any, returns: str = "(uint256)") -> int:
        """One figure of the contract."""
        found = self.world.rpc.read(self.address, signature, *args, returns=returns)
        return int(found[0] if isinstance(found, list | tuple) else found)

    def principal(self, account: str) -> int:
        """What the account has deposited of the base asset; below zero what it owes."""
        return self.read("principal(address)", account, returns="(int256)")


@pytest.fixture
def comet(local_chain: World, tmp_path: Path) -> Iterator[Comet]:
    """Found like any other protocol; gone when the test is over."""
    base, cover = local_chain.tokens["DAI"].address, local_chain.tokens["WETH"].address
    deployer = local_chain.actors.deployer
    address = local_chain.deploy(deployer, "MadeUpComet", "(address,address)", base, cover)
    local_chain.fund(address, 0, {"DAI": 500_000 * 10**18})
    prices = [_price(local_chain, symbol) for symbol in ("WETH", "DAI")]
    local_chain.transact(deployer, address, "setPriceOfCover(uint256)", 10**18 * prices[0] // prices[1])
    with dropped_in(NAME, Path(__file__).parent, _FILES, tmp_path) as modules:
        modules["addresses"].DEPLOYED[CHAIN_ID] = {"comet": address, "base": base, "cover": cover}
        yield Comet(local_chain, address, modules)
        modules["positions"].CARELESS.clear()


def _price(world: World, symbol: str) -> int:
    feed = world.tokens[symbol].feed
    found = world.rpc.read(feed, "latestRoundData()", returns="(uint80,int256,uint256,uint256,uint80)")
    return int(found[1])
