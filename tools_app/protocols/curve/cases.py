"""What the `curve_*` writes do on the local chain, in a pool of DAI, USDC and USDT in which all three cost a dollar.

LP tokens count in DAI, the first of three equal coins. WBTC is what the gauge pays there.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.curve.addresses import GAUGE, LOCAL_CHAIN_ID, LP, POOL, deployments
from tools_app.toolkit.case import About, Case, Look, ReadCase
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.told_figures import decimals_text

_WAD: Final = 10**18
_USD: Final = 10**6
_POOL: Final = {"pool": (deployments(LOCAL_CHAIN_ID) or {})[POOL]}
_EVEN: Final = [str(10_000 * _WAD), str(10_000 * _USD), str(10_000 * _USD)]
_NOWHERE: Final = ({"pool": "0x" + "11" * 20}, "CURVE_POOL_NOT_FOUND")
# What a day brings of ten base units a second, for about 30,000 of 4,830,000 LP tokens.
_EARNED: Final = About(10 * 86_400 * 30_000 // 4_830_000, 20)

CASES: Final = (
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
            ({"chain_id": 8453}, "CHAIN_NOT_SUPPORTED"),
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
            ({"lp_amount": "0"}, "INVALID_PARAMS"),
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
            ({"action": "lock"}, "INVALID_PARAMS"),
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
            "is_simulated": True,
        },
        refuses=(
            ({"asset": "NOTOKEN"}, "TOKEN_NOT_FOUND"),
            ({"pool": "0x" + "11" * 20}, "CURVE_POOL_NOT_FOUND"),
            ({"pool_type": "square"}, "INVALID_PARAMS"),
            ({"chain_id": 8453}, "CHAIN_NOT_SUPPORTED"),
        ),
        most_exchanges=10,
    ),
)
