"""Puts the cards on the shelf out of a temporary folder, for one test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.evm.world import CHAIN_ID, World
from tests.made_up_bank.dropped_in import dropped_in
from tools_app.chain.abi import checksum

NAME = "made_up_cards"
_FILES = ("__init__", "addresses", "effects", "tools", "protocol")


@dataclass(frozen=True)
class Cards:
    """The contract on the chain of this test."""

    world: World
    address: str

    def do(self, signature: str, *arguments: object) -> None:
        """Anybody calls it."""
        self.world.transact(self.world.actors.deployer, self.address, signature, *arguments)

    def say(self, *kinds: str) -> None:
        """From now on it says that it is of these kinds, by the ids of ERC-165."""
        for kind in kinds:
            self.do("say(bytes4,bool)", bytes.fromhex(kind), True)

    def count(self, who: str, number: int) -> int:
        """How many of a card somebody has."""
        found = self.world.rpc.read(self.address, "balanceOf(address,uint256)", who, number, returns="(uint256)")
        return int(found[0])


@pytest.fixture
def cards(local_chain: World, tmp_path: Path) -> Iterator[Cards]:
    """The cards, which say nothing of what they are; gone when the test is over."""
    code = json.loads((Path(__file__).parent / "cards.json").read_text())["bytecode"]
    receipt = local_chain.send(local_chain.actors.deployer, None, "0x" + code.removeprefix("0x"))
    address = checksum(receipt["contractAddress"])
    with dropped_in(NAME, Path(__file__).parent, _FILES, tmp_path) as modules:
        modules["addresses"].DEPLOYED[CHAIN_ID] = {"cards": address}
        yield Cards(local_chain, address)
