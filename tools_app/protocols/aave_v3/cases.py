"""Describes, case by case, what the `aave_*` writes do on the local chain, on Aave's own code."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Case, FromReport, Look, ReadCase, Together
from tools_app.toolkit.context import AbiValue
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import compounded_percent, decimals_text, dollars, percent

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

TOGETHER: Final = (
    Together(
        "aave_withdraw",
        {"amount": str(3 * _ETH)},
        {"amount": str(31 * _ETH // 10)},
        {"amount": str(_ETH // 2)},
        before="aave_supply",
    ),
    Together(
        "aave_borrow",
        {"amount": str(3_500 * _USD)},
        {"amount": str(3_600 * _USD)},
        {"amount": str(1_000 * _USD)},
        before="aave_supply",
        is_cover=True,
    ),
)

_TOKENS: Final = "function getReserveTokensAddresses(address) view returns (address, address, address)"
_SUPPLY: Final = "function totalSupply() view returns (uint256)"
_BALANCE: Final = "function balanceOf(address) view returns (uint256)"
_PRICE: Final = "function getAssetPrice(address) view returns (uint256)"
_RESERVE: Final = (
    "function getReserveData(address) view returns ((uint256, uint128, uint128, uint128, uint128, uint128, uint40,"
    " uint16, address, address, address, address, uint128, uint128, uint128))"
)
_SUMS: Final = (
    "function getUserAccountData(address) view returns (uint256, uint256, uint256, uint256, uint256, uint256)"
)
_OWN: Final = {"account": FromReport("account")}
_HELD: Final = ("aave_borrow", "aave_supply_more")


def _tokens(look: Look, symbol: str) -> tuple[str, str, str]:
    """The receipt of a reserve and its two notes of debt."""
    found: tuple[str, str, str] = look.call(look.at("data_provider"), _TOKENS, look.token(symbol))
    return found


def _supplied(look: Look, symbol: str) -> int:
    return int(look.call(_tokens(look, symbol)[0], _SUPPLY))


def _owed(look: Look, symbol: str) -> int:
    return sum(int(look.call(note, _SUPPLY)) for note in _tokens(look, symbol)[1:])


def _rate(look: Look, symbol: str, place: int) -> str:
    """The yearly rate of a reserve from its pool: 2 of supplies, 4 of variable debts."""
    return compounded_percent(look.call(look.at("pool"), _RESERVE, look.token(symbol))[place], 10**27)


def _sum_of(look: Look, place: int) -> AbiValue:
    return look.call(look.at("pool"), _SUMS, look.account)[place]


def _health(look: Look) -> str:
    """Both supplies at the oracle's prices with what the reserves count of them, over the debt."""
    cover = 4 * look.call(look.at("oracle"), _PRICE, look.token("WETH")) * 825 // 1_000
    cover += 2_000 * look.call(look.at("oracle"), _PRICE, look.token("DAI")) * 800 // 1_000
    return decimals_text(cover, 3_000 * look.call(look.at("oracle"), _PRICE, look.token("USDC")), 2)


READS: Final = (
    ReadCase(
        "aave_get_rates",
        {"asset": "USDC"},
        {
            "symbol": "USDC",
            "asset": lambda look: look.token("USDC"),
            "total_supplied": lambda look: _supplied(look, "USDC"),
            "total_borrowed": lambda look: _owed(look, "USDC"),
            # A little of it is the treasury's.
            "available_liquidity": lambda look: About(look.balance("USDC", _tokens(look, "USDC")[0]), 1),
            "utilization_rate": lambda look: percent(_owed(look, "USDC"), _supplied(look, "USDC")),
            "supply_apy": lambda look: _rate(look, "USDC", 2),
            "variable_borrow_apy": lambda look: _rate(look, "USDC", 4),
            "price_usd": lambda look: dollars(look.price("USDC") // 100),
            "is_borrowable": True,
        },
        after=_HELD,
        refuses=(
            ({"asset": "FEE"}, "MARKET_NOT_FOUND"),
            ({"asset": "0x" + "11" * 20}, "TOKEN_NOT_FOUND"),
        ),
    ),
    ReadCase(
        "aave_get_health_factor",
        _OWN,
        {
            "health_factor": _health,
            "total_collateral_usd": lambda look: dollars(_sum_of(look, 0) // 100),
            "total_debt_usd": lambda look: dollars(-(-_sum_of(look, 1) // 100)),
            "available_borrows_usd": lambda look: dollars(_sum_of(look, 2) // 100),
            "liquidation_threshold": lambda look: percent(_sum_of(look, 3), 10_000),
            "current_ltv": lambda look: percent(_sum_of(look, 1), _sum_of(look, 0)),
            "e_mode": 0,
        },
        after=_HELD,
    ),
    ReadCase(
        "aave_get_user_summary",
        _OWN,
        {
            "supplied.#": 2,
            "borrowed.#": 1,
            "supplied[symbol=WETH].a_token_balance": lambda look: look.call(
                _tokens(look, "WETH")[0], _BALANCE, look.account
            ),
            "supplied[symbol=WETH].balance_usd": lambda look: dollars(4 * look.price("WETH") // 100),
            "supplied[symbol=DAI].used_as_collateral": True,
            "borrowed[symbol=USDC].debt_balance": lambda look: look.call(
                _tokens(look, "USDC")[2], _BALANCE, look.account
            ),
            "borrowed[symbol=USDC].rate_mode": "variable",
            "health_factor": _health,
        },
        after=_HELD,
    ),
    ReadCase(
        "aave_get_liquidation_risk",
        _OWN,
        {
            "risk_level": "safe",
            "health_factor": _health,
            # One less debt over cover, of which the pool counts 82.14% of 14,000; never told as more than it is.
            "collateral_can_fall_pct": About(100 * (10**6 - 3_000 * 10**10 // (14_000 * 8_214)), 1),
            # Where four WETH, at 82.5%, and the DAI beside them just cover the debt: 424.24 dollars, told rounded up.
            "liquidation_prices[symbol=WETH].price_usd": About((3_000 - 1_600) * 10**9 // 3_300, 3),
            "liquidation_prices[symbol=WETH].price_now_usd": lambda look: dollars(look.price("WETH") // 100),
        },
        after=_HELD,
    ),
)
