"""What the Uniswap writes do on the local chain, on Uniswap's own code, where a WETH is worth 3,000 USDC."""

from __future__ import annotations

from typing import Final

from eth_utils.crypto import keccak

from tools_app.protocols.uniswap.position_changes import FEE_DUST
from tools_app.toolkit.case import About, Case, FromReport, Look, ReadCase, Together
from tools_app.toolkit.enums import ActionClass

_ETH: Final = 10**18
_USD: Final = 10**6
_POOL: Final = {"token0": "WETH", "token1": "USDC", "price_lower": "2700", "price_upper": "3300", "fee": 500}
_POSITION: Final = {"position_id": FromReport("position_id")}
_HALF: Final = 2_000
_MINT: Final = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
_INCREASE: Final = "increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))"
_LEAST: Final = "one unit of what goes in at least; which of it the price decides, and neither may be left unbounded"
_STAYS: Final = "so little more is within what the plan takes of the token, and within what it says may stay allowed"
_ROOM: Final = "so little more is within what surely comes out, and what the permit promises to be left over"
_MODIFY: Final = "modifyLiquidities(bytes,uint256)"
_BESIDE: Final = "eight ticks are less than a tenth of a percent, within what the plan lets the price move"
_MORE: Final = "so little more liquidity that what it costs is within what the plan allows"
_LIQUIDITY: Final = "so little of the liquidity that what leaves the position is within what the plan promises"
_OVER_WETH: Final = _ETH // 10
_OVER_USDC: Final = 300 * _USD
"""About what a rebalance leaves in the wallet: what comes out only if the price does not move."""
_BATCH: Final = (
    '[{"op_type": "add", "params": {"token0": "WETH", "token1": "USDC", "price_lower": "2700", "price_upper": "3300",'
    ' "fee": 500, "amount0": "1000000000000000000"}}]'
)
_FEE_HOOK: Final = "0x4444444444444444444444444444444444445080"
_V4_POOL: Final = "0x8e52ce01c11892f7c9bafaa9ab75bf6bace0d82a2525dcde3dc9e6750bc30f23"
_V4_COIN_POOL: Final = "0xa607839ebb6fe030c5f56a5d5154b4a62ede53723052fb38b074bdb8ab0554de"
_NO_INCENTIVE: Final = ":".join(["0x" + "11" * 20, "0x" + "22" * 20, "1", "2", "0x" + "33" * 20])
_A_DAY: Final = About(622 * 10**15, 100)
"""A day's 1,000 DAI by the share of all liquidity in the pool's range; the suite's own test works it out."""
_NOT_OWN: Final = ({"position_id": "999999"}, "POSITION_NOT_FOUND")

