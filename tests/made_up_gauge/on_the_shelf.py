"""Puts the gauge on the shelf for one test: DAI goes in, and its reward is a token that calls back when it is paid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from golem_project.embedded.world.rpc import call_data
from tests.evm.world import CHAIN_ID, World
from tests.made_up_bank.dropped_in import dropped_in

NAME = "made_up_gauge"
_FILES = ("__init__", "addresses", "positions", "effects", "tools", "protocol")


@dataclass(frozen=True)
class Gauge:
    """The gauge on the chain of this test, and the token it pays in."""

    world: World
    address: str
    reward: str
    modules: dict[str, Any]

    def pass_time(self, seconds: int) -> None:
        """So much later a block is mined."""
        self.world.rpc.call("evm_increaseTime", seconds)
        self.world.rpc.call("evm_mine")

    def call_back(self, signature: str, *args: Any) -> None:
        """From now on the reward calls the gauge in the middle of every payment."""
        data = bytes.fromhex(call_data(signature, *args)[2:])
        self.world.transact(self.world.actors.deployer, self.reward, "listen(address,bytes)", self.address, data)


@pytest.fixture
def gauge(local_chain: World, tmp_path: Path) -> Iterator[Gauge]:
    """Found like any other protocol; gone when the test is over."""
    token, deployer = local_chain.tokens["DAI"].address, local_chain.actors.deployer
    reward = local_chain.deploy(deployer, "HookedToken", "()")
    address = local_chain.deploy(deployer, "MadeUpGauge", "(address,address)", token, reward)
    local_chain.transact(deployer, reward, "mint(address,uint256)", address, 10**30)
    with dropped_in(NAME, Path(__file__).parent, _FILES, tmp_path) as modules:
        modules["addresses"].DEPLOYED[CHAIN_ID] = {"gauge": address, "token": token, "reward": reward}
        yield Gauge(local_chain, address, reward, modules)
        modules["tools"].SLIPS.clear()
