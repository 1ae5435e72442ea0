"""Puts the purse on the shelf out of a temporary folder, for one test, with principals who let golems draw from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount

from permits_app.limits.received_rights import receive
from permits_app.models import ReceivedRight
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem
from tests.made_up_bank.dropped_in import dropped_in
from tools_app.chain.abi import checksum
from tools_app.core import clock

NAME = "made_up_purse"
_FILES = ("__init__", "addresses", "received", "effects", "tools", "protocol")
DAY = 86_400
MUCH = 10**30


@dataclass(frozen=True)
class Purse:
    """The purse on the chain of this test, and one principal."""

    world: World
    address: str
    principal: LocalAccount
    modules: dict[str, Any]

    def give(self, live: LiveGolem, *, a_day: int, days: int = 3) -> ReceivedRight:
        """The principal lets the golem draw so much USDC a day, on the chain and in the golem's book."""
        token, begun = self.world.tokens["USDC"].address, self.block_time()
        ends = begun + days * DAY
        self.do("give(address,address,uint256,uint256,uint256)", live.golem.address, token, a_day, begun, ends)
        right = ReceivedRight(
            chain_id=CHAIN_ID,
            protocol=NAME,
            reference=self.principal.address.lower(),
            kind="DELEGATION",
            principal=self.principal.address,
            holder=str(live.golem.address),
            token=token,
            most=a_day,
            period_seconds=DAY,
            starts_at=datetime.fromtimestamp(begun, UTC),
            ends_at=datetime.fromtimestamp(ends, UTC),
        )
        [stored] = receive(golem=live.golem, rights=[right], actor="system:test", now=clock.now())
        return stored

    def take_back(self, live: LiveGolem) -> None:
        """The principal takes the right back."""
        self.do("takeBack(address,address)", live.golem.address, self.world.tokens["USDC"].address)

    def do(self, signature: str, *arguments: Any) -> None:
        """The principal calls the purse."""
        self.world.transact(self.principal, self.address, signature, *arguments)

    def block_time(self) -> int:
        """Unix seconds of the newest block."""
        return int(self.world.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)

    def balance(self, who: str, symbol: str = "USDC") -> int:
        """Base units."""
        found = self.world.rpc.read(self.world.tokens[symbol].address, "balanceOf(address)", who, returns="(uint256)")
        return int(found[0] if isinstance(found, list | tuple) else found)


@pytest.fixture
def purse(local_chain: World, tmp_path: Path) -> Iterator[Purse]:
    """The purse and a principal with 1,000,000 USDC who lets it take all of it; gone when the test is over."""
    code = json.loads((Path(__file__).parent / "purse.json").read_text())["bytecode"]
    receipt = local_chain.send(local_chain.actors.deployer, None, "0x" + code.removeprefix("0x"))
    address = checksum(receipt["contractAddress"])
    principal = Account.create()
    local_chain.fund(principal.address, 10**18, {"USDC": 10**12, "WETH": 10**18})
    for symbol in ("USDC", "WETH"):
        token = local_chain.tokens[symbol].address
        local_chain.transact(principal, token, "approve(address,uint256)", address, MUCH)
    with dropped_in(NAME, Path(__file__).parent, _FILES, tmp_path) as modules:
        modules["addresses"].DEPLOYED[CHAIN_ID] = {"purse": address}
        yield Purse(local_chain, address, principal, modules)
        modules["tools"].SLIPS.clear()
