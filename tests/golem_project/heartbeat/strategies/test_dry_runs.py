"""Six strategies and a range over 2,000 ticks of recorded and drawn markets: profit parts add up, no rule is broken."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from golem_project.heartbeat.liquidity_rule import parse_liquidity_rule
from golem_project.heartbeat.strategies.backtest_engine import DryRun, run_dry
from golem_project.heartbeat.strategies.backtest_market import DryLoan, PricesAt
from golem_project.heartbeat.strategies.catalog import parse_strategies
from tests.golem_project.heartbeat.strategies.markets import TICKS, draw_market, read_recorded_market
from tests.golem_project.heartbeat.strategies.test_strategies import ALL, DAI, HOUR, USD, USDC, WETH
from tools_app.apps import load_registry
from tools_app.core.units import BPS
from tools_app.portfolio.holdings import HeldPosition
from tools_app.toolkit.positions import Leg, Position, PositionRef
from tools_app.toolkit.views import NATIVE, TokenMeta
from tools_app.toolkit.yields import Door, YieldKind, YieldOffer

ETH = 10**18
COIN = TokenMeta(31337, NATIVE, "ETH", 18, "Ether", True)
RULE = {"token_a": "WETH", "token_b": "DAI", "target_micro_usd": 2_000 * USD, "half_width_bps": 500}
RATES = {"compound_v3": (20_000, 60_000), "moonwell": (35_000, 45_000)}
"""The least and the most that each pays a year, in millionths."""
MARKETS: dict[str, Callable[[], list[PricesAt]]] = {
    "recorded": read_recorded_market,
    "calm": lambda: draw_market(seed=1, hourly=0.002, drift=0.0),
    "rising": lambda: draw_market(seed=2, hourly=0.006, drift=0.0008),
    "falling": lambda: draw_market(seed=3, hourly=0.006, drift=-0.0008),
    "wild": lambda: draw_market(seed=4, hourly=0.03, drift=0.0),
}


@pytest.fixture(autouse=True)
def tools() -> None:
    load_registry()


def with_rates(prices: Sequence[PricesAt]) -> list[PricesAt]:
    """The coin at the price of what wraps it, and rates that change once in a week or so."""
    draws, found, paid = random.Random(7), [], dict[str, int]()
    for point in prices:
        if not paid or draws.random() < 1 / 150:
            paid = {name: draws.randint(*bounds) for name, bounds in RATES.items()}
        rates = {(name, name): ppm for name, ppm in paid.items()}
        found.append(replace(point, micro_usd={**point.micro_usd, "ETH": point.micro_usd["WETH"]}, yearly_ppm=rates))
    return found


def offers() -> list[YieldOffer]:
    return [
        YieldOffer(
            name, name, name, YieldKind.LENDING, 0, "", way_in=door(name, "supply"), way_out=door(name, "withdraw")
        )
        for name in RATES
    ]


def door(name: str, verb: str) -> Door:
    return Door(f"{name}_{verb}", {})


def loan() -> DryLoan:
    """Four WETH cover 4,000 USDC."""
    legs = (Leg(WETH.address, 4 * ETH, cover_bps=8_250), Leg(USDC.address, -4_000 * USD))
    ref = PositionRef("aave_v3", "account", 31337, "0x1")
    return DryLoan(HeldPosition(Position(ref, "Account at Aave V3", legs), ()), legs)


def run(prices: Sequence[PricesAt], kinds: Sequence[str], *, has_range: bool = False) -> DryRun:
    return run_dry(
        strategies=parse_strategies({kind: ALL[kind] for kind in kinds}),
        prices=prices,
        tokens=(COIN, WETH, USDC, DAI),
        wallet={"ETH": ETH, "WETH": 3 * ETH, "USDC": 9_000 * USD, "DAI": 2_000 * ETH},
        rule=parse_liquidity_rule(RULE) if has_range else None,
        loans=(loan(),),
        offers=offers(),
        gas_wei=2 * 10**9,
    )


@pytest.mark.parametrize("market", MARKETS)
def test_six_strategies_and_a_range_break_no_rule_in_two_thousand_ticks_and_their_parts_add_up(market: str) -> None:
    prices = with_rates(MARKETS[market]())
    done = run(prices, list(ALL), has_range=True)
    assert len(ALL) == 6 and len(done.values) == len(prices) == TICKS
    judge(done, prices)


@pytest.mark.one_of_many
@pytest.mark.parametrize("market", ["recorded", "wild"])
@pytest.mark.parametrize("kind", [*ALL, "range"])
def test_each_by_itself_breaks_no_rule_and_its_parts_add_up(market: str, kind: str) -> None:
    prices = with_rates(MARKETS[market]())
    judge(run(prices, [kind] if kind in ALL else [], has_range=kind == "range"), prices)


def judge(done: DryRun, prices: Sequence[PricesAt]) -> None:
    """Every promise of every strategy, over what it did."""
    assert done.adds_up
    assert all(raw >= 0 for raw in done.held.values())
    assert done.untouched[0][1] == done.start_micro_usd
    assert sum(each.cost_micro_usd for each in done.trades) == done.costs_micro_usd
    at = {point.at: point.micro_usd["WETH"] for point in prices}
    apart(done, "regular_purchase", timedelta(hours=24))
    apart(done, "take_profit", timedelta(hours=24))
    rungs = [each.key for each in done.trades if each.key.startswith("rung:")]
    assert len(rungs) == len(set(rungs))
    assert all(at[each.at] <= 2_000 * USD for each in done.trades if each.key == "stop_loss")
    if any(each.key == "stop_loss" for each in done.trades):
        assert not [each for each in done.trades if each.bought == "WETH" and at[each.at] <= 2_000 * USD]
    judge_moves(done, prices)
    judge_range(done, at)


def apart(done: DryRun, key: str, least: timedelta) -> None:
    """No two of them within that time."""
    times = [each.at for each in done.trades if each.key == key]
    assert all(later - earlier >= least for earlier, later in zip(times, times[1:], strict=False))


def judge_moves(done: DryRun, prices: Sequence[PricesAt]) -> None:
    """It goes in where most is paid, leaves for half a percent more a day after it came, and never lends too much."""
    rates, lent, came = {point.at: point.yearly_ppm for point in prices}, 0, None
    for each in done.trades:
        if each.key == "rotate_in":
            best = max(rates[each.at].values())
            assert rates[each.at][(each.bought.split()[-1],) * 2] == best
            lent, came = lent + each.raw_sold, each.at
            assert lent <= 4_000 * USD
        elif each.key == "rotate_out":
            left = rates[each.at][(each.sold.split()[-1],) * 2]
            assert max(rates[each.at].values()) - left >= 50 * 100
            assert came is None or each.at - came >= 24 * HOUR
            lent = 0
    if not any(each.key == "rotate_in" for each in done.trades):
        assert done.earned_micro_usd == 0


def judge_range(done: DryRun, at: dict[Any, int]) -> None:
    """One range at a time: opened, and closed once the price is 5% away."""
    ends = [each for each in done.trades if each.key == "open" or each.key.startswith("close:")]
    assert [each.key for each in ends] == ["open" if n % 2 == 0 else "close:dry" for n in range(len(ends))]
    for opened, closed in zip(ends[::2], ends[1::2], strict=False):
        ratio = at[closed.at] / at[opened.at]
        assert ratio < 0.955 or ratio > 1.045


def fall_by(percent: int) -> list[PricesAt]:
    """WETH falls by a percent an hour."""
    return with_rates(
        [
            replace(point, micro_usd={**point.micro_usd, "WETH": 3_000 * USD * (100 - n) // 100})
            for n, point in enumerate(MARKETS["calm"]()[: percent + 1])
        ]
    )


def test_a_kept_loan_is_lowered_in_time_and_one_that_nobody_keeps_is_liquidated() -> None:
    left_alone, kept = run(fall_by(60), []), run(fall_by(60), ["loan_keeper"])
    assert list(left_alone.liquidated) == ["Account at Aave V3"] and not left_alone.trades
    assert not kept.liquidated and {each.key for each in kept.trades} == {"keep_loan:aave_v3/account/31337/0x1"}
    assert all(each.sold == "WETH" and each.bought == "debt in USDC" for each in kept.trades)
    assert kept.adds_up and left_alone.adds_up


def test_a_lowered_loan_has_the_health_that_its_owner_keeps() -> None:
    """At 2,700 dollars or so its health comes under 1.70; a sale for the debt brings it to 2.00."""
    (first, *_) = run(fall_by(60), ["loan_keeper"]).trades
    weth = next(point.micro_usd["WETH"] for point in fall_by(60) if point.at == first.at)
    cover, owed = 4 * ETH - first.raw_sold, 4_000 * USD - first.raw_bought
    before = 4 * weth * 8_250 // (4_000 * USD)
    assert before < 17_000
    assert abs(cover * weth // ETH * 8_250 // owed - 20_000) <= 2


def test_without_anything_to_do_the_end_is_that_of_who_holds() -> None:
    done = run(with_rates(MARKETS["wild"]()[:300]), [])
    assert done.values == done.untouched and not done.trades and done.costs_micro_usd == 0


def test_what_a_trade_and_its_gas_cost_is_told_in_full() -> None:
    """100 dollars at 30 basis points, and 230,000 gas at 2 gwei and the price of ether."""
    prices = with_rates(MARKETS["calm"]()[:2])
    (bought,) = run(prices, ["regular_purchase"]).trades
    gas = 230_000 * 2 * prices[0].micro_usd["ETH"] // 10**9
    assert abs(bought.cost_micro_usd - 100 * USD * 30 // BPS - gas) <= 10
