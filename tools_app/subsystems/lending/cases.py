"""Describes, case by case, what the `lending_*` writes do on the local chain, at the lender that stands there with
every market.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from tools_app.toolkit.case import About, Case, FromReport, Look, ReadCase
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import compounded_percent, dollars

_ETH: Final = 10**18
_USD: Final = 10**6
_LENDER: Final = {"protocol": "aave"}
_PAIR: Final = {**_LENDER, "collateral_asset": "WETH", "borrow_asset": "USDC"}
_OWN: Final = {**_LENDER, "account": FromReport("account")}
_REPLACED: Final = {
    ("approve(address,uint256)", 1): "of what one round leaves of an approval the next round's takes the place"
}
_RESTS: Final = {
    ("withdraw(address,uint256,address)", 1): "what is taken out first, the last withdrawal takes out less"
}
_STRANGER: Final = ({"account": "0x" + "11" * 20}, "INVALID_PARAMS")

CASES: Final = (
    Case(
        "lending_execute_leverage_loop",
        {**_PAIR, "initial_amount": str(4 * _ETH), "target_leverage": "1.8"},
        ActionClass.INCREASE_POSITION,
        moves={"WETH": About(-4 * _ETH, 100)},
        holds={"WETH": About(72 * _ETH // 10, 100)},
        owes={"USDC": About(9_600 * _USD, 100)},
        refuses=(
            ({"target_leverage": "4"}, "LEVERAGE_OUT_OF_REACH"),
            ({"borrow_asset": "WETH"}, "MARKET_NOT_FOUND"),
            ({"initial_amount": str(10**24)}, "INSUFFICIENT_BALANCE"),
        ),
        meaningless=_REPLACED,
        loses_bps=100,
    ),
    Case(
        "lending_unwind_loop",
        {**_OWN, "percent_to_unwind": 50},
        ActionClass.DECREASE_POSITION,
        after=("lending_execute_leverage_loop",),
        moves={"USDC": About(24 * _USD, 9_900)},
        holds={"WETH": About(-16 * _ETH // 10, 200)},
        owes={"USDC": About(-4_800 * _USD, 100)},
        refuses=(_STRANGER,),
        loses_bps=100,
    ),
    Case(
        "lending_unwind_loop",
        {**_OWN, "percent_to_unwind": 100},
        ActionClass.CLOSE_POSITION,
        name="lending_unwind_all",
        after=("lending_execute_leverage_loop",),
        moves={"WETH": About(4 * _ETH, 200), "USDC": About(48 * _USD, 9_900)},
        holds={"WETH": About(-72 * _ETH // 10, 100)},
        owes={"USDC": About(-9_600 * _USD, 100)},
        meaningless={**_REPLACED, **_RESTS},
        loses_bps=100,
    ),
    Case(
        "lending_auto_deleverage",
        {**_OWN, "target_health_factor": "2.5"},
        ActionClass.DECREASE_POSITION,
        after=("lending_execute_leverage_loop",),
        moves={"USDC": About(24 * _USD, 9_900)},
        holds={"WETH": About(-13 * _ETH // 10, 2_000)},
        owes={"USDC": About(-3_900 * _USD, 2_000)},
        refuses=(_STRANGER, ({"target_health_factor": "1.1"}, "LENDING_NOTHING_THERE")),
        loses_bps=100,
    ),
    Case(
        "lending_flash_loan",
        {"asset": "USDC", "amount": str(1_000 * _USD), "receiver_calldata": "0x", "provider": "aave"},
        ActionClass.REBALANCE,
        refused="FLASH_LOAN_NEEDS_CONTRACT",
    ),
)

_TOKENS: Final = "function getReserveTokensAddresses(address) view returns (address, address, address)"
_SUPPLY: Final = "function totalSupply() view returns (uint256)"
_RESERVE: Final = (
    "function getReserveData(address) view returns ((uint256, uint128, uint128, uint128, uint128, uint128, uint40,"
    " uint16, address, address, address, address, uint128, uint128, uint128))"
)
_BALANCE: Final = "function balanceOf(address) view returns (uint256)"
_HELD: Final = ("aave_borrow", "aave_supply_more")
_NO_LENDER: Final = ({"protocol": "nobody"}, "UNKNOWN_LENDER")
_ELSEWHERE: Final = ({"chain_id": 999_999}, "CHAIN_NOT_SUPPORTED")
_ROW: Final = "rates[protocol=aave_v3]"


def _supplied(look: Look) -> int:
    return int(look.call(look.call(look.at("data_provider"), _TOKENS, look.token("USDC"))[0], _SUPPLY))


def _owed(look: Look) -> int:
    """Millionths of a dollar: 3,000 USDC, and what a second more or less of interest makes of them."""
    debt = look.call(look.at("data_provider"), _TOKENS, look.token("USDC"))[2]
    return int(look.call(debt, _BALANCE, look.account)) * look.price("USDC") // 10**8


def _own(look: Look) -> str:
    return dollars((4 * look.price("WETH") + 2_000 * look.price("DAI")) // 100 - _owed(look))


def _paid(look: Look) -> str:
    return compounded_percent(look.call(look.at("pool"), _RESERVE, look.token("USDC"))[2], 10**27)


def _lent_for(look: Look, days: int) -> int:
    """What a million dollars earn there in so many days; gas takes less than a dollar of it."""
    yearly = Decimal(_paid(look)) / 100
    return int(10**12 * yearly * days / 365)


READS: Final = (
    ReadCase(
        "lending_get_loop_health",
        _OWN,
        {
            # 82.5% of four WETH at 3,000 and 80% of 2,000 DAI over 3,000 USDC; the loop is the WETH and the USDC.
            "health_factor": "3.83",
            "total_collateral_usd": lambda look: dollars(4 * look.price("WETH") // 100),
            "total_debt_usd": lambda look: dollars(_owed(look)),
            "leverage_ratio": "1.33",
            "liquidation_price.price_usd": About((3_000 - 1_600) * 10**9 // 3_300, 3),
            "risk_level": "safe",
        },
        after=_HELD,
        refuses=(
            _NO_LENDER,
            _ELSEWHERE,
        ),
        most_exchanges=8,
    ),
    ReadCase(
        "lending_compare_rates",
        {"asset": "USDC", "rate_type": "supply"},
        {
            f"{_ROW}.tvl": _supplied,
            f"{_ROW}.apy": _paid,
            "symbol": "USDC",
        },
        after=_HELD,
        refuses=(_ELSEWHERE,),
    ),
    ReadCase(
        "lending_get_health_dashboard",
        {"account": FromReport("account")},
        {
            "positions.#": 1,
            "total_supplied_usd": lambda look: dollars((4 * look.price("WETH") + 2_000 * look.price("DAI")) // 100),
            "total_borrowed_usd": lambda look: dollars(_owed(look)),
            "net_position_usd": _own,
            "overall_health_factor": "3.83",
            "positions.0.legs[symbol=USDC].side": "owed",
        },
        after=_HELD,
        refuses=(_ELSEWHERE,),
        most_exchanges=8,
    ),
    ReadCase(
        "lending_build_loop",
        {**_PAIR, "initial_amount": str(_ETH), "target_leverage": "1.8"},
        {
            # Four WETH there and one more, less 3,000 owed, are four of one's own: 1.8 times them, the rest is owed.
            "final_collateral": About(72 * _ETH // 10, 1),
            "final_debt": About(9_600 * _USD, 1),
            "leverage_achieved": "1.80",
            # 82.5% of 21,600 and the DAI's 1,600 over 9,600.
            "health_factor_after": "2.02",
            "is_target_reached": True,
        },
        after=_HELD,
        refuses=(
            ({"target_leverage": "40"}, "INVALID_PARAMS"),
            ({"target_leverage": "1"}, "INVALID_PARAMS"),
            _NO_LENDER,
            _ELSEWHERE,
        ),
    ),
    ReadCase(
        "intel_compare_yields",
        {"asset": "USDC", "amount": "1000000000000", "days": 90},
        {
            "symbol": "USDC",
            "amount": "1000000000000",
            "days": 90,
            "places[protocol=aave_v3].apy": _paid,
            "places[protocol=aave_v3].net_gain": lambda look: About(_lent_for(look, 90), 50),
            "places[protocol=aave_v3].risk_class": 1,
            "places[protocol=aave_v3].wait_seconds": 0,
        },
        after=_HELD,
        among=("aave_v3", "uniswap"),
        refuses=(_ELSEWHERE,),
        most_exchanges=13,
    ),
)
