"""Describes, case by case, what the `compound_v3_*` writes do on the local chain, in our own contract's market of USDC
over WETH and DAI.
"""

from __future__ import annotations

from typing import Final

from tools_app.toolkit.case import About, Borrow, Case, FromReport, Leave, Look, PutIn, ReadCase, Together
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import compounded_percent, decimals_text, percent

_ETH: Final = 10**18
_USD: Final = 10**6
_MARKET: Final = {"market": "USDC"}
_COVER: Final = {**_MARKET, "asset": "WETH"}
_NO_MARKET: Final = ({"market": "DAI"}, "MARKET_NOT_FOUND")
# What was earned beside interest until a call is a little more than when it was asked.
_REWARD: Final = {"WBTC": About(2_600, 500)}

CASES: Final = (
    Case(
        "compound_v3_supply",
        {**_MARKET, "amount": str(20_000 * _USD)},
        ActionClass.NEW_POSITION,
        moves={"USDC": -20_000 * _USD},
        holds={"USDC": 20_000 * _USD},
        tells={"supplied": str(20_000 * _USD), "health_factor_after": None},
        refuses=(
            _NO_MARKET,
            ({"amount": str(10**15)}, "INSUFFICIENT_BALANCE"),
            ({"asset": "WBTC"}, "INVALID_PARAMS"),
        ),
    ),
    Case(
        "compound_v3_supply",
        {**_COVER, "amount": str(4 * _ETH)},
        ActionClass.NEW_POSITION,
        name="compound_v3_cover",
        moves={"WETH": -4 * _ETH},
        holds={"WETH": 4 * _ETH},
        tells={"supplied": str(4 * _ETH), "supply_apy": None},
    ),
    Case(
        "compound_v3_withdraw",
        {**_MARKET, "amount": str(5_000 * _USD)},
        ActionClass.DECREASE_POSITION,
        after=("compound_v3_supply",),
        moves={"USDC": 5_000 * _USD},
        holds={"USDC": -5_000 * _USD},
        refuses=(
            # One more than is lent would be borrowed.
            ({"amount": str(20_500 * _USD)}, "LENDING_NOTHING_THERE"),
            ({"asset": "WETH"}, "LENDING_NOTHING_THERE"),
        ),
    ),
    Case(
        "compound_v3_withdraw",
        {**_MARKET, "amount": "max"},
        ActionClass.CLOSE_POSITION,
        name="compound_v3_withdraw_all",
        after=("compound_v3_supply",),
        moves={"USDC": About(20_000 * _USD, 1)},
        holds={"USDC": About(-20_000 * _USD, 1)},
    ),
    Case(
        "compound_v3_withdraw",
        {**_COVER, "amount": str(_ETH // 2)},
        ActionClass.DECREASE_POSITION,
        name="compound_v3_withdraw_cover",
        after=("compound_v3_borrow",),
        moves={"WETH": _ETH // 2},
        holds={"WETH": -_ETH // 2},
        refuses=(({"amount": str(3 * _ETH)}, "HEALTH_TOO_LOW"),),
    ),
    Case(
        "compound_v3_borrow",
        {**_MARKET, "amount": str(3_000 * _USD)},
        ActionClass.INCREASE_POSITION,
        after=("compound_v3_cover",),
        moves={"USDC": 3_000 * _USD},
        owes={"USDC": 3_000 * _USD},
        tells={"borrowed": str(3_000 * _USD), "health_factor_after": "3.58"},
        refuses=(
            ({"amount": str(7_200 * _USD)}, "HEALTH_TOO_LOW"),
            ({"amount": str(10**15)}, "MARKET_CLOSED"),
            ({"amount": str(99 * _USD)}, "COMPOUND_DEBT_TOO_SMALL"),
            _NO_MARKET,
        ),
    ),
    Case(
        "compound_v3_repay",
        {**_MARKET, "amount": str(1_000 * _USD)},
        ActionClass.DECREASE_POSITION,
        after=("compound_v3_borrow",),
        moves={"USDC": -1_000 * _USD},
        owes={"USDC": -1_000 * _USD},
        refuses=(_NO_MARKET,),
    ),
    Case(
        "compound_v3_repay",
        {**_MARKET, "amount": "max"},
        ActionClass.DECREASE_POSITION,
        name="compound_v3_repay_all",
        after=("compound_v3_borrow",),
        moves={"USDC": About(-3_000 * _USD, 1)},
        owes={"USDC": About(-3_000 * _USD, 1)},
        tells={"remaining_debt": "0"},
    ),
    Case(
        "compound_v3_claim_rewards",
        _MARKET,
        ActionClass.DECREASE_POSITION,
        after=("compound_v3_supply",),
        given=("a day has passed",),
        moves=_REWARD,
        holds={"WBTC": About(-2_600, 500)},
        refuses=(_NO_MARKET,),
    ),
)

TOGETHER: Final = (
    Together(
        "compound_v3_withdraw",
        {"amount": str(12_000 * _USD)},
        {"amount": str(13_000 * _USD)},
        {"amount": str(5_000 * _USD)},
        before="compound_v3_supply",
    ),
    Together(
        "compound_v3_borrow",
        {"amount": str(3_500 * _USD)},
        {"amount": str(3_700 * _USD)},
        {"amount": str(1_000 * _USD)},
        before="compound_v3_cover",
        is_cover=True,
    ),
)

WALK: Final = (
    PutIn("compound_v3_supply", "WETH", _COVER),
    PutIn("compound_v3_supply", "DAI", {**_MARKET, "asset": "DAI"}),
    Borrow("compound_v3_borrow", "USDC", _MARKET),
    Leave("compound_v3_repay", "USDC", _MARKET, is_owed=True),
    Leave("compound_v3_withdraw", "WETH", _COVER),
    Leave("compound_v3_withdraw", "DAI", {**_MARKET, "asset": "DAI"}),
)

_OWN: Final = {"account": FromReport("account")}
_HELD: Final = ("compound_v3_borrow",)
_TOTAL: Final = "function totalSupply() view returns (uint256)"
_BORROWED: Final = "function totalBorrow() view returns (uint256)"
_USED: Final = "function getUtilization() view returns (uint256)"
_EARNS: Final = "function getSupplyRate(uint256) view returns (uint64)"
_COSTS: Final = "function getBorrowRate(uint256) view returns (uint64)"
_OWED: Final = "function borrowBalanceOf(address) view returns (uint256)"


def _of(look: Look, signature: str, *args: object) -> int:
    return int(look.call(look.at("comet_usdc"), signature, *args))


def _yearly(look: Look, signature: str) -> str:
    return compounded_percent(_of(look, signature, _of(look, _USED)) * 31_536_000, 10**18)


READS: Final = (
    ReadCase(
        "compound_v3_get_markets",
        tells={
            "markets.#": 1,
            "markets.0.market": "USDC",
            "markets.0.comet": lambda look: look.at("comet_usdc"),
            "markets.0.supply_apy": lambda look: _yearly(look, _EARNS),
            "markets.0.borrow_apy": lambda look: _yearly(look, _COSTS),
            "markets.0.total_supplied": lambda look: _of(look, _TOTAL),
            "markets.0.total_borrowed": lambda look: _of(look, _BORROWED),
            "markets.0.available_liquidity": lambda look: look.balance("USDC", look.at("comet_usdc")),
            "markets.0.utilization": lambda look: percent(_of(look, _BORROWED), _of(look, _TOTAL)),
            "markets.0.pays_rewards": True,
            "markets.0.collateral.#": 2,
            "markets.0.collateral[symbol=WETH].loan_to_value": "82.5000",
        },
        after=_HELD,
        refuses=(_NO_MARKET,),
        most_exchanges=5,
    ),
    ReadCase(
        "compound_v3_get_position",
        _OWN,
        {
            "positions.#": 1,
            "positions.0.market": "USDC",
            "positions.0.supplied": 0,
            "positions.0.owed": lambda look: _of(look, _OWED, look.account),
            "positions.0.collateral.0.amount": 4 * _ETH,
            # Four WETH at the feed, of which 89.5% count, over the debt.
            "positions.0.health_factor": lambda look: decimals_text(
                4 * look.price("WETH") * 895 * 10**3, look.price("USDC") * _of(look, _OWED, look.account), 2
            ),
        },
        after=_HELD,
        most_exchanges=8,
    ),
)
