"""The market that follows the local one: the same yield, due a year later, made by Pendle's own factories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from golem_project.embedded.world.protocols.pendle import CREATE_GAS, FEE_ROOT, OBSERVATIONS, SCALAR_ROOT
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context
from tools_app.apps import load_registry
from tools_app.chain.abi import checksum
from tools_app.protocols.pendle.addresses import (
    MARKET_FACTORY,
    NAME,
    YIELD_FACTORY,
    Place,
    deployments,
    find_places,
)
from tools_app.protocols.pendle.naming import ask_market
from tools_app.protocols.pendle.protocol import describe_protocol
from tools_app.toolkit import operator_named_places
from tools_app.toolkit.operator_named_places import list_named
from tools_app.toolkit.protocol import SHELF

if TYPE_CHECKING:
    import pytest

WAD: Final = 10**18
IN_MARKET: Final = 500_000 * WAD
ANCHOR: Final = 105 * WAD // 100
YEAR: Final = 364 * 86_400
_CREATE: Final = "createNewMarket(address,int256,int256,uint80)"


def create_next_market(world: World, before: Place, sy: str = "") -> str:
    """Create and fill it, over the yield of the one before or another of the same asset; its address. Its oracle is
    ready once time has passed.
    """
    sy = sy or before.sy
    at, maker = dict(deployments(CHAIN_ID) or {}), world.new_account(WAD, {"DAI": 4 * IN_MARKET})
    factory, markets, rpc = at[YIELD_FACTORY], at[MARKET_FACTORY], world.rpc
    expiry = int(rpc.read(before.market, "expiry()", returns="(uint256)")[0]) + YEAR
    world.transact(maker, factory, "createYieldContract(address,uint32,bool)", sy, expiry, True, gas=2 * CREATE_GAS)
    pt, yt = (
        checksum(rpc.read(factory, f"{each}(address,uint256)", sy, expiry, returns="(address)")[0])
        for each in ("getPT", "getYT")
    )
    made_of = (pt, SCALAR_ROOT, ANCHOR, FEE_ROOT)
    market = checksum(rpc.read(markets, _CREATE, *made_of, returns="(address)")[0])
    world.transact(maker, markets, _CREATE, *made_of, gas=2 * CREATE_GAS)
    world.transact(maker, market, "increaseObservationsCardinalityNext(uint16)", OBSERVATIONS, gas=2 * CREATE_GAS)
    dai = before.asset
    world.transact(maker, dai, "approve(address,uint256)", sy, 4 * IN_MARKET)
    deposit = "deposit(address,address,uint256,uint256)"
    world.transact(maker, sy, deposit, maker.address, dai, 3 * IN_MARKET, 0)
    world.transact(maker, sy, "transfer(address,uint256)", yt, IN_MARKET)
    world.transact(maker, yt, "mintPY(address,address)", maker.address, maker.address)
    for token in (sy, pt):
        world.transact(maker, token, "transfer(address,uint256)", market, IN_MARKET)
    world.transact(maker, market, "mint(address,uint256,uint256)", maker.address, IN_MARKET, IN_MARKET)
    return market


class _Recount(dict[str, None]):
    """What a patch puts in and takes out again as its last: the shelf's version rises both times and never goes back,
    so that nothing that was worked out from one shelf is taken for another's.
    """

    def __setitem__(self, key: str, value: None) -> None:
        super().__setitem__(key, value)
        SHELF.version += 1

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        SHELF.version += 1


def name_market(world: World, market: str, patch: pytest.MonkeyPatch) -> Place:
    """What the operator does who names it: the server knows it, as if it had been started anew."""
    told = ask_market(make_context(world).chain(), market)
    patch.setitem(_Recount(), "shelf", None)
    patch.setitem(operator_named_places._NAMED, (NAME, CHAIN_ID), (*list_named(NAME, CHAIN_ID), told.text))
    load_registry()
    patch.setitem(SHELF._by_name, NAME, describe_protocol())
    return find_places(CHAIN_ID)[-1]


def open_next_market(world: World, before: Place, patch: pytest.MonkeyPatch) -> Place:
    """Create it and name it."""
    return name_market(world, create_next_market(world, before), patch)
