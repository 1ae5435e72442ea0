"""Puts the made-up pools on the shelf out of a temporary folder, for one test: one pool with a hook and one without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from tests.evm.world import CHAIN_ID, World
from tests.made_up_bank.dropped_in import dropped_in
from tools_app.chain.abi import checksum
from tools_app.toolkit.protocol import ProtocolDef

NAME = "made_up_pools"
_FILES = ("__init__", "addresses", "hooks", "effects", "markets", "tools", "protocol")
ZERO = "0x" + "00" * 20


@dataclass(frozen=True)
class Pools:
    """The manager on the chain of this test, the pool with a hook, the one without, and the hook."""

    world: World
    manager: str
    hook: str
    hooked: str
    plain: str
    protocol: ProtocolDef
    modules: dict[str, Any]

    def keep(self, bps: int) -> None:
        """Have the hook keep so much of what comes out from now on."""
        self.world.transact(self.world.actors.deployer, self.hook, "setKept(uint256)", bps)

    def trade(self, pool: str, amount: int = 10**9) -> None:
        """A stranger sells USDC in a pool."""
        stranger, usdc = Account.create(), self.world.tokens["USDC"].address
        self.world.fund(stranger.address, 10**18, {"USDC": amount})
        self.world.transact(stranger, usdc, "approve(address,uint256)", self.manager, amount)
        forward = int(usdc, 16) < int(self.world.tokens["WETH"].address, 16)
        self.world.transact(
            stranger, self.manager, "trade(bytes32,bool,uint256,uint256)", bytes.fromhex(pool[2:]), forward, amount, 1
        )


@pytest.fixture
def hook_pools(local_chain: World, tmp_path: Path) -> Iterator[Pools]:
    """USDC for WETH at the price of the world's feeds; gone when the test is over."""
    code = json.loads((Path(__file__).parent / "pools.json").read_text())
    manager, hook = (_deploy(local_chain, code[name]) for name in ("pools", "hook"))
    sides = {"USDC": 2 * 10**6 * 10**6, "WETH": 0}
    prices = {symbol: _price(local_chain, symbol) for symbol in sides}
    sides["WETH"] = sides["USDC"] * 10**12 * prices["USDC"] // prices["WETH"]
    named = sorted(sides, key=lambda symbol: int(local_chain.tokens[symbol].address, 16))
    token0, token1 = (local_chain.tokens[symbol].address for symbol in named)
    ids = []
    for each in (hook, ZERO):
        local_chain.fund(manager, 0, dict(sides))
        local_chain.transact(
            local_chain.actors.deployer,
            manager,
            "make(address,address,address,uint128,uint128)",
            *(token0, token1, each, *(sides[symbol] for symbol in named)),
        )
        found = local_chain.rpc.read(
            manager, "idOf(address,address,address)", token0, token1, each, returns="(bytes32)"
        )
        ids.append("0x" + found[0].hex())
    with dropped_in(NAME, Path(__file__).parent, _FILES, tmp_path) as modules:
        modules["addresses"].DEPLOYED[CHAIN_ID] = {"manager": manager}
        yield Pools(local_chain, manager, hook, ids[0], ids[1], modules["protocol"].PROTOCOL, modules)


def _deploy(world: World, code: str) -> str:
    receipt = world.send(world.actors.deployer, None, "0x" + code.removeprefix("0x"))
    assert receipt["status"] == "0x1"
    return checksum(receipt["contractAddress"])


def _price(world: World, symbol: str) -> int:
    feed = world.tokens[symbol].feed
    found = world.rpc.read(feed, "latestRoundData()", returns="(uint80,int256,uint256,uint256,uint80)")
    return int(found[1])
