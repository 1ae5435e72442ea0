"""Describes, case by case, what the `moonwell_*` tools do on the local chain, whose three markets are ours."""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Borrow, Case, FromReport, Leave, Look, PutIn, ReadCase, Together
from tools_app.toolkit.context import AbiValue
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import compounded_percent, decimals_text, percent

_ETH: Final = 10**18
_USD: Final = 10**6
_NO_MARKET: Final = ({"asset": "WBTC"}, "MARKET_NOT_FOUND")
# A receipt has eight decimals: whole ones stand for so many base units of a token with eighteen.
_ONE_RECEIPT: Final = 10**9
_REWARD: Final = {"WBTC": About(172_800, 300)}

CASES: Final = (
    Case(
        "moonwell_supply",
        {"asset": "USDC", "amount": str(20_000 * _USD), "covers_debts": False},
        ActionClass.NEW_POSITION,
        moves={"USDC": -20_000 * _USD},
        holds={"USDC": 20_000 * _USD},
        tells={"supplied": str(20_000 * _USD), "covers_debts": False, "health_factor_after": None},
        refuses=(
            _NO_MARKET,
            ({"amount": str(10**13)}, "INSUFFICIENT_BALANCE"),
        ),
    ),
    Case(
        "moonwell_supply",
        {"asset": "WETH", "amount": str(4 * _ETH)},
        ActionClass.NEW_POSITION,
        name="moonwell_cover",
        moves={"WETH": -4 * _ETH},
        holds={"WETH": 4 * _ETH},
        tells={"supplied": str(4 * _ETH), "covers_debts": True},
        rounding=4 * _ONE_RECEIPT,
    ),
    Case(
        "moonwell_withdraw",
        {"asset": "USDC", "amount": str(5_000 * _USD)},
        ActionClass.DECREASE_POSITION,
        after=("moonwell_supply",),
        moves={"USDC": 5_000 * _USD},
        holds={"USDC": -5_000 * _USD},
        refuses=(
            ({"amount": str(20_500 * _USD)}, "LENDING_NOTHING_THERE"),
            ({"asset": "WETH"}, "LENDING_NOTHING_THERE"),
        ),
    ),
    Case(
        "moonwell_withdraw",
        {"asset": "USDC", "amount": "max"},
        ActionClass.DECREASE_POSITION,
        name="moonwell_withdraw_all",
        after=("moonwell_supply",),
        moves={"USDC": About(20_000 * _USD, 1)},
        holds={"USDC": About(-20_000 * _USD, 1)},
    ),
    Case(
        "moonwell_borrow",
        {"asset": "USDC", "amount": str(3_000 * _USD)},
        ActionClass.INCREASE_POSITION,
        after=("moonwell_cover",),
        moves={"USDC": 3_000 * _USD},
        owes={"USDC": 3_000 * _USD},
        tells={"borrowed": str(3_000 * _USD), "health_factor_after": "3.23"},
        refuses=(
            ({"amount": str(6_600 * _USD)}, "HEALTH_TOO_LOW"),
            ({"amount": str(10**15)}, "MARKET_CLOSED"),
            _NO_MARKET,
        ),
        rounding=_ONE_RECEIPT,
    ),
    Case(
        "moonwell_withdraw",
        {"asset": "WETH", "amount": str(_ETH)},
        ActionClass.DECREASE_POSITION,
        name="moonwell_withdraw_cover",
        after=("moonwell_borrow",),
        moves={"ETH": _ETH},
        holds={"WETH": -_ETH},
        refuses=(({"amount": str(3 * _ETH)}, "HEALTH_TOO_LOW"),),
        rounding=4 * _ONE_RECEIPT,
    ),
    Case(
        "moonwell_repay",
        {"asset": "USDC", "amount": str(1_000 * _USD)},
        ActionClass.DECREASE_POSITION,
        after=("moonwell_borrow",),
        moves={"USDC": -1_000 * _USD},
        owes={"USDC": -1_000 * _USD},
        refuses=(_NO_MARKET,),
        rounding=_ONE_RECEIPT,
    ),
    Case(
        "moonwell_repay",
        {"asset": "USDC", "amount": "max"},
        ActionClass.DECREASE_POSITION,
        name="moonwell_repay_all",
        after=("moonwell_borrow",),
        moves={"USDC": About(-3_000 * _USD, 1)},
        owes={"USDC": About(-3_000 * _USD, 1)},
        tells={"remaining_debt": "0"},
        rounding=_ONE_RECEIPT,
    ),
    Case(
        "moonwell_claim_rewards",
        {},
        ActionClass.DECREASE_POSITION,
        after=("moonwell_supply",),
        given=("a day has passed",),
        moves=_REWARD,
        holds={"WBTC": About(-172_800, 300)},
    ),
)

