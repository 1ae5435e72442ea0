"""Gives the pools of the local world a past: swaps over more than a day, ending with prices back at the feeds.

The trades follow from a fixed seed, so two builds differ in nothing but their times.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING

from golem_project.embedded.world.accounts import Actors
from golem_project.embedded.world.deploy import Deployed
from golem_project.embedded.world.history_writer import Ledger
from golem_project.embedded.world.pools import NO_DEADLINE, UNLIMITED, OpenPool, gross_up
from golem_project.embedded.world.seed_data import sqrt_price_x96, worth

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

SEED = 31_337
SMALLEST_TRADE_USD = 200
RESTORING_TRADE_USD = 3_000_000
EXACT_INPUT_SINGLE = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
EXACT_INPUT_SINGLE_BY = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))"
V2_SWAP = "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"
V2_SWAP_WITH_FEE = "swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)"
V2_SWAP_ETH = "swapExactETHForTokens(uint256,address[],address,uint256)"
SLOT0 = "(uint160,int24,uint16,uint16,uint16,uint8,bool)"


@dataclass(frozen=True)
class Trade:
    """One swap to come: `sells` is the index (0 or 1) of the pool's token that the trader gives."""

    at: int
    pool: OpenPool
    trader: LocalAccount
    sells: int
    usd: int


