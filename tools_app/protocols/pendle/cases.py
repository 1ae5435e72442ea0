"""Describes, case by case, what the `pendle_*` tools do on the local chain, in a market of DAI until 2031 that implies
five percent a year.

Every way in and out pays the market's fee and moves its price, so a walk that holds the net asset value still goes
through it in small steps. Yield tokens are no part of it: they count as nothing.
"""

from __future__ import annotations

from typing import Final

from tools_app.protocols.pendle.addresses import LOCAL_CHAIN_ID, MARKET, ORACLE, PT, YT, deployments
from tools_app.toolkit.case import About, Case, FromReport, Look, PutIn, ReadCase, TakeOut, Together
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.figure_text import decimals_text

_WAD: Final = 10**18
_AT: Final = deployments(LOCAL_CHAIN_ID) or {}
_MARKET: Final = {"market": _AT[MARKET]}
_PT: Final = {"pt": _AT[PT]}
_NOWHERE: Final = ({"market": "0x" + "11" * 20}, "PENDLE_MARKET_NOT_FOUND")

CASES: Final = (
    Case(
        "pendle_buy_pt",
        {**_MARKET, "amount": str(10_000 * _WAD)},
        ActionClass.NEW_POSITION,
        moves={"DAI": -10_000 * _WAD},
        # A fee of a fifth of a percent, and less every year.
        holds={"DAI": About(9_980 * _WAD, 15)},
        tells={"underlying": "DAI", "pt_address": _AT[PT], "maturity": 1_924_992_000},
        refuses=(
            _NOWHERE,
            ({"amount": str(10**27)}, "PENDLE_TRADE_IMPOSSIBLE"),
            ({"amount": str(10**24)}, "PENDLE_SLIPPAGE_TOO_HIGH"),
            ({"slippage_bps": 1}, "PENDLE_SLIPPAGE_TOO_HIGH"),
        ),
        loses_bps=40,
    ),
    Case(
        "pendle_approve_limit_orders",
        {**_MARKET, "amount": str(300 * _WAD)},
        ActionClass.INCREASE_POSITION,
        refuses=(
            _NOWHERE,
            ({"amount": str(10**30)}, "INSUFFICIENT_BALANCE"),
        ),
    ),
    Case(
        "pendle_approve_limit_orders",
        {**_MARKET, "amount": str(300 * _WAD), "gives": "pt"},
        ActionClass.INCREASE_POSITION,
        name="pendle_approve_orders_of_pt",
        after=("pendle_buy_pt",),
        refuses=(({"amount": str(10**30)}, "PENDLE_TOKENS_MISSING"),),
    ),
    Case(
        "pendle_approve_limit_orders",
        {**_MARKET, "amount": str(300 * _WAD), "gives": "yt"},
        ActionClass.INCREASE_POSITION,
        name="pendle_approve_orders_of_yt",
        after=("pendle_buy_yt",),
        refuses=(({"amount": str(10**30)}, "PENDLE_TOKENS_MISSING"),),
    ),
    Case(
        "pendle_sell_pt",
        {**_MARKET, "amount": str(5_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        after=("pendle_buy_pt",),
        moves={"DAI": About(4_095 * _WAD, 600)},
        holds={"DAI": About(-4_100 * _WAD, 600)},
        refuses=(
            _NOWHERE,
            ({"amount": str(20_000 * _WAD)}, "PENDLE_TOKENS_MISSING"),
            ({"slippage_bps": 1}, "PENDLE_SLIPPAGE_TOO_HIGH"),
        ),
        loses_bps=40,
        gains_bps=5,
    ),
    Case(
        "pendle_buy_yt",
        {**_MARKET, "amount": str(1_000 * _WAD)},
        ActionClass.NEW_POSITION,
        moves={"DAI": -1_000 * _WAD},
        tells={"yt_address": _AT[YT]},
        refuses=(
            _NOWHERE,
            ({"amount": str(10**27)}, "PENDLE_TRADE_IMPOSSIBLE"),
        ),
        # Yield to come counts as nothing.
        loses_bps=10_000,
    ),
    Case(
        "pendle_sell_yt",
        {**_MARKET, "amount": str(2_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        after=("pendle_buy_yt",),
        moves={"DAI": About(357 * _WAD, 1_000)},
        refuses=(_NOWHERE, ({"amount": str(20_000 * _WAD)}, "PENDLE_TOKENS_MISSING")),
        gains_bps=12_000,
    ),
    Case(
        "pendle_add_lp",
        {**_MARKET, "amount": str(10_000 * _WAD)},
        ActionClass.NEW_POSITION,
        moves={"DAI": -10_000 * _WAD},
        holds={"DAI": About(9_990 * _WAD, 15)},
        tells={"apy": None},
        refuses=(
            _NOWHERE,
            ({"slippage_bps": 1}, "PENDLE_SLIPPAGE_TOO_HIGH"),
        ),
        loses_bps=30,
    ),
    Case(
        "pendle_remove_lp",
        {**_MARKET, "lp_amount": str(1_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        after=("pendle_add_lp",),
        moves={"DAI": About(1_000 * _WAD, 300)},
        holds={"DAI": About(-1_000 * _WAD, 300)},
        refuses=(_NOWHERE, ({"lp_amount": str(20_000 * _WAD)}, "PENDLE_TOKENS_MISSING")),
        loses_bps=5,
        gains_bps=5,
    ),
    Case(
        "pendle_redeem",
        {**_PT, "amount": str(1_000 * _WAD)},
        ActionClass.DECREASE_POSITION,
        name="pendle_redeem_before_maturity",
        after=("pendle_buy_pt", "pendle_buy_yt"),
        moves={"DAI": About(1_000 * _WAD, 1)},
        holds={"DAI": About(-820 * _WAD, 600)},
        refuses=(
            ({"pt": "0x" + "11" * 20}, "PENDLE_MARKET_NOT_FOUND"),
            ({"amount": str(50_000 * _WAD)}, "PENDLE_TOKENS_MISSING"),
        ),
        # What counted as nothing makes a claim whole.
        gains_bps=2_500,
    ),
    Case(
        "pendle_redeem",
        {**_PT, "amount": "max"},
        ActionClass.CLOSE_POSITION,
        after=("pendle_buy_pt",),
        given=("the market of claims is over",),
        moves={"DAI": About(12_180 * _WAD, 600)},
        holds={"DAI": About(-12_180 * _WAD, 600)},
        tells={"realized_apy": None},
        rounding=10,
    ),
    Case(
        "pendle_redeem",
        {**_PT, "amount": "max", "claim": True},
        ActionClass.DECREASE_POSITION,
        name="pendle_claim",
        after=("pendle_buy_yt",),
        given=("a week has passed",),
        # Four percent a year on 5,400 for a week, less a twentieth.
        moves={"DAI": About(393 * _WAD // 100, 1_000)},
        holds={"DAI": About(-393 * _WAD // 100, 1_000)},
    ),
)

TOGETHER: Final = (
    Together(
        "pendle_sell_pt",
        {"amount": str(7_000 * _WAD)},
        {"amount": str(8_000 * _WAD)},
        {"amount": str(3_000 * _WAD)},
        before="pendle_buy_pt",
    ),
)
_SMALL_STEP: Final = 300 * _WAD
"""Base units of the asset that a walk puts in at once: a trade of so little moves no average that anybody could see."""


def _at_most(raw: str) -> str:
    return str(min(int(raw), _SMALL_STEP))


WALK: Final = (
    PutIn("pendle_buy_pt", "DAI", _MARKET, shaped=_at_most, loses_bps=40),
    PutIn("pendle_add_lp", "DAI", _MARKET, shaped=_at_most, loses_bps=30),
    TakeOut("pendle_remove_lp", MARKET, "lp_amount", _MARKET, loses_bps=20),
    TakeOut("pendle_sell_pt", PT, "amount", _MARKET, loses_bps=50),
)
_RATE: Final = "function getPtToAssetRate(address,uint32) view returns (uint256)"


def _discount(look: Look) -> str:
    rate = int(look.call(look.at(ORACLE), _RATE, look.at(MARKET), 900))
    return decimals_text(100 * (_WAD - rate), _WAD, 4).rstrip("0")


READS: Final = (
    ReadCase(
        "pendle_get_markets",
        {"underlying": "DAI"},
        {
            "markets.#": 1,
            "markets.0.address": lambda look: look.at(MARKET),
            "markets.0.pt_address": lambda look: look.at(PT),
            "markets.0.yt_address": lambda look: look.at(YT),
            "markets.0.pt_discount": _discount,
            "markets.0.is_active": True,
            "markets.0.is_oracle_ready": True,
            "markets.0.volume_24h": None,
        },
        most_exchanges=6,
    ),
    ReadCase(
        "pendle_get_position",
        {"account": "0x" + "22" * 20},
        {"pt_positions.#": 0, "yt_positions.#": 0, "lp_positions.#": 0, "total_value_usd": "0.000000"},
        most_exchanges=6,
    ),
    ReadCase(
        "pendle_get_limit_order",
        {"order_hash": FromReport("order_hash")},
        {
            "market": lambda look: look.at(MARKET),
            "status": "open",
            "amount_in": str(300 * _WAD),
            "filled": "0",
            "left": str(300 * _WAD),
            "handed_in": True,
            "note": None,
        },
        after=("pendle_approve_limit_orders",),
        given=("it signed an order that gives 300 DAI for claims",),
        refuses=(({"order_hash": "0x" + "11" * 32}, "PENDLE_ORDER_UNKNOWN"),),
    ),
)
