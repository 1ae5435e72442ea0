"""Liquidity before it is provided: against numbers from the papers, drawn paths one by one, and a replay by hand."""

from __future__ import annotations

from decimal import Decimal
from math import exp, sqrt
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.evm.world import World
from tests.tools_app.factories import answer_of, call_tool, make_context
from tests.tools_app.history.conftest import followed as followed
from tests.tools_app.history.followed import Followed
from tools_app.core.errors import InvalidParams
from tools_app.core.ratio import Ratio
from tools_app.portfolio.pool_history import InsufficientHistory, Trade
from tools_app.subsystems.intel.lp_maths import (
    RangeStrategy,
    hourly_prices,
    hourly_volatility,
    range_around,
    replay,
)
from tools_app.subsystems.intel.range_paths import try_widths

FEE = 3_000


def make_trades(prices: list[float], *, in1: int = 10**9) -> list[Trade]:
    return [Trade(at, at * 600, 0, in1, Ratio(round(price * 10**12), 10**12)) for at, price in enumerate(prices)]


def trade_for_hours(followed: Followed, hours: int) -> None:
    for hour in range(hours):
        followed.swap((1 + hour % 3) * 10**11)
        followed.world.rpc.call("evm_increaseTime", 3_600)
    followed.world.refresh_feeds()
    followed.mine(2)
    followed.watch(followed.pool.address)
    followed.follow()
    while followed.fill():
        pass


