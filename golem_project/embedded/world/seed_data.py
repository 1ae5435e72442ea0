"""What the local world contains, as data: tokens with their prices, pools with their depth, and how it was traded.

Prices are US dollars with 8 decimals, as feeds give them. Depth is in whole US dollars, both sides together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

FEED_DECIMALS = 8


@dataclass(frozen=True)
class Token:
    """A token of the world. `contract` is None for WETH, which is the real contract."""

    symbol: str
    name: str
    decimals: int
    price: int
    contract: str | None
    traits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Band:
    """Liquidity around the price: `pool_ticks` to each side, worth `usd`."""

    pool_ticks: int
    usd: int


@dataclass(frozen=True)
class Pool:
    """A pool to open. `fee_tier` is in hundredths of a basis point; V2 has one band, the whole range."""

    version: str
    symbols: tuple[str, str]
    fee_tier: int
    bands: tuple[Band, ...]
    trades: int
    largest_trade_usd: int
    is_recent: bool = False


NATIVE_PRICE = 3_000 * 10**FEED_DECIMALS
TOKENS = (
    Token("WETH", "Wrapped Ether", 18, NATIVE_PRICE, None),
    Token("USDC", "USD Coin", 6, 10**FEED_DECIMALS, "SimulatedToken"),
    Token("USDT", "Tether USD", 6, 10**FEED_DECIMALS, "NoReturnToken", ("no_return_value",)),
    Token("DAI", "Dai Stablecoin", 18, 10**FEED_DECIMALS, "SimulatedToken"),
    Token("WBTC", "Wrapped BTC", 8, 60_000 * 10**FEED_DECIMALS, "SimulatedToken"),
    Token("FEE", "Fee Token", 18, 2 * 10**FEED_DECIMALS, "FeeOnTransferToken", ("fee_on_transfer",)),
)
TOKENS_BY_SYMBOL = {token.symbol: token for token in TOKENS}

WHOLE_RANGE = 0
POOLS = (
    Pool("v3", ("USDC", "WETH"), 500, (Band(6_930, 4_000_000), Band(950, 5_000_000), Band(200, 3_000_000)), 16, 60_000),
    Pool("v3", ("USDC", "WETH"), 3_000, (Band(6_900, 3_000_000), Band(1_200, 3_000_000)), 8, 30_000),
    Pool("v3", ("WBTC", "WETH"), 3_000, (Band(6_900, 4_000_000), Band(1_200, 4_000_000)), 7, 40_000),
    Pool("v3", ("DAI", "USDC"), 100, (Band(1_000, 2_000_000), Band(100, 3_000_000), Band(10, 5_000_000)), 6, 80_000),
    Pool("v3", ("DAI", "WETH"), 3_000, (Band(6_900, 3_000_000), Band(1_200, 2_000_000)), 5, 20_000),
    Pool("v2", ("USDC", "WETH"), 3_000, (Band(WHOLE_RANGE, 8_000_000),), 8, 15_000),
    Pool("v2", ("DAI", "WETH"), 3_000, (Band(WHOLE_RANGE, 4_000_000),), 5, 8_000),
    Pool("v2", ("FEE", "WETH"), 3_000, (Band(WHOLE_RANGE, 1_000_000),), 4, 2_000),
    Pool("v2", ("USDT", "WETH"), 3_000, (Band(WHOLE_RANGE, 5_000_000),), 5, 10_000),
    Pool("v3", ("WBTC", "USDC"), 3_000, (Band(1_200, 1_000_000),), 2, 3_000, is_recent=True),
)

TICK_SPACING = {100: 1, 500: 10, 3_000: 60, 10_000: 200}

# Seconds before the end of the history. The day before yesterday's evening is in it, so a full 24 h always is.
SECONDS_OF_WORLD = 30 * 3_600
SECONDS_OF_TRADING = 28 * 3_600
SECONDS_SINCE_RECENT_POOL = 20 * 60
SECONDS_SINCE_LAST_TRADE = 60
SECONDS_BETWEEN_BLOCKS = 12


def worth(symbol: str, usd: int) -> int:
    """How many base units of a token `usd` whole dollars buy at its feed's price."""
    token = TOKENS_BY_SYMBOL[symbol]
    units_per_dollar: int = 10 ** (token.decimals + FEED_DECIMALS)
    return usd * units_per_dollar // token.price


def sqrt_price_x96(symbol0: str, symbol1: str) -> int:
    """The V3 price at which one side is worth the other: sqrt(base units of 1 per base unit of 0) in Q64.96."""
    token0, token1 = TOKENS_BY_SYMBOL[symbol0], TOKENS_BY_SYMBOL[symbol1]
    numerator = token0.price * 10**token1.decimals << 192
    return isqrt(numerator // (token1.price * 10**token0.decimals))
