"""Describes, case by case, what the `data_*` reads tell of the local chain, where a WETH is worth 3,000 USDC in three
pools of the pair.
"""

from __future__ import annotations

from typing import Final

from tools_app.chain.abi import checksum
from tools_app.toolkit.case import About, FromReport, Look, ReadCase
from tools_app.toolkit.context import AbiValue
from tools_app.toolkit.figure_text import dollars, worth

_ETH: Final = 10**18
_SLOT0: Final = "function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint8, bool)"
_LIQUIDITY: Final = "function liquidity() view returns (uint128)"
_PAIR: Final = "function getPair(address, address) view returns (address)"
_FEE: Final = "function fee() view returns (uint24)"
_TICK: Final = "function ticks(int24) view returns (uint128, int128, uint256, uint256, int56, uint160, uint32, bool)"
_POOL: Final = {"pool_address": FromReport("pool")}
_NO_POOL: Final = ({"pool_address": "0x" + "11" * 20}, "POOL_NOT_FOUND")
_PAID_IN: Final = 3_000 * 10**6
_PUT_IN: Final = ("uniswap_lp_add_liquidity",)


def _slot0(look: Look) -> AbiValue:
    return look.call(look.told("pool"), _SLOT0)


def _tvl(look: Look) -> About:
    """Micro-USD of what lies in the pool, at the feeds."""
    pool = str(look.told("pool"))
    held = (
        look.balance("WETH", pool) * look.price("WETH") // 10**20
        + look.balance("USDC", pool) * look.price("USDC") // 10**8
    )
    return About(held, 1)


