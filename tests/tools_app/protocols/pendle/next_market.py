"""The market that follows the local one: the same yield, due a year later, made by Pendle's own factories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from golem_project.embedded.world.protocols.pendle import CREATE_GAS, FEE_ROOT, OBSERVATIONS, SCALAR_ROOT
from tests.evm.world import CHAIN_ID, World
from tools_app.chain.abi import checksum
from tools_app.protocols.pendle import addresses, effects, positions, yields
from tools_app.protocols.pendle.addresses import MARKET_FACTORY, YIELD_FACTORY, Place, Symbols, deployments

if TYPE_CHECKING:
    import pytest

WAD: Final = 10**18
IN_MARKET: Final = 500_000 * WAD
ANCHOR: Final = 105 * WAD // 100
YEAR: Final = 364 * 86_400
_CREATE: Final = "createNewMarket(address,int256,int256,uint80)"


def open_next_market(world: World, before: Place, patch: pytest.MonkeyPatch) -> Place:
    """Create and fill it, and let the product know it beside the first: its oracle is ready once time has passed."""
    at, maker = dict(deployments(CHAIN_ID) or {}), world.new_account(WAD, {"DAI": 4 * IN_MARKET})
    factory, markets, rpc = at[YIELD_FACTORY], at[MARKET_FACTORY], world.rpc
    expiry = int(rpc.read(before.market, "expiry()", returns="(uint256)")[0]) + YEAR
    world.transact(
        maker, factory, "createYieldContract(address,uint32,bool)", before.sy, expiry, True, gas=2 * CREATE_GAS
    )
    pt, yt = (
        checksum(rpc.read(factory, f"{each}(address,uint256)", before.sy, expiry, returns="(address)")[0])
        for each in ("getPT", "getYT")
    )
    made_of = (pt, SCALAR_ROOT, ANCHOR, FEE_ROOT)
    market = checksum(rpc.read(markets, _CREATE, *made_of, returns="(address)")[0])
    world.transact(maker, markets, _CREATE, *made_of, gas=2 * CREATE_GAS)
    world.transact(maker, market, "increaseObservationsCardinalityNext(uint16)", OBSERVATIONS, gas=2 * CREATE_GAS)
    dai = before.asset
    world.transact(maker, dai, "approve(address,uint256)", before.sy, 4 * IN_MARKET)
    deposit = "deposit(address,address,uint256,uint256)"
    world.transact(maker, before.sy, deposit, maker.address, dai, 3 * IN_MARKET, 0)
    world.transact(maker, before.sy, "transfer(address,uint256)", yt, IN_MARKET)
    world.transact(maker, yt, "mintPY(address,address)", maker.address, maker.address)
    for token in (before.sy, pt):
        world.transact(maker, token, "transfer(address,uint256)", market, IN_MARKET)
    world.transact(maker, market, "mint(address,uint256,uint256)", maker.address, IN_MARKET, IN_MARKET)
    place = replace(
        before, market=market, pt=pt, yt=yt, symbols=Symbols("PT-DAI-NEXT", "YT-DAI-NEXT", "PLP-DAI-NEXT", "SY-DAI")
    )

    def both(chain_id: int) -> tuple[Place, ...]:
        return (before, place) if chain_id == CHAIN_ID else ()

    for module in (addresses, effects, positions, yields):
        patch.setattr(module, "find_places", both)
    return place
