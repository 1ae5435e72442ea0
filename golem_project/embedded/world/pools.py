"""Opens the pools of the local world at the feeds' prices and fills them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from golem_project.embedded.world.accounts import Actors
from golem_project.embedded.world.deploy import Deployed
from golem_project.embedded.world.history_writer import Ledger
from golem_project.embedded.world.rpc import checksum
from golem_project.embedded.world.seed_data import POOLS, TICK_SPACING, WHOLE_RANGE, Band, Pool, sqrt_price_x96, worth

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

NO_DEADLINE = 2**256 - 1
UNLIMITED = 2**256 - 1
# Room for time-weighted prices, as a well-used pool has it.
OBSERVATIONS = 64
# A fee-on-transfer token loses this share on its way into the pool, so more must leave.
FEE_TOKEN_BPS = 100
MINT = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"


@dataclass(frozen=True)
class OpenPool:
    """A pool on the chain, its tokens in the order of their addresses."""

    pool: Pool
    address: str
    symbol0: str
    symbol1: str

    @property
    def version(self) -> str:
        """v2 or v3."""
        return self.pool.version


def sort_symbols(deployed: Deployed, symbols: tuple[str, str]) -> tuple[str, str]:
    """Protocols order a pair by address."""
    first, second = sorted(symbols, key=lambda symbol: int(deployed.tokens[symbol], 16))
    return first, second


def gross_up(symbol: str, amount: int) -> int:
    """What must be sent so that `amount` arrives."""
    return amount * 10_000 // (10_000 - FEE_TOKEN_BPS) if symbol == "FEE" else amount


def open_pool(ledger: Ledger, actors: Actors, deployed: Deployed, pool: Pool) -> OpenPool:
    """Create one pool and put its liquidity in; the makers take turns."""
    symbol0, symbol1 = sort_symbols(deployed, pool.symbols)
    if pool.version == "v2":
        address = open_v2(ledger, actors.makers[0], deployed, symbol0, symbol1, pool.bands[0].usd)
    else:
        address = open_v3(ledger, actors.makers, deployed, symbol0, symbol1, pool)
    return OpenPool(pool, address, symbol0, symbol1)


def open_v2(ledger: Ledger, maker: LocalAccount, deployed: Deployed, symbol0: str, symbol1: str, usd: int) -> str:
    """Returns the pair's address."""
    token0, token1 = deployed.tokens[symbol0], deployed.tokens[symbol1]
    ledger.transact(
        maker,
        deployed.contracts["uniswap_v2_router"],
        "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
        token0,
        token1,
        gross_up(symbol0, worth(symbol0, usd // 2)),
        gross_up(symbol1, worth(symbol1, usd // 2)),
        0,
        0,
        maker.address,
        NO_DEADLINE,
    )
    factory = deployed.contracts["uniswap_v2_factory"]
    return checksum(ledger.rpc.read(factory, "getPair(address,address)", token0, token1, returns="(address)")[0])


def open_v3(
    ledger: Ledger, makers: tuple[LocalAccount, ...], deployed: Deployed, symbol0: str, symbol1: str, pool: Pool
) -> str:
    """Returns the pool's address."""
    token0, token1 = deployed.tokens[symbol0], deployed.tokens[symbol1]
    manager = deployed.contracts["uniswap_v3_position_manager"]
    ledger.transact(
        makers[0],
        manager,
        "createAndInitializePoolIfNecessary(address,address,uint24,uint160)",
        token0,
        token1,
        pool.fee_tier,
        sqrt_price_x96(symbol0, symbol1),
    )
    factory = deployed.contracts["uniswap_v3_factory"]
    found = ledger.rpc.read(
        factory, "getPool(address,address,uint24)", token0, token1, pool.fee_tier, returns="(address)"
    )
    address = checksum(found[0])
    ledger.transact(makers[0], address, "increaseObservationCardinalityNext(uint16)", OBSERVATIONS)
    pool_tick = ledger.rpc.read(address, "slot0()", returns="(uint160,int24,uint16,uint16,uint16,uint8,bool)")[1]
    for number, band in enumerate(pool.bands):
        maker = makers[number % len(makers)]
        mint_band(ledger, maker, deployed, (symbol0, symbol1), pool.fee_tier, pool_tick, band)
    return address


def mint_band(
    ledger: Ledger,
    maker: LocalAccount,
    deployed: Deployed,
    symbols: tuple[str, str],
    fee_tier: int,
    pool_tick: int,
    band: Band,
) -> None:
    """One position around `pool_tick`, its edges on the pool's spacing."""
    if band.pool_ticks == WHOLE_RANGE:
        raise ValueError("a V3 band needs its width")
    spacing = TICK_SPACING[fee_tier]
    lower = (pool_tick - band.pool_ticks) // spacing * spacing
    upper = -(-(pool_tick + band.pool_ticks) // spacing) * spacing
    amounts = [worth(symbol, band.usd // 2) for symbol in symbols]
    tokens = [deployed.tokens[symbol] for symbol in symbols]
    parameters = (*tokens, fee_tier, lower, upper, *amounts, 0, 0, maker.address, NO_DEADLINE)
    ledger.transact(maker, deployed.contracts["uniswap_v3_position_manager"], MINT, parameters)


def pools_of(*, recent: bool) -> list[Pool]:
    """The pools open from the start, or those opened shortly before the end."""
    return [pool for pool in POOLS if pool.is_recent == recent]
