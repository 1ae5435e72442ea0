"""Puts the bank on the shelf out of a temporary folder, as a protocol that somebody drops in, for one test."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tools_app.protocols
from archetypes_app.toolset import resolve
from tests.evm.world import CHAIN_ID, World
from tools_app.toolkit.family import FAMILIES
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.registry import REGISTRY

NAME = "made_up_bank"
_PACKAGE = f"tools_app.protocols.{NAME}"
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
    source = Path(__file__).parent
    folder = tmp_path / "protocols"
    (folder / NAME).mkdir(parents=True)
    for name in _FILES:
        shutil.copy(source / f"{name}.py", folder / NAME)
    known = len(FAMILIES)
    tools_app.protocols.__path__.append(str(folder))
    try:
        # As every start finds protocols: by their folders.
        tools_app.protocols.load_protocols()
        modules = {name: importlib.import_module(f"{_PACKAGE}.{name}") for name in _FILES[1:]}
        address = _deploy(local_chain)
        modules["addresses"].DEPLOYED[CHAIN_ID] = {
            "bank": address,
            "cash": local_chain.tokens["DAI"].address,
            "loan": local_chain.tokens["WETH"].address,
        }
        protocol: ProtocolDef = modules["protocol"].PROTOCOL
        assert SHELF.get(NAME) is protocol
        added = [tool for family in FAMILIES[known:] for tool in family.tools]
        _open_registry(added)
        yield Bank(local_chain, address, protocol, modules)
    finally:
        SHELF.remove(NAME)
        for tool in [tool for family in FAMILIES[known:] for tool in family.tools]:
            REGISTRY._tools.pop(tool.name, None)
        resolve.cache_clear()
        del FAMILIES[known:]
        tools_app.protocols.__path__.remove(str(folder))
        for name in [name for name in sys.modules if name == _PACKAGE or name.startswith(f"{_PACKAGE}.")]:
            del sys.modules[name]


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


def _open_registry(tools: list[Any]) -> None:
    REGISTRY._frozen = False
    try:
        REGISTRY.add_all(tools)
    finally:
        REGISTRY.freeze()
        # Toolsets are kept by process, and the bank of another test was another bank.
        resolve.cache_clear()