def test_volatility_is_the_weighted_mean_of_squared_returns_by_the_hour() -> None:
    draw = Random(2)
    prices = [1.0]
    for _ in range(400):
        prices.append(prices[-1] * exp(draw.gauss(0, 0.02)))
    returns = [np.log(after / before) for before, after in zip(prices, prices[1:], strict=False)]
    weights = [0.94 ** (len(returns) - 1 - at) * (0.06 if at else 1) for at in range(len(returns))]
    own = sqrt(sum(weight * each**2 for weight, each in zip(weights, returns, strict=True)))
    assert hourly_volatility(prices) == pytest.approx(own)
    assert hourly_volatility([1.0]) == 0
    trades = make_trades([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
    quiet = Trade(99, 4 * 3_600, 0, 1, Ratio(2, 1))
    assert hourly_prices([*trades, quiet]) == pytest.approx([1.5, 1.6, 1.6, 1.6, 2.0])


def test_drawn_paths_come_to_what_is_known_of_such_paths() -> None:
    volatility, hours = 0.005, 240
    found = try_widths(
        2.0,
        (0.1, 0.99),
        hourly_volatility=volatility,
        hours=hours,
        paths=40_000,
        fees_an_hour=10.0,
        pool_liquidity=1e9,
        amount=1_000.0,
        seed=1,
    )
    spread = volatility * sqrt(hours)
    nearly_whole = found[1]
    # Full range: the mean of sqrt(P) of such a walk is known, and impermanent loss follows from it.
    own = 2 * exp(-(spread**2) / 8) - 2
    assert nearly_whole.time_in_range == 1
    assert nearly_whole.il == pytest.approx(own / 2 / (1 - 0.1), rel=0.12)
    assert nearly_whole.fees == pytest.approx(
        10 * hours * (1000 / nearly_whole.place.worth(2.0)) / 1e9 / 1000, rel=1e-3
    )
    narrow = found[0]
    inside = np.abs(np.cumsum(np.random.default_rng(7).normal(0, volatility, (20_000, hours)), axis=1)) < -np.log(0.9)
    assert narrow.time_in_range == pytest.approx(inside.mean(), abs=0.01)
    assert narrow.ends_in_range == pytest.approx(inside[:, -1].mean(), abs=0.015)
    assert narrow.il < nearly_whole.il < 0


def test_a_replay_earns_its_share_of_each_fee_in_range_and_nothing_outside() -> None:
    prices = [1.0, 1.05, 1.2, 1.3, 1.05]
    place = range_around(1.0, 0.1)
    amount = 1_000_000.0
    liquidity = amount / place.worth(1.0)
    found = replay(
        make_trades(prices), RangeStrategy("", 0.1, False), amount=amount, fee=FEE, pool_liquidity=liquidity, gas=5.0
    )
    assert found.fees == pytest.approx(3 * 10**9 * 0.003 / 2), "in three of five trades, half the liquidity"
    assert (found.rebalances, found.gas) == (0, 0)
    assert found.end == pytest.approx(liquidity * place.worth(1.05) + found.fees)
    assert found.il == pytest.approx(liquidity * (place.worth(1.05) - place.hold_worth(1.0, 1.05)))
    moved = replay(
        make_trades(prices), RangeStrategy("", 0.1, True), amount=amount, fee=FEE, pool_liquidity=liquidity, gas=5.0
    )
    assert moved.rebalances == 2 and moved.gas > 10
    assert moved.sharpe is None, "a day is no course"


def test_one_huge_swap_and_prices_that_stand_still_break_no_replay() -> None:
    for prices in ([1.0] * 5, [1.0, 1e9, 1.0]):
        found = replay(
            make_trades(prices), RangeStrategy("", 0.5, True), amount=10.0, fee=FEE, pool_liquidity=0.0, gas=1e12
        )
        assert found.end > 0 and found.rebalances == 0


@pytest.mark.django_db
def test_impermanent_loss_of_a_real_pool_is_the_formulas(chain: World) -> None:
    ranged, whole = chain.pool("v3", "USDC", "WETH", 500), chain.pool("v2", "USDC", "WETH")
    told = answer_of(make_context(chain), "intel_calculate_il", pool=whole.address, price_change="2")
    assert float(told["il_pct"]) == pytest.approx(100 * (2 * sqrt(2) / 3 - 1), abs=1e-4)
    sized = answer_of(
        make_context(chain), "intel_calculate_il", pool=ranged.address, price_change="4", position_size_usd="1000"
    )
    assert Decimal(sized["il_usd"]) < 0 and sized["is_in_range_then"]
    same = answer_of(make_context(chain), "intel_calculate_il", pool=ranged.address, price_change="1")
    assert same["il_pct"] == "0"
    for params in ({"tick_lower": 5, "tick_upper": 5}, {"tick_lower": 9, "tick_upper": 5}):
        with pytest.raises(InvalidParams):
            call_tool(make_context(chain), "intel_calculate_il", pool=ranged.address, price_change="2", **params)
    with pytest.raises(InvalidParams, match="no ranges"):
        call_tool(
            make_context(chain), "intel_calculate_il", pool=whole.address, price_change="2", tick_lower=1, tick_upper=2
        )


@pytest.mark.django_db
def test_the_best_range_takes_a_day_of_prices_that_move(followed: Followed) -> None:
    asked: dict[str, Any] = {"token0": "USDC", "token1": "WETH", "amount_usd": "10000", "fee": 500}
    followed.world.rpc.call("evm_increaseTime", 8 * 86_400)
    followed.mine()
    trade_for_hours(followed, 23)
    with pytest.raises(InsufficientHistory):
        call_tool(make_context(followed.world), "intel_optimize_range", **asked)
    trade_for_hours(followed, 2)
    told = answer_of(make_context(followed.world), "intel_optimize_range", **asked, risk_tolerance="aggressive")
    assert len(told["candidate_ranges"]) == 4
    best = told["optimal_range"]
    assert best["tick_lower"] % 10 == 0 == best["tick_upper"] % 10
    assert best["tick_lower"] < best["tick_upper"]
    assert told["basis"]["confidence"] == "low", "a day of hours is a small sample"
    again = answer_of(make_context(followed.world), "intel_optimize_range", **asked, risk_tolerance="aggressive")
    assert again["optimal_range"] == best, "the same paths are drawn each time"
    tested = answer_of(make_context(followed.world), "intel_backtest_strategy", **asked, days=2)
    assert len(tested["results"]) == 4
    worth = [Decimal(each["end_value_usd"]) for each in tested["results"]]
    assert worth == sorted(worth, reverse=True)
    tiers = answer_of(make_context(followed.world), "intel_recommend_fee_tier", token0="USDC", token1="WETH")
    assert tiers["recommended_tier"] == 500, "the only tier with trades"
    switch = answer_of(
        make_context(followed.world),
        "intel_calculate_fee_switch_impact",
        pool=followed.pool.address,
        fee_switch_bps=2_500,
    )
    assert float(switch["post_switch_fee_apy"]) == pytest.approx(0.75 * float(switch["current_fee_apy"]), rel=1e-4)
    scene = answer_of(
        make_context(followed.world),
        "intel_simulate_pool_scenario",
        pool=followed.pool.address,
        scenario="sideways",
        tick_lower=best["tick_lower"],
        tick_upper=best["tick_upper"],
        position_size_usd="10000",
        duration_days=3,
    )
    assert [each["is_in_range"] for each in scene["daily_projections"]] == [True] * 3
    assert abs(Decimal(scene["projected_il_usd"])) < Decimal("0.01")
    assert Decimal(scene["projected_fees_usd"]) > 0
