"""Puts the keepers on the shelf out of a temporary folder, as a protocol that somebody drops in, for one test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.made_up_bank.dropped_in import dropped_in

NAME = "made_up_keeper"
_FILES = ("__init__", "addresses", "positions", "effects", "tools", "protocol")
DAI = 10**18


@dataclass(frozen=True)
class Keepers:
    """The keepers' contract on the chain of this test, and one keeper with money."""

    world: World
    address: str
    modules: dict[str, Any]
    keeper: Any

    def set_mood(self, mood: int) -> None:
        """What the contract does besides what it is asked."""
        self.world.transact(self.world.actors.deployer, self.address, "setMood(uint256)", mood)

    def execute(self, order: int, part: int, paid: int) -> None:
        """A keeper carries a part of an order out."""
        self.world.transact(self.keeper, self.address, "execute(uint256,uint256,uint256)", order, part, paid)

    def expire(self, order: int) -> None:
        """Somebody ends what is over."""
        self.world.transact(self.keeper, self.address, "expire(uint256)", order)


@pytest.fixture
def keepers(local_chain: World, tmp_path: Path) -> Iterator[Keepers]:
    """The contract deployed, its folder found like any other; gone when the test is over."""
    cash, loan = local_chain.tokens["DAI"].address, local_chain.tokens["WETH"].address
    address = local_chain.deploy(local_chain.actors.deployer, "MadeUpKeeper", "(address,address)", cash, loan)
    keeper = local_chain.new_account(10**18, {"WETH": 100 * 10**18})
    local_chain.transact(keeper, loan, "approve(address,uint256)", address, 2**255)
    with dropped_in(NAME, Path(__file__).parent, _FILES, tmp_path) as modules:
        modules["addresses"].DEPLOYED[CHAIN_ID] = {"keeper": address, "cash": cash, "loan": loan}
        yield Keepers(local_chain, address, modules, keeper)