def _price(look: Look) -> About:
    """Millionths of a USDC for a WETH, from the square root that the pool keeps."""
    root = int(_slot0(look)[0])
    return About(root * root * 10**18 // 2**192, 1)


def _new_pair(look: Look) -> str:
    """As the factory keeps it."""
    return checksum(look.call(look.told("v2_factory"), _PAIR, *look.told("new_pair")))


READS: Final = (
    ReadCase(
        "data_search_tokens",
        {"text": "usd"},
        {
            "tokens.#": 2,
            "tokens.0.token.address": lambda look: look.token("USDC"),
            "tokens.1.token.address": lambda look: look.token("USDT"),
            "tokens.0.source": "committed",
            "left_out": 0,
        },
        refuses=(
            ({"text": "NOTOKEN"}, "TOKEN_NOT_FOUND"),
            ({"text": "0x12"}, "INVALID_PARAMS"),
        ),
    ),
    ReadCase(
        "data_get_pool_info",
        _POOL,
        {
            "balance0": lambda look: look.balance("WETH", str(look.told("pool"))),
            "balance1": lambda look: look.balance("USDC", str(look.told("pool"))),
            "fee_tier": lambda look: look.call(look.told("pool"), _FEE),
            "tick": lambda look: _slot0(look)[1],
            "sqrt_price_x96": lambda look: _slot0(look)[0],
            "liquidity": lambda look: look.call(look.told("pool"), _LIQUIDITY),
            "price_token0_in_token1": _price,
            "tvl_usd": _tvl,
            "block_number": lambda look: look.block,
        },
        refuses=(_NO_POOL,),
        most_exchanges=11,
    ),
    ReadCase(
        "data_get_pool_health_score",
        {"pool": FromReport("pool")},
        {"tvl_usd": _tvl, "missing_reason": None},
        refuses=(({"pool": "0x" + "11" * 20}, "POOL_NOT_FOUND"),),
        most_exchanges=11,
    ),
    ReadCase(
        "data_get_pools_by_token_pair",
        {"token0": "WETH", "token1": "USDC"},
        {
            "pools.#": 3,
            "pools[fee_tier=3000].token0.symbol": "WETH",
            "pools[fee_tier=500].version": "v3",
        },
        refuses=(({"token1": "WETH"}, "INVALID_PARAMS"),),
        most_exchanges=9,
    ),
    ReadCase(
        "data_get_pools_by_token",
        {"token": "WETH", "limit": 2},
        # The two that hold most, of eight.
        {"pools.#": 2, "pools.0.fee_tier": 500, "pools.1.version": "v2"},
        most_exchanges=13,
    ),
    ReadCase(
        "data_get_new_pools",
        {"hours": 1},
        {
            "pools.0.pool_address": _new_pair,
            "pools.0.version": "v2",
            "pools.0.fee_tier": 3_000,
            # Nobody put anything in.
            "pools.0.tvl_usd": dollars(0),
            "pools.0.created_block": lambda look: look.block,
            "pools.0.hook": None,
        },
        given=("somebody makes a pair of a new token and DAI",),
        most_exchanges=24,
    ),
    ReadCase(
        "data_get_token_price",
        {"token": "WETH"},
        {
            "price": About(3_000 * 10**6, 10),
            "feed_price_usd": lambda look: str(look.price("WETH") // 10**8),
            "quote_currency": "USD",
        },
        most_exchanges=5,
    ),
    ReadCase(
        "data_get_tick_data",
        {"pool": FromReport("pool")},
        {
            "current_tick": lambda look: _slot0(look)[1],
            "liquidity": lambda look: look.call(look.told("pool"), _LIQUIDITY),
            # What is put in over one range is what it takes out at the other end.
            "ticks[tick=-197460].liquidity_net": lambda look: look.call(look.told("pool"), _TICK, -197_460)[1],
            "ticks[tick=-195000].liquidity_net": lambda look: -look.call(look.told("pool"), _TICK, -197_460)[1],
        },
        refuses=(({"pool": "0x" + "11" * 20}, "POOL_NOT_FOUND"),),
        most_exchanges=6,
    ),
    ReadCase(
        "data_get_position",
        {"token_id": FromReport("position_id")},
        {
            "owner": lambda look: look.account,
            "fee_tier": 500,
            "in_range": True,
            "amount0": About(2 * _ETH, 1),
            # Both sides at the feeds; what goes in beside two WETH the range decides.
            "unclaimed_fees_usd": dollars(0),
            "value_usd": About(12_655_489_142, 100),
        },
        after=_PUT_IN,
        refuses=(({"token_id": "999999"}, "POSITION_NOT_FOUND"),),
        most_exchanges=8,
    ),
    ReadCase(
        "data_get_positions_by_owner",
        tells={
            "owner": lambda look: look.account,
            "positions.#": 1,
            "positions.0.token_id": lambda look: look.told("position_id"),
            "positions.0.amount0": About(2 * _ETH, 1),
            "held": 1,
            "empty": 0,
        },
        after=_PUT_IN,
        most_exchanges=10,
    ),
    ReadCase(
        "data_get_pool_volume_history",
        _POOL,
        {
            "bars.#": 0,
            "known_since": None,
            "token0.symbol": "WETH",
            "token1.symbol": "USDC",
            "source": "this server's index",
        },
        refuses=(_NO_POOL,),
        most_exchanges=8,
    ),
    ReadCase(
        "data_get_pool_volume_history",
        {**_POOL, "span": "day"},
        {
            "bars.#": 1,
            "bars.0.trades": 2,
            "bars.0.paid_in0": 0,
            "bars.0.paid_in1": _PAID_IN,
            # Both trades bought, so the price of the pool now is the highest and the last there was.
            "bars.0.close": _price,
            "bars.0.high": _price,
            "bars.0.volume_usd": lambda look: worth(_PAID_IN, 6, look.price("USDC")),
            "bars.0.fees_usd": lambda look: worth(_PAID_IN * 5 // 10_000, 6, look.price("USDC")),
            "bars.0.is_whole": False,
            "reason": None,
            "sample": 2,
            "confidence": "low",
        },
        name="data_get_pool_volume_history_of_a_pool_that_is_followed",
        given=("the deepest pool is followed, and somebody buys WETH in it for 1,000 and for 2,000 USDC",),
        most_exchanges=8,
    ),
    ReadCase(
        "data_get_feed_history",
        {"token": "WETH"},
        {
            "price_now": lambda look: str(look.price("WETH") // 10**8),
            "past.data_points.#": 0,
            "past.is_followed": True,
            "past.source": "this server's index",
        },
        most_exchanges=6,
    ),
    ReadCase(
        "data_get_rate_history",
        {"protocol": "aave_v3", "token": "USDC"},
        {"token.symbol": "USDC", "past.data_points.#": 0, "past.is_followed": True, "is_simulated": False},
        refuses=(({"protocol": "uniswap"}, "NO_PAST_TOLD"),),
        most_exchanges=6,
    ),
)
