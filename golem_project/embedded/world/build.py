"""Builds the local world on a fresh chain: contracts, funds, pools, more than a day of trading that ends now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.world.accounts import CHAIN_ID, Actors, derive_actors
from golem_project.embedded.world.artifacts import Artifacts
from golem_project.embedded.world.deploy import Deployed, deploy_contracts
from golem_project.embedded.world.history_writer import Ledger
from golem_project.embedded.world.pools import OpenPool, open_pool, pools_of
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.seed_data import (
    SECONDS_BETWEEN_BLOCKS,
    SECONDS_OF_TRADING,
    SECONDS_OF_WORLD,
    SECONDS_SINCE_LAST_TRADE,
    SECONDS_SINCE_RECENT_POOL,
    TOKENS,
    worth,
)
from golem_project.embedded.world.seed_swaps import (
    adjust_positions,
    approve_routers,
    make_trade,
    plan_trades,
    restore_price,
)

NATIVE_WEI_EACH = 1_000_000 * 10**18
MAKER_USD_OF_EACH_TOKEN = 60_000_000
TRADER_USD_OF_EACH_TOKEN = 5_000_000
RESTORING_SECONDS = 300
# The first position ever minted: the widest band of the first pool, of the first maker.
FIRST_POSITION = 1


@dataclass(frozen=True)
class BuiltWorld:
    """What `build_world` put on the chain."""

    deployed: Deployed
    pools: tuple[OpenPool, ...]


def genesis_time(now: int) -> int:
    """Unix seconds of the first block of a world whose history shall end at `now`."""
    return now - SECONDS_OF_WORLD


def build_world(
    rpc: JsonRpc, artifacts: Artifacts, *, now: int, when_bare: Callable[[], None] = lambda: None
) -> BuiltWorld:
    """Build everything; `now` (unix seconds) is where the history ends. Raises EmbeddedError.

    The chain must be fresh, its genesis block at `genesis_time(now)`. `when_bare` is called once the contracts are
    there, before anybody has a token.
    """
    check_fresh(rpc)
    actors = derive_actors()
    for actor in actors.everyone():
        rpc.call("anvil_setBalance", actor.address, hex(NATIVE_WEI_EACH))
    ledger = Ledger(rpc, started_at=genesis_time(now))
    deployed = deploy_contracts(ledger, actors, artifacts)
    when_bare()
    fund_actors(ledger, actors, deployed)
    approve_routers(ledger, actors, deployed)
    pools = [open_pool(ledger, actors, deployed, pool) for pool in pools_of(recent=False)]
    if ledger.now >= now - SECONDS_OF_TRADING:
        raise EmbeddedError("The local world could not be built: setting it up took longer than its past. Report it.")
    recent = trade(ledger, actors, deployed, pools, now=now)
    ledger.close(ends_at=now)
    return BuiltWorld(deployed, (*pools, *recent))


def check_fresh(rpc: JsonRpc) -> None:
    """Raises EmbeddedError unless this is an unused chain 31337."""
    chain_id = int(rpc.call("eth_chainId"), 16)
    block_number = int(rpc.call("eth_blockNumber"), 16)
    if chain_id != CHAIN_ID or block_number != 0:
        raise EmbeddedError(
            f"The local world is built on a fresh chain {CHAIN_ID} only; this is chain {chain_id} at block "
            f"{block_number}. Fix: start a new anvil."
        )


def fund_actors(ledger: Ledger, actors: Actors, deployed: Deployed) -> None:
    """Mint our tokens and wrap coins, as much as the trading can need."""
    for token in TOKENS:
        address = deployed.tokens[token.symbol]
        shares = [(maker, MAKER_USD_OF_EACH_TOKEN) for maker in actors.makers]
        shares += [(trader, TRADER_USD_OF_EACH_TOKEN) for trader in actors.traders]
        for account, usd in shares:
            amount = worth(token.symbol, usd)
            if token.contract is None:
                ledger.transact(account, address, "deposit()", value=amount)
            else:
                ledger.transact(actors.deployer, address, "mint(address,uint256)", account.address, amount)


def trade(ledger: Ledger, actors: Actors, deployed: Deployed, pools: list[OpenPool], *, now: int) -> list[OpenPool]:
    """The history from the first trade to the last; returns the pools opened on the way."""
    restored_from = now - SECONDS_SINCE_LAST_TRADE - RESTORING_SECONDS
    opened_at = now - SECONDS_SINCE_RECENT_POOL
    trades = plan_trades(pools, actors, first_at=now - SECONDS_OF_TRADING, last_at=opened_at)
    for number, planned in enumerate(trades):
        ledger.move_clock_to(planned.at)
        make_trade(ledger, actors, deployed, planned)
        if number == len(trades) // 2:
            adjust_positions(ledger, actors.makers[0], deployed, FIRST_POSITION)
    ledger.move_clock_to(opened_at)
    recent = [open_pool(ledger, actors, deployed, pool) for pool in pools_of(recent=True)]
    for planned in plan_trades(recent, actors, first_at=ledger.now, last_at=restored_from):
        ledger.move_clock_to(planned.at)
        make_trade(ledger, actors, deployed, planned)
    ledger.move_clock_to(restored_from)
    for pool in (*pools, *recent):
        ledger.move_clock_to(ledger.now + SECONDS_BETWEEN_BLOCKS)
        restore_price(ledger, actors, deployed, pool)
    return recent
