"""Describes, case by case, what the `spark_*` writes do on the local chain: Aave's code with a market of its own."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case, FromReport, Look, ReadCase, Together
from tools_app.toolkit.enums import ActionClass

_ETH: Final = 10**18

CASES: Final = (
    Case(
        "spark_supply",
        {"asset": "WETH", "amount": str(2 * _ETH)},
        ActionClass.NEW_POSITION,
        moves={"WETH": -2 * _ETH},
        holds={"WETH": 2 * _ETH},
        refuses=(({"amount": str(60 * _ETH)}, "INSUFFICIENT_BALANCE"),),
    ),
    Case(
        "spark_withdraw",
        {"asset": "WETH", "amount": "max"},
        ActionClass.CLOSE_POSITION,
        after=("spark_supply",),
        moves={"WETH": About(2 * _ETH, 1)},
        holds={"WETH": About(-2 * _ETH, 1)},
    ),
    Case(
        "spark_borrow",
        {"asset": "DAI", "amount": str(2_000 * _ETH)},
        ActionClass.INCREASE_POSITION,
        after=("spark_supply",),
        moves={"DAI": 2_000 * _ETH},
        owes={"DAI": 2_000 * _ETH},
        refuses=(({"amount": str(4_000 * _ETH)}, "HEALTH_TOO_LOW"),),
    ),
    Case(
        "spark_repay",
        {"asset": "DAI", "amount": "max"},
        ActionClass.DECREASE_POSITION,
        after=("spark_borrow",),
        moves={"DAI": About(-2_000 * _ETH, 1)},
        owes={"DAI": About(-2_000 * _ETH, 1)},
        tells={"debt_remaining": "0"},
    ),
    Case(
        "spark_repay",
        {"asset": "DAI", "amount": "max", "withdraw_collateral": True},
        ActionClass.CLOSE_POSITION,
        name="spark_repay_and_leave",
        after=("spark_borrow",),
        moves={"DAI": About(-2_000 * _ETH, 1), "WETH": About(2 * _ETH, 1)},
        holds={"WETH": About(-2 * _ETH, 1)},
        owes={"DAI": About(-2_000 * _ETH, 1)},
        tells={"debt_remaining": "0"},
        refuses=(({"amount": str(_ETH)}, "INVALID_PARAMS"),),
    ),
)

TOGETHER: Final = (
    Together(
        "spark_withdraw",
        {"amount": str(12 * _ETH // 10)},
        {"amount": str(13 * _ETH // 10)},
        {"amount": str(_ETH // 2)},
        before="spark_supply",
    ),
    Together(
        "spark_borrow",
        {"amount": str(1_750 * _ETH)},
        {"amount": str(1_800 * _ETH)},
        {"amount": str(500 * _ETH)},
        is_cover=True,
    ),
)

_TOKENS: Final = "function getReserveTokensAddresses(address) view returns (address, address, address)"
_BALANCE: Final = "function balanceOf(address) view returns (uint256)"


def _held(look: Look, symbol: str, place: int) -> int:
    """The account's receipts of a reserve, or its notes of a debt that varies."""
    token = look.call(look.at("data_provider"), _TOKENS, look.token(symbol))[place]
    return int(look.call(token, _BALANCE, look.account))


READS: Final = (
    ReadCase(
        "spark_get_user_summary",
        {"account": FromReport("account")},
        {
            "supplied.#": 1,
            "supplied[symbol=WETH].a_token_balance": lambda look: _held(look, "WETH", 0),
            "borrowed[symbol=DAI].debt_balance": lambda look: _held(look, "DAI", 2),
            # 83% of two WETH at 3,000 over a debt of 2,000.
            "health_factor": "2.49",
        },
        after=("spark_borrow",),
    ),
)
