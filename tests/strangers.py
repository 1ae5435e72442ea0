"""What strangers can put into a golem's account for next to nothing."""

from __future__ import annotations

from golem_project.embedded.world.seed_data import worth
from golem_project.embedded.world.seed_swaps import SLOT0
from tests.evm.world import World

_MINT = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
_FOR_EVER = 2**255
_SPACING = 10


def send_ranges(world: World, account: str, count: int, *, in_range: bool, cents: int = 1) -> None:
    """So many V3 positions of WETH and USDC at 0.05 % for `account`, each worth about so many cents."""
    pool, manager = world.pool("v3", "USDC", "WETH", 500), world.contracts["uniswap_v3_position_manager"]
    pool_tick = int(world.rpc.read(pool.address, "slot0()", returns=SLOT0)[1]) // _SPACING * _SPACING
    symbols = {world.tokens[symbol].address: symbol for symbol in ("USDC", "WETH")}
    each = {address: max(1, worth(symbol, 1) * cents // 200) for address, symbol in symbols.items()}
    stranger = world.new_account(10**18, {symbols[address]: 2 * count * raw for address, raw in each.items()})
    for address in each:
        world.transact(stranger, address, "approve(address,uint256)", manager, 2**256 - 1)
    # Above the price a position is of token0 alone.
    lower, upper = (pool_tick - 2_000, pool_tick + 2_000) if in_range else (pool_tick + 500, pool_tick + 1_000)
    tokens = (pool.token0, pool.token1)
    amounts = (each[pool.token0], each[pool.token1])
    for _ in range(count):
        world.transact(stranger, manager, _MINT, (*tokens, 500, lower, upper, *amounts, 0, 0, account, _FOR_EVER))