def plan_trades(pools: list[OpenPool], actors: Actors, *, first_at: int, last_at: int) -> list[Trade]:
    """Each pool's trades, spread over the time, in the order they happen. Directions alternate."""
    source = random.Random(SEED)  # noqa: S311 (reproducible on purpose, nothing secret depends on it)
    trades: list[Trade] = []
    for pool in pools:
        count = pool.pool.trades
        for number in range(count):
            slot = (last_at - first_at) // count
            # The first one comes early, so that every pool has a past longer than a day.
            at = first_at + number * slot + source.randrange(slot if number else slot // 10)
            usd = source.randrange(SMALLEST_TRADE_USD, pool.pool.largest_trade_usd)
            trades.append(Trade(at, pool, source.choice(actors.traders), number % 2, usd))
    return sorted(trades, key=lambda trade: (trade.at, trade.pool.address))


def approve_routers(ledger: Ledger, actors: Actors, deployed: Deployed) -> None:
    """Everyone who trades or provides lets the contracts they use take their tokens."""
    contracts = deployed.contracts
    for maker in actors.makers:
        for token in deployed.tokens.values():
            for spender in ("uniswap_v2_router", "uniswap_v3_position_manager", "uniswap_v3_swap_router"):
                ledger.transact(maker, token, "approve(address,uint256)", contracts[spender], UNLIMITED)
    for trader in actors.traders:
        for token in deployed.tokens.values():
            for spender in ("uniswap_v2_router", v3_router_of(trader, actors)):
                ledger.transact(trader, token, "approve(address,uint256)", contracts[spender], UNLIMITED)


def v3_router_of(trader: LocalAccount, actors: Actors) -> str:
    """Half of the traders use the newer router."""
    is_newer = actors.traders.index(trader) % 2 == 1
    return "uniswap_v3_swap_router_02" if is_newer else "uniswap_v3_swap_router"


def make_trade(ledger: Ledger, actors: Actors, deployed: Deployed, trade: Trade) -> None:
    """Carry out one trade of the plan."""
    symbols = (trade.pool.symbol0, trade.pool.symbol1)
    sold, bought = symbols[trade.sells], symbols[1 - trade.sells]
    amount = gross_up(sold, worth(sold, trade.usd))
    if trade.pool.version == "v2":
        swap_v2(ledger, trade.trader, deployed, sold, bought, amount, pays_native=sold == "WETH" and trade.usd % 2 == 0)
        return
    router = v3_router_of(trade.trader, actors)
    swap_v3(ledger, trade.trader, deployed, trade.pool, router, trade.sells, amount, limit=0)


def swap_v2(
    ledger: Ledger,
    trader: LocalAccount,
    deployed: Deployed,
    sold: str,
    bought: str,
    amount: int,
    *,
    pays_native: bool = False,
) -> None:
    """Swap through the V2 router; `pays_native` sends coins where WETH would be taken."""
    router = deployed.contracts["uniswap_v2_router"]
    path = [deployed.tokens[sold], deployed.tokens[bought]]
    if "FEE" in (sold, bought):
        ledger.transact(trader, router, V2_SWAP_WITH_FEE, amount, 0, path, trader.address, NO_DEADLINE)
    elif pays_native:
        ledger.transact(trader, router, V2_SWAP_ETH, 0, path, trader.address, NO_DEADLINE, value=amount)
    else:
        ledger.transact(trader, router, V2_SWAP, amount, 0, path, trader.address, NO_DEADLINE)


def swap_v3(
    ledger: Ledger,
    trader: LocalAccount,
    deployed: Deployed,
    pool: OpenPool,
    router: str,
    sells: int,
    amount: int,
    *,
    limit: int,
) -> None:
    """Swap through either V3 router, at most to the price `limit` (Q64.96, 0 for none)."""
    tokens = (deployed.tokens[pool.symbol0], deployed.tokens[pool.symbol1])
    head = (tokens[sells], tokens[1 - sells], pool.pool.fee_tier, trader.address)
    address = deployed.contracts[router]
    if router == "uniswap_v3_swap_router_02":
        ledger.transact(trader, address, EXACT_INPUT_SINGLE, (*head, amount, 0, limit))
    else:
        ledger.transact(trader, address, EXACT_INPUT_SINGLE_BY, (*head, NO_DEADLINE, amount, 0, limit))


def restore_price(ledger: Ledger, actors: Actors, deployed: Deployed, pool: OpenPool) -> None:
    """An arbitrageur brings the pool back to the feeds' price."""
    if pool.version == "v2":
        restore_v2_price(ledger, actors.makers[0], deployed, pool)
    else:
        restore_v3_price(ledger, actors.makers[0], deployed, pool)


def restore_v3_price(ledger: Ledger, maker: LocalAccount, deployed: Deployed, pool: OpenPool) -> None:
    """Swap up to the wanted price: the pool itself stops there."""
    wanted = sqrt_price_x96(pool.symbol0, pool.symbol1)
    current = ledger.rpc.read(pool.address, "slot0()", returns=SLOT0)[0]
    if current == wanted:
        return
    sells = 0 if current > wanted else 1
    amount = worth((pool.symbol0, pool.symbol1)[sells], RESTORING_TRADE_USD)
    swap_v3(ledger, maker, deployed, pool, "uniswap_v3_swap_router", sells, amount, limit=wanted)


def restore_v2_price(ledger: Ledger, maker: LocalAccount, deployed: Deployed, pool: OpenPool) -> None:
    """Add what is missing of the side that has become dear; the fee leaves less than a basis point."""
    reserves = ledger.rpc.read(pool.address, "getReserves()", returns="(uint112,uint112,uint32)")[:2]
    symbols = (pool.symbol0, pool.symbol1)
    # At the feeds' price both reserves are worth the same: value them in base units of one whole thousand dollars.
    unit = (worth(symbols[0], 1_000), worth(symbols[1], 1_000))
    for sells in (0, 1):
        # x * y stays, x / y becomes unit_x / unit_y
        target = isqrt(reserves[0] * reserves[1] * unit[sells] // unit[1 - sells])
        missing = target - reserves[sells]
        if missing * 100_000 > reserves[sells]:
            amount = gross_up(symbols[sells], missing)
            swap_v2(ledger, maker, deployed, symbols[sells], symbols[1 - sells], amount)
            return


def adjust_positions(ledger: Ledger, maker: LocalAccount, deployed: Deployed, position_id: int) -> None:
    """A market maker takes a little out of a position and collects its fees, so such events are in the past too."""
    manager = deployed.contracts["uniswap_v3_position_manager"]
    position = ledger.rpc.read(
        manager,
        "positions(uint256)",
        position_id,
        returns="(uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)",
    )
    share = position[7] // 200
    ledger.transact(
        maker,
        manager,
        "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))",
        (position_id, share, 0, 0, NO_DEADLINE),
    )
    largest = 2**128 - 1
    ledger.transact(
        maker,
        manager,
        "collect((uint256,address,uint128,uint128))",
        (position_id, maker.address, largest, largest),
    )
