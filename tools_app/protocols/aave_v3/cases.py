"""What the `aave_*` writes do on the local chain, on Aave's own code."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case
from tools_app.toolkit.enums import ActionClass

_ETH: Final = 10**18
_USD: Final = 10**6

CASES: Final = (
    Case(
        "aave_supply",
        {"asset": "WETH", "amount": str(4 * _ETH)},
        ActionClass.NEW_POSITION,
        moves={"WETH": -4 * _ETH},
        holds={"WETH": 4 * _ETH},
        tells={"a_tokens_received": str(4 * _ETH), "health_factor_after": None},
        refuses=(
            ({"amount": str(60 * _ETH)}, "INSUFFICIENT_BALANCE"),
            ({"amount": "0"}, "INVALID_PARAMS"),
            ({"on_behalf_of": "0x" + "11" * 20}, "INVALID_PARAMS"),
        ),
    ),
    Case(
        "aave_supply",
        {"asset": "DAI", "amount": str(2_000 * _ETH)},
        ActionClass.INCREASE_POSITION,
        name="aave_supply_more",
        after=("aave_borrow",),
        moves={"DAI": -2_000 * _ETH},
        holds={"DAI": 2_000 * _ETH},
    ),
    Case(
        "aave_withdraw",
        {"asset": "WETH", "amount": str(_ETH)},
        ActionClass.DECREASE_POSITION,
        after=("aave_supply",),
        moves={"WETH": _ETH},
        holds={"WETH": -_ETH},
        refuses=(({"asset": "DAI"}, "LENDING_NOTHING_THERE"),),
    ),
    Case(
        "aave_withdraw",
        {"asset": "WETH", "amount": "max"},
        ActionClass.CLOSE_POSITION,
        name="aave_withdraw_all",
        after=("aave_supply",),
        moves={"WETH": About(4 * _ETH, 1)},
        holds={"WETH": About(-4 * _ETH, 1)},
    ),
    Case(
        "aave_borrow",
        {"asset": "USDC", "amount": str(3_000 * _USD)},
        ActionClass.INCREASE_POSITION,
        after=("aave_supply",),
        moves={"USDC": 3_000 * _USD},
        owes={"USDC": 3_000 * _USD},
        tells={"borrowed": str(3_000 * _USD), "health_factor_after": "3.30"},
        refuses=(
            ({"amount": str(6_700 * _USD)}, "HEALTH_TOO_LOW"),
            ({"amount": str(10**15)}, "MARKET_CLOSED"),
            ({"interest_rate_mode": "fixed"}, "INVALID_PARAMS"),
        ),
    ),
    Case(
        "aave_borrow",
        {"asset": "DAI", "amount": str(1_000 * _ETH), "interest_rate_mode": "stable"},
        ActionClass.INCREASE_POSITION,
        name="aave_borrow_stable",
        after=("aave_supply",),
        moves={"DAI": 1_000 * _ETH},
        owes={"DAI": 1_000 * _ETH},
    ),
    Case(
        "aave_repay",
        {"asset": "USDC", "amount": str(1_000 * _USD)},
        ActionClass.DECREASE_POSITION,
        after=("aave_borrow",),
        moves={"USDC": -1_000 * _USD},
        owes={"USDC": -1_000 * _USD},
        refuses=(
            ({"asset": "DAI"}, "LENDING_NOTHING_THERE"),
            ({"interest_rate_mode": "stable"}, "LENDING_NOTHING_THERE"),
        ),
    ),
    Case(
        "aave_repay",
        {"asset": "USDC", "amount": "max"},
        ActionClass.DECREASE_POSITION,
        name="aave_repay_all",
        after=("aave_borrow",),
        moves={"USDC": About(-3_000 * _USD, 1)},
        owes={"USDC": About(-3_000 * _USD, 1)},
        tells={"debt_remaining": "0"},
    ),
    Case(
        "aave_repay",
        {"asset": "USDC", "amount": "max", "withdraw_collateral": True},
        ActionClass.CLOSE_POSITION,
        name="aave_repay_and_leave",
        after=("aave_borrow",),
        moves={"USDC": About(-3_000 * _USD, 1), "WETH": About(4 * _ETH, 1)},
        holds={"WETH": About(-4 * _ETH, 1)},
        owes={"USDC": About(-3_000 * _USD, 1)},
        tells={"debt_remaining": "0"},
        refuses=(({"amount": str(_ETH)}, "INVALID_PARAMS"),),
    ),
    Case(
        "aave_disable_collateral",
        {"asset": "WETH"},
        ActionClass.REBALANCE,
        after=("aave_supply",),
        tells={"use_as_collateral": False},
        refuses=(({"asset": "DAI"}, "LENDING_NOTHING_THERE"),),
    ),
    Case(
        "aave_enable_collateral",
        {"asset": "WETH", "use_as_collateral": True},
        ActionClass.REBALANCE,
        after=("aave_disable_collateral",),
        tells={"use_as_collateral": True},
        refuses=(({"use_as_collateral": False}, "LENDING_NOTHING_THERE"),),
    ),
)