_UNISWAP_CASES: Final = (
    Case(
        "uniswap_execute_swap",
        {"token_in": "USDC", "token_out": "WETH", "amount": str(3_000 * _USD)},
        ActionClass.INCREASE_POSITION,
        moves={"USDC": -3_000 * _USD, "WETH": About(_ETH, 100)},
        refuses=(
            ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
            ({"token_out": "USDC"}, "ROUTING_SAME_TOKEN"),
        ),
        loses_bps=100,
    ),
    Case(
        "uniswap_execute_swap",
        {"token_in": "USDC", "token_out": "WETH", "amount": str(_ETH), "exact_output": True},
        ActionClass.INCREASE_POSITION,
        name="uniswap_swap_exact_output",
        moves={"USDC": About(-3_000 * _USD, 100), "WETH": _ETH},
        loses_bps=100,
    ),
    Case(
        "uniswap_execute_swap",
        {"token_in": "ETH", "token_out": "USDC", "amount": str(_ETH)},
        ActionClass.DECREASE_POSITION,
        name="uniswap_swap_coin",
        moves={"ETH": -_ETH, "USDC": About(3_000 * _USD, 100)},
        loses_bps=100,
    ),
    Case(
        "uniswap_execute_swap",
        {"token_in": "WETH", "token_out": "USDT", "amount": str(_ETH)},
        ActionClass.REBALANCE,
        name="uniswap_swap_v2",
        moves={"WETH": -_ETH, "USDT": About(3_000 * _USD, 200)},
        loses_bps=300,
    ),
    Case(
        "uniswap_execute_swap",
        {"token_in": "USDC", "token_out": "DAI", "amount": str(3_000 * _USD), "route": "v4:100"},
        ActionClass.INCREASE_POSITION,
        name="uniswap_swap_v4",
        moves={"USDC": -3_000 * _USD, "DAI": About(3_000 * _ETH, 100)},
        loses_bps=100,
    ),
    Case(
        "uniswap_execute_swap",
        {"token_in": "ETH", "token_out": "DAI", "amount": str(_ETH), "route": "v4:500>USDC>v4:100"},
        ActionClass.REBALANCE,
        name="uniswap_swap_v4_coin",
        moves={"ETH": -_ETH, "DAI": About(3_000 * _ETH, 100)},
        loses_bps=100,
    ),
    Case(
        "uniswap_execute_swap",
        {
            "token_in": "USDC",
            "token_out": "WETH",
            "amount": str(_ETH),
            "exact_output": True,
            "route": "v4:500",
        },
        ActionClass.INCREASE_POSITION,
        name="uniswap_swap_v4_exact_output",
        moves={"USDC": About(-3_000 * _USD, 100), "WETH": _ETH},
        loses_bps=100,
    ),
    Case(
        "uniswap_lp_add_liquidity",
        {**_POOL, "amount0": str(2 * _ETH)},
        ActionClass.NEW_POSITION,
        moves={"WETH": About(-2 * _ETH, 1), "USDC": About(-6_000 * _USD, _HALF)},
        holds={"WETH": About(2 * _ETH, 50), "USDC": About(6_000 * _USD, _HALF)},
        refuses=(({"amount0": str(10**24)}, "INSUFFICIENT_BALANCE"), ({"token1": "WETH"}, "INVALID_PARAMS")),
        meaningless={(_MINT, 7): _LEAST, (_MINT, 8): _LEAST},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_increase_liquidity",
        {**_POSITION, "amount0": str(_ETH)},
        ActionClass.INCREASE_POSITION,
        after=("uniswap_lp_add_liquidity",),
        refuses=(_NOT_OWN,),
        meaningless={(_INCREASE, 3): _LEAST, (_INCREASE, 4): _LEAST},
        moves={"WETH": About(-_ETH, 1), "USDC": About(-3_000 * _USD, _HALF)},
        holds={"WETH": About(_ETH, 50), "USDC": About(3_000 * _USD, _HALF)},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_remove_liquidity",
        {**_POSITION, "percent_to_remove": 40},
        ActionClass.DECREASE_POSITION,
        after=("uniswap_lp_add_liquidity",),
        moves={"WETH": About(800 * _ETH // 1_000, 50), "USDC": About(2_400 * _USD, _HALF)},
        holds={"WETH": About(-800 * _ETH // 1_000, 50), "USDC": About(-2_400 * _USD, _HALF)},
        refuses=(_NOT_OWN,),
        meaningless={("multicall(bytes[])", 6): _LIQUIDITY},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_remove_liquidity",
        _POSITION,
        ActionClass.CLOSE_POSITION,
        name="uniswap_lp_remove_all",
        after=("uniswap_lp_add_liquidity",),
        moves={"WETH": About(2 * _ETH, 50), "USDC": About(6_000 * _USD, _HALF)},
        holds={"WETH": About(-2 * _ETH, 50), "USDC": About(-6_000 * _USD, _HALF)},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_collect_fees",
        _POSITION,
        ActionClass.DECREASE_POSITION,
        after=("uniswap_lp_add_liquidity",),
        given=("others trade back and forth through the pool",),
        moves={"WETH": About(10**15, 9_900), "USDC": About(3 * _USD, 9_900)},
        holds={"WETH": About(-(10**15), 9_900), "USDC": About(-3 * _USD, 9_900)},
        refuses=(_NOT_OWN,),
    ),
    Case(
        "uniswap_lp_add_liquidity",
        {
            "token0": "DAI",
            "token1": "USDC",
            "price_lower": "0.9",
            "price_upper": "1.1",
            "pool": _V4_POOL,
            "amount0": str(3_000 * _ETH),
        },
        ActionClass.NEW_POSITION,
        name="uniswap_lp_add_v4",
        meaningless={(_MODIFY, 16): _BESIDE, (_MODIFY, 17): _BESIDE, (_MODIFY, 18): _MORE},
        moves={"DAI": About(-2_840 * _ETH, 600), "USDC": About(-3_000 * _USD, 1_500)},
        holds={"DAI": About(2_840 * _ETH, 600), "USDC": About(3_000 * _USD, 1_500)},
        refuses=(
            ({"amount0": str(10**24)}, "INSUFFICIENT_BALANCE"),
            ({"token1": "WETH"}, "INVALID_PARAMS"),
            ({"pool": "0x" + "ab" * 32}, "POOL_NOT_FOUND"),
            ({"price_lower": "1.2"}, "INVALID_RANGE"),
        ),
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_add_liquidity",
        {
            "token0": "ETH",
            "token1": "USDC",
            "price_lower": "2700",
            "price_upper": "3300",
            "pool": _V4_COIN_POOL,
            "amount0": str(_ETH),
        },
        ActionClass.NEW_POSITION,
        name="uniswap_lp_add_v4_coin",
        meaningless={(_MODIFY, 19): _MORE},
        moves={"ETH": About(-95 * _ETH // 100, 600), "USDC": About(-2_900 * _USD, 1_500)},
        holds={"ETH": About(95 * _ETH // 100, 600), "USDC": About(2_900 * _USD, 1_500)},
        refuses=(({"token0": "WETH"}, "INVALID_PARAMS"),),
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_increase_liquidity",
        {**_POSITION, "amount0": str(_ETH // 2)},
        ActionClass.INCREASE_POSITION,
        name="uniswap_lp_increase_v4",
        after=("uniswap_lp_add_v4_coin",),
        refuses=(({"position_id": "v4:999999"}, "POSITION_NOT_FOUND"),),
        meaningless={(_MODIFY, 14): _MORE},
        moves={"ETH": About(-47 * _ETH // 100, 600), "USDC": About(-1_450 * _USD, 1_500)},
        holds={"ETH": About(47 * _ETH // 100, 600), "USDC": About(1_450 * _USD, 1_500)},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_remove_liquidity",
        {**_POSITION, "percent_to_remove": 40},
        ActionClass.DECREASE_POSITION,
        name="uniswap_lp_remove_v4",
        after=("uniswap_lp_add_v4",),
        meaningless={(_MODIFY, 12): _LIQUIDITY},
        moves={"DAI": About(1_136 * _ETH, 600), "USDC": About(1_200 * _USD, 1_500)},
        holds={"DAI": About(-1_136 * _ETH, 600), "USDC": About(-1_200 * _USD, 1_500)},
        refuses=(({"position_id": "v4:999999"}, "POSITION_NOT_FOUND"), ({"collect_fees": False}, "INVALID_PARAMS")),
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_remove_liquidity",
        _POSITION,
        ActionClass.CLOSE_POSITION,
        name="uniswap_lp_burn_v4_coin",
        after=("uniswap_lp_add_v4_coin",),
        moves={"ETH": About(95 * _ETH // 100, 600), "USDC": About(2_900 * _USD, 1_500)},
        holds={"ETH": About(-95 * _ETH // 100, 600), "USDC": About(-2_900 * _USD, 1_500)},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_collect_fees",
        _POSITION,
        ActionClass.DECREASE_POSITION,
        name="uniswap_lp_collect_v4",
        after=("uniswap_lp_add_v4_coin",),
        given=("others trade back and forth through the pool of the coin",),
        moves={"ETH": About(10**13, 9_900), "USDC": About(30_000, 9_900)},
        holds={"ETH": About(-(10**13), 9_900), "USDC": About(-30_000, 9_900)},
        refuses=(({"position_id": "v4:999999"}, "POSITION_NOT_FOUND"),),
    ),
    Case(
        "uniswap_lp_rebalance_position",
        {**_POSITION, "new_price_lower": "2850", "new_price_upper": "3142"},
        ActionClass.REBALANCE,
        after=("uniswap_lp_add_liquidity",),
        moves={"WETH": About(_OVER_WETH, 4_000), "USDC": About(_OVER_USDC, 4_000)},
        holds={"WETH": About(-_OVER_WETH, 4_000), "USDC": About(-_OVER_USDC, 4_000)},
        refuses=(
            _NOT_OWN,
            ({"new_price_lower": "2700", "new_price_upper": "3300"}, "INVALID_RANGE"),
            ({"new_price_lower": "3600", "new_price_upper": "2500"}, "INVALID_RANGE"),
        ),
        meaningless={("multicall(bytes[])", 26): _LEAST},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_rebalance_position",
        {**_POSITION, "new_price_lower": "3200", "new_price_upper": "3600"},
        ActionClass.REBALANCE,
        name="uniswap_lp_rebalance_with_a_swap",
        after=("uniswap_lp_add_liquidity",),
        moves={"WETH": About(_OVER_WETH, 4_000), "USDC": About(_OVER_USDC, 4_000)},
        holds={"WETH": About(2 * _ETH, 50), "USDC": About(-6_655 * _USD, 50)},
        meaningless={(_MINT, 5): _ROOM},
        loses_bps=50,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_migrate_position",
        _POSITION,
        ActionClass.REBALANCE,
        after=("uniswap_lp_add_liquidity",),
        moves={"USDC": About(650 * _USD, 2_000), "ETH": About(_ETH // 5, 2_000)},
        holds={
            "WETH": About(-2 * _ETH, 100),
            "ETH": About(18 * _ETH // 10, 300),
            "USDC": About(-650 * _USD, 2_000),
        },
        refuses=(
            _NOT_OWN,
            ({"target_fee": 10_000}, "POOL_NOT_FOUND"),
        ),
        meaningless={(_MODIFY, 19): _MORE, (_MODIFY, 21): _ROOM},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_rebalance_position",
        {**_POSITION, "new_price_lower": "2850", "new_price_upper": "3142"},
        ActionClass.REBALANCE,
        name="uniswap_lp_rebalance_v4",
        after=("uniswap_lp_add_v4_coin",),
        moves={"ETH": About(140 * _ETH // 1_000, 2_000), "USDC": About(480 * _USD, 2_000)},
        holds={"ETH": About(-140 * _ETH // 1_000, 2_000), "USDC": About(-480 * _USD, 2_000)},
        meaningless={(_MODIFY, 19): _MORE, (_MODIFY, 21): _ROOM},
        refuses=(({"fee": 3_000}, "INVALID_PARAMS"), ({"position_id": "v4:999999"}, "POSITION_NOT_FOUND")),
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_compound_fees",
        {**_POSITION, "swap_to_optimal_ratio": False},
        ActionClass.REBALANCE,
        after=("uniswap_lp_add_liquidity",),
        given=("others trade back and forth through the pool",),
        moves={"WETH": About(3 * 10**12, 9_000), "USDC": FEE_DUST},
        holds={"WETH": About(-3 * 10**12, 9_000), "USDC": -FEE_DUST},
        refuses=(_NOT_OWN,),
        meaningless={("multicall(bytes[])", 14): _LEAST},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_compound_fees",
        _POSITION,
        ActionClass.REBALANCE,
        name="uniswap_lp_compound_with_a_swap",
        after=("uniswap_lp_add_liquidity",),
        given=("others trade back and forth through the pool",),
        moves={"WETH": About(10**10, 9_000), "USDC": About(FEE_DUST, 5_000)},
        holds={"WETH": About(-(10**12), 9_900), "USDC": About(3_000, 9_900)},
        meaningless={
            ("approve(address,uint256)", 1): _STAYS,
            (_INCREASE, 3): _LEAST,
            (_INCREASE, 4): _LEAST,
        },
        loses_bps=50,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_batch_operations",
        {"operations": _BATCH},
        ActionClass.NEW_POSITION,
        after=("uniswap_lp_add_liquidity",),
        moves={"WETH": About(-_ETH, 1), "USDC": About(-3_000 * _USD, _HALF)},
        holds={"WETH": About(_ETH, 50), "USDC": About(3_000 * _USD, _HALF)},
        refuses=(
            ({"operations": _BATCH.replace("WETH", "USDC")}, "INVALID_PARAMS"),
            ({"operations": "[]"}, "INVALID_PARAMS"),
            ({"operations": "{"}, "INVALID_PARAMS"),
            ({"operations": '[{"op_type": "collect", "position_id": "999999"}]'}, "POSITION_NOT_FOUND"),
            ({"operations": '[{"op_type": "burn", "position_id": "1"}]'}, "INVALID_PARAMS"),
        ),
        meaningless={(_MINT, 7): _LEAST, (_MINT, 8): _LEAST},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_remove_shares",
        {"pair": FromReport("pair"), "percent_to_remove": 40},
        ActionClass.DECREASE_POSITION,
        given=("somebody gives it shares of the pair of WETH and USDC",),
        moves={"WETH": About(4 * _ETH // 10, 100), "USDC": About(1_200 * _USD, 100)},
        holds={"WETH": About(-4 * _ETH // 10, 100), "USDC": About(-1_200 * _USD, 100)},
        refuses=(({"pair": "0x" + "11" * 20}, "POSITION_NOT_FOUND"),),
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_lp_remove_shares",
        {"pair": FromReport("pair")},
        ActionClass.CLOSE_POSITION,
        name="uniswap_lp_remove_all_shares",
        given=("somebody gives it shares of the pair of WETH and USDC",),
        moves={"WETH": About(_ETH, 100), "USDC": About(3_000 * _USD, 100)},
        holds={"WETH": About(-_ETH, 100), "USDC": About(-3_000 * _USD, 100)},
        loses_bps=10,
        gains_bps=10,
    ),
    *(
        Case(
            tool,
            {"token_in": "USDC", "token_out": "WETH", "amount": str(3_000 * _USD)},
            ActionClass.INCREASE_POSITION,
            moves={"USDC": -3_000 * _USD, "WETH": About(_ETH, 100)},
            refuses=(({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"), ({"token_out": "USDC"}, "ROUTING_SAME_TOKEN")),
            loses_bps=100,
        )
        for tool in ("uniswap_api_create_swap_calldata", "uniswap_api_batch_swap")
    ),
    Case(
        "uniswap_api_create_delegated_swap",
        {
            "token_in": "USDC",
            "token_out": "WETH",
            "amount": str(3_000 * _USD),
            "delegation_address": "0x" + "5e" * 20,
        },
        ActionClass.INCREASE_POSITION,
        refused="ACCOUNT_NOT_DELEGATED",
    ),
    Case(
        "uniswap_api_create_lp_position",
        {**_POOL, "amount0": str(2 * _ETH)},
        ActionClass.NEW_POSITION,
        moves={"WETH": About(-2 * _ETH, 1), "USDC": About(-6_000 * _USD, _HALF)},
        holds={"WETH": About(2 * _ETH, 50), "USDC": About(6_000 * _USD, _HALF)},
        refuses=(({"amount0": str(10**24)}, "INSUFFICIENT_BALANCE"), ({"token1": "WETH"}, "INVALID_PARAMS")),
        meaningless={(_MINT, 7): _LEAST, (_MINT, 8): _LEAST},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_api_increase_lp_position",
        {**_POSITION, "amount0": str(_ETH)},
        ActionClass.INCREASE_POSITION,
        after=("uniswap_lp_add_liquidity",),
        refuses=(_NOT_OWN,),
        meaningless={(_INCREASE, 3): _LEAST, (_INCREASE, 4): _LEAST},
        moves={"WETH": About(-_ETH, 1), "USDC": About(-3_000 * _USD, _HALF)},
        holds={"WETH": About(_ETH, 50), "USDC": About(3_000 * _USD, _HALF)},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_api_decrease_lp_position",
        {**_POSITION, "liquidity_pct": 40},
        ActionClass.DECREASE_POSITION,
        after=("uniswap_lp_add_liquidity",),
        moves={"WETH": About(800 * _ETH // 1_000, 50), "USDC": About(2_400 * _USD, _HALF)},
        holds={"WETH": About(-800 * _ETH // 1_000, 50), "USDC": About(-2_400 * _USD, _HALF)},
        refuses=(_NOT_OWN,),
        meaningless={("multicall(bytes[])", 6): _LIQUIDITY},
        loses_bps=10,
        gains_bps=10,
    ),
    Case(
        "uniswap_api_claim_lp_fees",
        _POSITION,
        ActionClass.DECREASE_POSITION,
        after=("uniswap_lp_add_liquidity",),
        given=("others trade back and forth through the pool",),
        moves={"WETH": About(10**15, 9_900), "USDC": About(3 * _USD, 9_900)},
        holds={"WETH": About(-(10**15), 9_900), "USDC": About(-3 * _USD, 9_900)},
        refuses=(_NOT_OWN,),
    ),
)

_QUOTE: Final = (
    "function quoteExactInputSingle((address, address, uint256, uint24, uint160)) returns (uint256, uint160, uint32,"
    " uint256)"
)
_ALLOWED: Final = "function allowance(address, address) view returns (uint256)"
_SWAP: Final = {"token_in": "USDC", "token_out": "WETH", "amount": str(3_000 * _USD)}
_SOME_HASH: Final = "0x" + "5e" * 32


def _quoted(look: Look) -> int:
    """What Uniswap's own quoter says of the pool with the lowest fee."""
    asked = (look.token("USDC"), look.token("WETH"), 3_000 * _USD, 500, 0)
    return int(look.call(look.at("v3_quoter"), _QUOTE, asked)[0])


_VIEW: Final = "0x173FC424ab12D2f4ec76E5aB754036001D641fda"
"""What tells of V4's pools on the local chain."""


def _v4_pool(look: Look) -> str:
    """The id of the V4 pool of DAI and USDC at 0.01%, from its five words."""
    first, second = sorted((look.token("DAI"), look.token("USDC")), key=lambda address: int(address, 16))
    words = (int(first, 16), int(second, 16), 100, 1, 0)
    return "0x" + keccak(b"".join(word.to_bytes(32, "big") for word in words)).hex()


def _small_in(look: Look) -> int:
    """A ten-thousandth of what lies at the price of that pool, of its first token."""
    name = bytes.fromhex(_v4_pool(look)[2:])
    price = look.call(_VIEW, "function getSlot0(bytes32) view returns (uint160, int24, uint24, uint24)", name)[0]
    liquidity = look.call(_VIEW, "function getLiquidity(bytes32) view returns (uint128)", name)
    return int(liquidity) * 2**96 // int(price) // 10_000


_MINING_CASES: Final = (
    Case(
        "uniswap_lp_stake_position",
        _POSITION,
        ActionClass.REBALANCE,
        after=("uniswap_lp_add_liquidity",),
        given=("a campaign pays 1,000 DAI a day for liquidity",),
        refuses=(
            _NOT_OWN,
            ({"incentive": _NO_INCENTIVE}, "INCENTIVE_NOT_FOUND"),
        ),
    ),
    Case(
        "uniswap_lp_claim_rewards",
        _POSITION,
        ActionClass.DECREASE_POSITION,
        after=("uniswap_lp_stake_position",),
        given=("a day has passed",),
        moves={"DAI": _A_DAY},
        tells={"is_still_staked": True},
        refuses=(
            ({"position_id": "999999"}, "NO_REWARDS"),
            ({"reward_contract": "0x" + "11" * 20}, "REWARD_CONTRACT_UNKNOWN"),
            ({"position_id": None}, "REWARD_CONTRACT_UNKNOWN"),
        ),
        gains_bps=10_000,
    ),
    Case(
        "uniswap_lp_harvest_rewards",
        {},
        ActionClass.DECREASE_POSITION,
        after=("uniswap_lp_stake_position",),
        given=("a day has passed",),
        moves={"DAI": _A_DAY},
        tells={"came_back": []},
        refuses=(({"positions": ["999999"]}, "NO_REWARDS"),),
        gains_bps=10_000,
    ),
    Case(
        "uniswap_lp_unstake_position",
        _POSITION,
        ActionClass.DECREASE_POSITION,
        after=("uniswap_lp_stake_position",),
        given=("a day has passed",),
        moves={"DAI": _A_DAY},
        tells={"left_at_staker": []},
        refuses=(_NOT_OWN,),
        gains_bps=10_000,
    ),
    Case(
        "uniswap_lp_claim_rewards",
        {"listed_claim": FromReport("listed_claim")},
        ActionClass.DECREASE_POSITION,
        name="uniswap_lp_claim_listed",
        given=("a campaign's list owes it 250 DAI",),
        moves={"DAI": 250 * _ETH},
        refuses=(
            ({"listed_claim": FromReport("listed_other")}, "CLAIM_NOT_LISTED"),
            ({"listed_claim": "7"}, "INVALID_PARAMS"),
        ),
        gains_bps=10_000,
    ),
)
_SDK_CASES: Final = (
    Case(
        "uniswap_sdk_swap",
        {"token_in": "USDC", "token_out": "WETH", "amount": str(3_000 * _USD)},
        ActionClass.INCREASE_POSITION,
        moves={"USDC": -3_000 * _USD, "WETH": About(_ETH, 100)},
        refuses=(
            ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
            ({"token_in": "ETH", "token_out": "USDC", "amount": str(_ETH)}, "INVALID_PARAMS"),
        ),
        loses_bps=100,
    ),
)
CASES: Final = (*_UNISWAP_CASES, *_MINING_CASES, *_SDK_CASES)

TOGETHER: Final = (
    Together(
        "uniswap_lp_remove_liquidity",
        {"percent_to_remove": 60},
        {"percent_to_remove": 70},
        {"percent_to_remove": 30},
        before="uniswap_lp_add_liquidity",
    ),
    Together(
        "uniswap_lp_remove_liquidity",
        {"percent_to_remove": 60},
        {"percent_to_remove": 70},
        {"percent_to_remove": 30},
        before="uniswap_lp_add_v4",
    ),
    Together(
        "uniswap_lp_remove_shares", {"percent_to_remove": 60}, {"percent_to_remove": 70}, {"percent_to_remove": 30}
    ),
)

_OWED: Final = (
    "function getRewardInfo((address,address,uint256,uint256,address),uint256) view returns (uint256 reward, uint160)"
)


def _owed_now(look: Look) -> int:
    token, pool, starts, ends, refundee = str(look.told("incentive")).split(":")
    key = (token, pool, int(starts), int(ends), refundee)
    return int(look.call(look.at("v3_staker"), _OWED, key, int(look.told("position_id")))[0])


_READS_OF_MINING: Final = (
    ReadCase(
        "uniswap_lp_get_rewards",
        _POSITION,
        {
            "positions.#": 1,
            "positions.0.unknown_incentives": 0,
            "positions.0.stakes.0.owed": _owed_now,
            "positions.0.stakes.0.incentive": lambda look: look.told("incentive"),
            "running.0.stakes": 1,
            "running.0.left": 365_000 * _ETH,
            "credited.#": 0,
        },
        after=("uniswap_lp_stake_position",),
        given=("a day has passed",),
        refuses=(({"position_id": "999999"}, "POSITION_NOT_FOUND"), ({"chain_id": 56}, "CHAIN_NOT_SUPPORTED")),
        most_exchanges=14,
    ),
)
_READS: Final = (
    ReadCase(
        "stream_position_alerts",
        {"position_id": FromReport("position_id"), "chain_id": 31_337},
        {"event": "position:alert", "interval_ms": 30_000, "chain_ids": lambda look: [look.chain_id]},
        after=("uniswap_lp_add_liquidity",),
        refuses=(
            ({"position_id": "999999"}, "POSITION_NOT_FOUND"),
            ({"out_of_range_alert": False}, "INVALID_PARAMS"),
        ),
        most_exchanges=6,
    ),
    ReadCase(
        "hook_discover",
        tells={
            "pools.#": 1,
            "total": 1,
            "pools.0.hook": _FEE_HOOK,
            "pools.0.fee_tier": None,
            "pools.0.needs_owners": True,
        },
        refuses=(
            ({"chain_id": 999_999}, "CHAIN_NOT_SUPPORTED"),
            ({"token_a": "NOTOKEN", "token_b": "DAI"}, "TOKEN_NOT_FOUND"),
        ),
    ),
    ReadCase(
        "hook_evaluate",
        {"pool": _V4_POOL},
        {
            "pool": _v4_pool,
            "hook": None,
            "danger": "NO_HOOK",
            "swaps.#": 2,
            "swaps.0.amount_in": _small_in,
            "leaving.succeeds": True,
            "leaving.taken_bps": 0,
        },
        refuses=(({"pool": "0x" + "ab" * 32}, "POOL_NOT_FOUND"),),
        most_exchanges=12,
    ),
    ReadCase(
        "hook_get_template",
        {"kind": "counter"},
        {"address_bits": "0x0040", "license": "MIT", "is_audited": False, "callbacks.0": "afterSwap"},
    ),
    ReadCase(
        "uniswap_get_quote",
        _SWAP,
        {
            "amount_out": _quoted,
            # Half a percent less, as is usual.
            "minimum_amount_out": lambda look: _quoted(look) * 9_950 // 10_000,
            "route.#": 1,
            "route.0.fee_tier": 500,
            "lp_fee_bps": 5,
        },
        refuses=(({"token_out": "USDC"}, "ROUTING_SAME_TOKEN"),),
        most_exchanges=5,
    ),
    ReadCase(
        "uniswap_check_allowance",
        {"token": "USDC", "amount": str(_USD)},
        {
            "allowance": lambda look: look.call(look.token("USDC"), _ALLOWED, look.account, look.at("v3_router")),
            "balance": lambda look: look.balance("USDC"),
            "sufficient": False,
            "needs_approval": True,
        },
    ),
    ReadCase(
        "uniswap_api_get_quote",
        _SWAP,
        {
            "amount_out": _quoted,
            "routing_type": "CLASSIC",
            "permit_data": None,
            "source.untrusted": True,
        },
        most_exchanges=12,
    ),
    ReadCase(
        "uniswap_api_check_approval",
        {"token": "USDC", "amount": str(_USD)},
        {"all_approved": False, "token_approvals.0.spender_name": "Permit2", "token_approvals.0.is_unlimited": True},
    ),
    ReadCase(
        "uniswap_api_get_orders",
        {"order_status": "open"},
        {"orders.#": 1, "orders.0.status": "open", "source.untrusted": True},
        refuses=(({"order_id": _SOME_HASH}, "FOREIGN_ANSWER_UNFIT"),),
    ),
    ReadCase(
        "uniswap_api_check_swap_status",
        {"transaction_hashes": [_SOME_HASH]},
        {"swaps.#": 1, "swaps.0.status": "SUCCESS"},
    ),
    ReadCase(
        "uniswap_api_get_limit_order_quote",
        {**_SWAP, "limit_price": "0.0004"},
        {"routing_type": "LIMIT_ORDER", "amount_in": 3_000 * _USD},
    ),
    ReadCase(
        "uniswap_api_get_lp_pool_info",
        {"pool_id": _SOME_HASH},
        {"token0": lambda look: look.token("USDC"), "fee_tier": 500, "tvl": None},
        refuses=(({"pool_id": None}, "INVALID_PARAMS"),),
    ),
    ReadCase(
        "uniswap_api_check_wallet_delegation",
        {"chain_ids": [1, 8453]},
        {"delegations.#": 2, "delegations.0.delegated": True, "delegations.1.delegated": None},
    ),
    ReadCase(
        "uniswap_api_create_token_transfer",
        {"token": "USDC", "recipient": "0x000000000000000000000000000000000000dEaD", "amount": "5"},
        {"is_plain": True, "to": lambda look: look.token("USDC"), "value": "0", "calldata": None},
    ),
    ReadCase(
        "uniswap_api_get_bridgeable_tokens",
        {"token_in": "USDC"},
        {"destinations.#": 1, "destinations.0.chain_id": 8_453, "destinations.0.bridge_protocol": None},
    ),
    ReadCase(
        "uniswap_api_migrate_liquidity",
        {"position_id": "5"},
        {"is_available": False},
    ),
    ReadCase(
        "uniswap_api_claim_rewards",
        {"position_id": "5"},
        {"is_available": False},
    ),
)
_READS_OF_SDK: Final = (
    ReadCase(
        "uniswap_get_second_opinion",
        _SWAP,
        {"ours.amount_out": _quoted, "sdk.amount_out": _quoted, "sdk_said": _quoted, "sdk_gives_more_bps": 0},
        refuses=(({"token_out": "USDC"}, "ROUTING_SAME_TOKEN"),),
        most_exchanges=9,
    ),
)
READS: Final = (*_READS, *_READS_OF_MINING, *_READS_OF_SDK)
