"""Pools of every version and usual fee between tokens of the local chain, beside those that stand there."""

from __future__ import annotations

import random
from collections.abc import Iterable
from math import isqrt
from typing import Any, Final

from eth_abi.abi import encode

from golem_project.embedded.world.protocols.uniswap_v4 import FAR, HIGHEST_TICK, MINT, POOL_KEY, SETTLE_PAIR
from golem_project.embedded.world.seed_data import sqrt_price_x96, worth
from tests.evm.world import World
from tools_app.protocols.uniswap.v4.addresses import v4_on
from tools_app.protocols.uniswap.v4.keys import TIERS, make_key
from tools_app.standards.permit2 import PERMIT2

_V2: Final = "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)"
_V3_OPEN: Final = "createAndInitializePoolIfNecessary(address,address,uint24,uint160)"
_V3_MINT: Final = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"


def open_some(world: World, pairs: Iterable[tuple[str, str]], *, count: int, seed: int = 41) -> None:
    """Open or deepen `count` pools of these pairs, drawn from all versions and fees, each over the whole range and at
    the feeds' price.
    """
    drawn, v4 = random.Random(seed), v4_on(world.chain_id)
    if v4 is None:
        raise LookupError("V4 is not on this chain")
    pairs = list(pairs)
    maker = make_maker(world, {symbol for pair in pairs for symbol in pair})
    router, manager = (world.contracts[key] for key in ("uniswap_v2_router", "uniswap_v3_position_manager"))
    places = [(pair, "v2", 3_000, 60) for pair in pairs]
    places += [(pair, version, *tier) for pair in pairs for version in ("v3", "v4") for tier in TIERS]
    for pair, version, fee, spacing in drawn.sample(places, count):
        first, second = sorted(pair, key=lambda symbol: int(world.tokens[symbol].address, 16))
        tokens, price = [world.tokens[each].address for each in (first, second)], sqrt_price_x96(first, second)
        amounts, edge = _draw(drawn, first, second), HIGHEST_TICK // spacing * spacing
        if version == "v2":
            world.transact(maker, router, _V2, *tokens, *amounts, 0, 0, maker.address, FAR)
        elif version == "v3":
            world.transact(maker, manager, _V3_OPEN, *tokens, fee, price, gas=8_000_000)
            minted = (*tokens, fee, -edge, edge, *amounts, 0, 0, maker.address, FAR)
            world.transact(maker, manager, _V3_MINT, minted)
        else:
            key = make_key(tokens[0], tokens[1], fee, spacing).as_tuple
            open_v4(world, maker, v4.positions, key, price, edge, amounts)


def make_maker(world: World, symbols: Iterable[str]) -> Any:
    """An account with plenty of each token, which lets the managers of all versions take it."""
    v4 = v4_on(world.chain_id)
    if v4 is None:
        raise LookupError("V4 is not on this chain")
    router, manager = (world.contracts[key] for key in ("uniswap_v2_router", "uniswap_v3_position_manager"))
    wanted = sorted(symbols)
    maker = world.new_account(10**20, {symbol: worth(symbol, 200_000_000) for symbol in wanted})
    for symbol in wanted:
        token = world.tokens[symbol].address
        for spender in (router, manager, PERMIT2):
            world.transact(maker, token, "approve(address,uint256)", spender, 2**255)
        approve = "approve(address,address,uint160,uint48)"
        world.transact(maker, PERMIT2, approve, token, v4.positions, 2**160 - 1, FAR)
    return maker


def _draw(drawn: random.Random, first: str, second: str) -> list[int]:
    usd = int(10 ** drawn.uniform(5, 6.3))
    return [worth(symbol, usd // 2) for symbol in (first, second)]


def open_v4(
    world: World, maker: Any, positions: str, key: tuple[Any, ...], price: int, edge: int, amounts: list[int]
) -> None:
    """As the V3 pools: opened where it is not yet, and one position over the whole range."""
    world.transact(maker, positions, f"initializePool({POOL_KEY},uint160)", key, price)
    most = [amount * 120 // 100 for amount in amounts]
    minted = encode(
        [POOL_KEY, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes"],
        [key, -edge, edge, isqrt(amounts[0] * amounts[1]), *most, maker.address, b""],
    )
    params = [minted, encode(["address", "address"], [key[0], key[1]])]
    unlock = encode(["bytes", "bytes[]"], [MINT + SETTLE_PAIR, params])
    world.transact(maker, positions, "modifyLiquidities(bytes,uint256)", unlock, FAR)
