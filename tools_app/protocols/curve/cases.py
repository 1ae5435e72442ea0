"""Describes, case by case, what the `curve_*` writes do on the local chain, in a pool of DAI, USDC and USDT in which
all three cost a dollar.

LP tokens count in DAI, the first of three equal coins. WBTC is what the gauge pays there.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.curve.addresses import CONVEX_REWARDS, GAUGE, LOCAL_CHAIN_ID, LP, POOL, deployments
from tools_app.toolkit.case import About, Case, Look, PutIn, ReadCase, TakeOut, Together
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import decimals_text

_WAD: Final = 10**18
_USD: Final = 10**6
_POOL: Final = {"pool": (deployments(LOCAL_CHAIN_ID) or {})[POOL]}
_EVEN: Final = [str(10_000 * _WAD), str(10_000 * _USD), str(10_000 * _USD)]
_NOWHERE: Final = ({"pool": "0x" + "11" * 20}, "CURVE_POOL_NOT_FOUND")
# What a day brings of ten base units a second, for about 30,000 of 5,730,000 LP tokens.
_EARNED: Final = About(10 * 86_400 * 30_000 // 5_730_000, 20)

# What a day brings at Convex of sixteen a second, for about 30,000 of 930,000 LP tokens; beside it half as many tokens.
_PAID: Final = About(16 * 86_400 * 30_000 // 930_000, 20)
_BESIDE: Final = About(_PAID.raw * 10**10 // 2, 20)

_CURVE_CASES: Final = (
    Case(
        "curve_add_liquidity",
        {**_POOL, "amounts": _EVEN},
        ActionClass.NEW_POSITION,
        moves={"DAI": -10_000 * _WAD, "USDC": -10_000 * _USD, "USDT": -10_000 * _USD},
        holds={"DAI": About(30_000 * _WAD, 1)},
        tells={"bonus_bps": 0, "lp_received": About(30_000 * _WAD, 1)},
        refuses=(
            _NOWHERE,
            ({"amounts": ["0", "0", "0"]}, "INVALID_PARAMS"),
            ({"amounts": ["5", "5"]}, "INVALID_PARAMS"),
            ({"amounts": [str(10**24), "0", "0"]}, "INSUFFICIENT_BALANCE"),
            ({"min_lp_tokens": str(40_000 * _WAD)}, "CURVE_SLIPPAGE_TOO_HIGH"),
        ),
        loses_bps=1,
    ),
    Case(
        "curve_add_liquidity",
        {**_POOL, "amounts": ["0", str(10_000 * _USD), "0"]},
        ActionClass.INCREASE_POSITION,
        name="curve_add_one_coin",
        after=("curve_add_liquidity",),
        moves={"USDC": -10_000 * _USD},
        holds={"DAI": About(10_000 * _WAD, 2)},
        loses_bps=2,
    ),
    Case(
        "curve_remove_liquidity",
        {**_POOL, "lp_amount": str(12_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        after=("curve_add_liquidity",),
        moves={"DAI": About(4_000 * _WAD, 10), "USDC": About(4_000 * _USD, 10), "USDT": About(4_000 * _USD, 10)},
        holds={"DAI": About(-12_000 * _WAD, 1)},
        tells={"lp_burned": str(12_000 * _WAD)},
        refuses=(
            _NOWHERE,
            ({"lp_amount": str(40_000 * _WAD)}, "CURVE_LP_MISSING"),
        ),
        loses_bps=1,
        gains_bps=1,
    ),
    Case(
        "curve_remove_liquidity",
        {**_POOL, "lp_amount": str(12_000 * _WAD), "single_coin": "USDC"},
        ActionClass.DECREASE_POSITION,
        name="curve_remove_one_coin",
        after=("curve_add_liquidity",),
        moves={"USDC": About(12_000 * _USD, 2)},
        holds={"DAI": About(-12_000 * _WAD, 1)},
        refuses=(({"single_coin": "WETH"}, "INVALID_PARAMS"),),
        loses_bps=2,
    ),
    Case(
        "curve_remove_liquidity",
        {**_POOL, "lp_amount": "max"},
        ActionClass.CLOSE_POSITION,
        name="curve_remove_all",
        after=("curve_add_liquidity",),
        moves={"DAI": About(10_000 * _WAD, 10), "USDC": About(10_000 * _USD, 10), "USDT": About(10_000 * _USD, 10)},
        holds={"DAI": About(-30_000 * _WAD, 1)},
        loses_bps=1,
        gains_bps=1,
    ),
    Case(
        "curve_stake_gauge",
        {**_POOL},
        ActionClass.INCREASE_POSITION,
        after=("curve_add_liquidity",),
        tells={"action": "stake", "amount": About(30_000 * _WAD, 1)},
        refuses=(
            _NOWHERE,
            ({"amount": str(40_000 * _WAD)}, "CURVE_LP_MISSING"),
            ({"action": "unstake"}, "CURVE_LP_MISSING"),
            ({"action": "claim"}, "CURVE_NOTHING_TO_CLAIM"),
        ),
    ),
    Case(
        "curve_stake_gauge",
        {**_POOL, "action": "unstake", "amount": str(9_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        name="curve_unstake",
        after=("curve_stake_gauge",),
        tells={"action": "unstake", "amount": str(9_000 * _WAD)},
        refuses=(({"amount": str(40_000 * _WAD)}, "CURVE_LP_MISSING"),),
    ),
    Case(
        "curve_stake_gauge",
        {**_POOL, "action": "claim"},
        ActionClass.DECREASE_POSITION,
        name="curve_claim",
        after=("curve_stake_gauge",),
        given=("a day has passed",),
        moves={"WBTC": _EARNED},
        holds={"WBTC": About(-_EARNED.raw, _EARNED.bps)},
        tells={"action": "claim"},
    ),
)

_CONVEX_CASES: Final = (
    Case(
        "convex_stake_lp",
        {**_POOL, "amount": "max"},
        ActionClass.INCREASE_POSITION,
        after=("curve_add_liquidity",),
        tells={"staked_amount": About(30_000 * _WAD, 1), "estimated_cvx_apy": None},
        refuses=(
            ({"pool": "0x" + "11" * 20}, "CONVEX_POOL_NOT_FOUND"),
            ({"amount": str(40_000 * _WAD)}, "CURVE_LP_MISSING"),
        ),
    ),
    Case(
        "convex_unstake_lp",
        {**_POOL, "amount": str(9_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        after=("convex_stake_lp",),
        given=("a day has passed",),
        moves={"WBTC": _PAID, "WETH": _BESIDE},
        holds={"WBTC": About(-_PAID.raw, _PAID.bps)},
        tells={"lp_returned": str(9_000 * _WAD)},
        refuses=(
            ({"pool": "0x" + "11" * 20}, "CONVEX_POOL_NOT_FOUND"),
            ({"amount": str(40_000 * _WAD)}, "CURVE_LP_MISSING"),
        ),
        gains_bps=400,
    ),
    Case(
        "convex_unstake_lp",
        {**_POOL, "amount": "max", "claim": False},
        ActionClass.DECREASE_POSITION,
        name="convex_unstake_alone",
        after=("convex_stake_lp",),
        tells={"rewards_claimed": []},
    ),
    Case(
        "convex_claim_rewards",
        {**_POOL},
        ActionClass.DECREASE_POSITION,
        after=("convex_stake_lp",),
        given=("a day has passed",),
        moves={"WBTC": _PAID, "WETH": _BESIDE},
        holds={"WBTC": About(-_PAID.raw, _PAID.bps)},
        refuses=(({"pool": "0x" + "11" * 20}, "CONVEX_POOL_NOT_FOUND"),),
        gains_bps=400,
    ),
)
CASES: Final = (*_CURVE_CASES, *_CONVEX_CASES)

TOGETHER: Final = (
    Together(
        "curve_remove_liquidity",
        {"lp_amount": str(16_000 * _WAD)},
        {"lp_amount": str(17_000 * _WAD)},
        {"lp_amount": str(5_000 * _WAD)},
        before="curve_add_liquidity",
    ),
)
_ALONE: Final = {**_POOL, "claim": False}
WALK: Final = (
    PutIn("curve_add_liquidity", "USDC", _POOL, "amounts", lambda raw: ["0", raw, "0"], loses_bps=5),
    TakeOut("convex_stake_lp", LP, "amount", _POOL),
    TakeOut("convex_unstake_lp", CONVEX_REWARDS, "amount", _ALONE),
    TakeOut("curve_stake_gauge", LP, "amount", _POOL),
    TakeOut("curve_stake_gauge", GAUGE, "amount", {**_POOL, "action": "unstake"}),
    TakeOut("curve_remove_liquidity", LP, "lp_amount", _POOL, loses_bps=5),
)

_BALANCES: Final = "function balances(uint256) view returns (uint256)"
_VIRTUAL: Final = "function get_virtual_price() view returns (uint256)"


def _tvl(look: Look) -> str:
    scaled = [
        int(look.call(look.at(POOL), _BALANCES, index)) * 10 ** (18 - places) * look.price(symbol)
        for index, (symbol, places) in enumerate((("DAI", 18), ("USDC", 6), ("USDT", 6)))
    ]
    return decimals_text(sum(each // 10**20 for each in scaled), _USD, 6)


def _virtual_price(look: Look) -> str:
    told = decimals_text(int(look.call(look.at(POOL), _VIRTUAL)), _WAD, 18)
    return told.rstrip("0")


_RATE: Final = "function rewardRate() view returns (uint256)"
_SUPPLY: Final = "function totalSupply() view returns (uint256)"


def _convex_rate(look: Look) -> str:
    place = look.at(CONVEX_REWARDS)
    paid = int(look.call(place, _RATE)) * 31_536_000 * look.price("WBTC") // 10**8
    worth = int(look.call(place, _SUPPLY)) * int(look.call(look.at(POOL), _VIRTUAL)) * look.price("DAI") // 10**36
    return decimals_text(100 * paid, worth, 2)


READS: Final = (
    ReadCase(
        "curve_get_pools",
        {"asset": "USDC"},
        {
            "pools.#": 1,
            "pools.0.address": lambda look: look.at(POOL),
            "pools.0.gauge": lambda look: look.at(GAUGE),
            "pools.0.lp_token": lambda look: look.at(LP),
            "pools.0.tvl_usd": _tvl,
            "pools.0.virtual_price": _virtual_price,
            "pools.0.amplification_coef": 2_000,
            "pools.0.coins.0.token.symbol": "DAI",
            "pools.0.coins_apart_bps": 0,
        },
        refuses=(({"pool": "0x" + "11" * 20}, "CURVE_POOL_NOT_FOUND"),),
        most_exchanges=10,
    ),
    ReadCase(
        "convex_get_pools",
        {"asset": "DAI"},
        {
            "pools.#": 1,
            "pools.0.pool": lambda look: look.at(POOL),
            "pools.0.curve_lp_token": lambda look: look.at(LP),
            "pools.0.crv_apy": _convex_rate,
            "pools.0.cvx_apy": None,
            "pools.0.extra_apy": "0",
        },
        most_exchanges=12,
    ),
)