TOGETHER: Final = (
    Together(
        "moonwell_withdraw",
        {"amount": str(12_000 * _USD)},
        {"amount": str(13_000 * _USD)},
        {"amount": str(5_000 * _USD)},
        before="moonwell_supply",
    ),
    Together(
        "moonwell_borrow",
        {"amount": str(3_500 * _USD)},
        {"amount": str(3_700 * _USD)},
        {"amount": str(1_000 * _USD)},
        before="moonwell_cover",
        is_cover=True,
    ),
)

WALK: Final = (
    PutIn("moonwell_supply", "USDC", {"asset": "USDC", "covers_debts": False}),
    PutIn("moonwell_supply", "WETH", {"asset": "WETH"}),
    Borrow("moonwell_borrow", "DAI", {"asset": "DAI"}),
    Leave("moonwell_repay", "DAI", {"asset": "DAI"}, is_owed=True),
    Leave("moonwell_withdraw", "USDC", {"asset": "USDC"}),
    Leave("moonwell_withdraw", "WETH", {"asset": "WETH"}),
)

_HELD: Final = ("moonwell_borrow",)
_CASH: Final = "function getCash() view returns (uint256)"
_BORROWED: Final = "function totalBorrows() view returns (uint256)"
_RESERVES: Final = "function totalReserves() view returns (uint256)"
_EARNS: Final = "function supplyRatePerTimestamp() view returns (uint256)"
_COSTS: Final = "function borrowRatePerTimestamp() view returns (uint256)"
_SNAPSHOT: Final = "function getAccountSnapshot(address) view returns (uint256,uint256,uint256,uint256)"
_YEAR: Final = 31_536_000


def _of(look: Look, signature: str, *args: object, key: str = "market_usdc") -> AbiValue:
    return look.call(look.at(key), signature, *args)


def _all(look: Look) -> int:
    return int(_of(look, _CASH)) + int(_of(look, _BORROWED)) - int(_of(look, _RESERVES))


def _lent(look: Look, key: str) -> int:
    _, receipts, _, rate = _of(look, _SNAPSHOT, look.account, key=key)
    return int(receipts) * int(rate) // 10**18


def _owed(look: Look) -> int:
    return int(_of(look, _SNAPSHOT, look.account)[2])


READS: Final = (
    ReadCase(
        "moonwell_get_markets",
        tells={
            "markets.#": 3,
            "markets[asset=USDC].market": lambda look: look.at("market_usdc"),
            "markets[asset=USDC].supply_apy": lambda look: compounded_percent(int(_of(look, _EARNS)) * _YEAR, 10**18),
            "markets[asset=USDC].borrow_apy": lambda look: compounded_percent(int(_of(look, _COSTS)) * _YEAR, 10**18),
            "markets[asset=USDC].total_borrowed": lambda look: _of(look, _BORROWED),
            "markets[asset=USDC].total_supplied": _all,
            "markets[asset=USDC].available_liquidity": lambda look: look.balance("USDC", look.at("market_usdc")),
            "markets[asset=USDC].utilization": lambda look: percent(_of(look, _BORROWED), _all(look)),
            "markets[asset=USDC].collateral_factor": "83.0000",
        },
        after=_HELD,
        refuses=(_NO_MARKET,),
        most_exchanges=8,
    ),
    ReadCase(
        "moonwell_get_position",
        {"account": FromReport("account")},
        {
            "positions.#": 2,
            "positions[asset=USDC].owed": _owed,
            "positions[asset=WETH].supplied": lambda look: _lent(look, "market_weth"),
            "positions[asset=WETH].covers_debts": True,
            # WETH at the feed, of which 81% count, over the debt.
            "health_factor": lambda look: decimals_text(
                _lent(look, "market_weth") * look.price("WETH") * 81, look.price("USDC") * _owed(look) * 10**14, 2
            ),
        },
        after=_HELD,
        most_exchanges=8,
    ),
)
