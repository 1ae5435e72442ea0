"""Puts the bond on the shelf for one test: deployed over DAI, its pool a day old, a year until claims are due."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.made_up_bank.dropped_in import dropped_in

NAME = "made_up_bond"
DAY, YEAR, DAI = 86_400, 365 * 86_400, 10**18
CASH_IN, CLAIMS_IN = 950_000 * DAI, 1_000_000 * DAI
_FILES = ("__init__", "addresses", "positions", "effects", "tools", "protocol")


@dataclass(frozen=True)
class Bond:
    """The bond on the chain of this test. `maker` has the whole pool, and coupons."""

    world: World
    address: str
    maker: Any
    modules: dict[str, Any]

    def read(self, signature: str, *args: Any) -> int:
        """One figure of the contract."""
        found = self.world.rpc.read(self.address, signature, *args, returns="(uint256)")
        return int(found[0] if isinstance(found, list | tuple) else found)

    def pass_time(self, seconds: int) -> None:
        """So much later a block is mined."""
        self.world.rpc.call("evm_increaseTime", seconds)
        self.world.rpc.call("evm_mine")

    def push(self, cash: int) -> None:
        """A stranger buys claims for so much cash."""
        stranger = self.world.new_account(10**18, {"DAI": cash})
        self.world.transact(stranger, self.world.tokens["DAI"].address, "approve(address,uint256)", self.address, cash)
        self.world.transact(stranger, self.address, "buy(uint256,uint256)", cash, 0)


@pytest.fixture
def bond(local_chain: World, tmp_path: Path) -> Iterator[Bond]:
    """Found like any other protocol; gone when the test is over."""
    cash = local_chain.tokens["DAI"].address
    now = int(local_chain.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    address = local_chain.deploy(local_chain.actors.deployer, "MadeUpBond", "(address,uint256)", cash, now + YEAR)
    maker = local_chain.new_account(10**18, {"DAI": CASH_IN + CLAIMS_IN})
    local_chain.transact(maker, cash, "approve(address,uint256)", address, CASH_IN + CLAIMS_IN)
    local_chain.transact(maker, address, "open(uint256,uint256)", CASH_IN, CLAIMS_IN)
    with dropped_in(NAME, Path(__file__).parent, _FILES, tmp_path) as modules:
        modules["addresses"].DEPLOYED[CHAIN_ID] = {
            "bond": address,
            "cash": cash,
            "multicall": local_chain.contracts["multicall3"],
        }
        found = Bond(local_chain, address, maker, modules)
        found.pass_time(DAY)
        yield found
        modules["tools"].SLIPS.clear()
        modules["positions"].SHOWS.clear()
