"""Figures of order flow against other ways to compute them, and at their edges."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt
from random import Random

import pytest

from tools_app.core.ratio import Ratio
from tools_app.portfolio.pool_history import Trade
from tools_app.standards.concentrated import MAX_POOL_TICK, sqrt_price_at_tick, sqrt_price_of_ratio, tick_at_sqrt_price
from tools_app.subsystems.intel import flow_maths
from tools_app.subsystems.intel.entry_doubts import doubt_market
from tools_app.subsystems.intel.figure_basis import wilson
from tools_app.subsystems.intel.indexed_market import DayFlow, KnownMarket
from tools_app.subsystems.intel.range_maths import change_in_range
from tools_app.toolkit.markets import Pool
from tools_app.toolkit.pool_ids import PoolId

FEE = 3_000
Q96 = 2**96


def make_trade(block: int, *, in0: int = 0, in1: int = 0, price: float = 1.0) -> Trade:
    return Trade(block, block * 12, in0, in1, Ratio(round(price * 10**12), 10**12))


def vpin_by_boundaries(volumes: list[int], buckets: int) -> float:
    """The same figure from the running sums at the buckets' edges."""
    whole = sum(map(abs, volumes))
    edges, signed, total = [(0, 0)], 0, 0
    for volume in volumes:
        total, signed = total + abs(volume), signed + volume
        edges.append((total, signed))

    def at(place: Fraction) -> Fraction:
        for (start, before), (end, after) in zip(edges, edges[1:], strict=False):
            if start <= place <= end and end > start:
                return before + (after - before) * (place - start) / (end - start)
        raise AssertionError(place)

    marks = [at(Fraction(whole * each, buckets)) for each in range(buckets + 1)]
    return float(sum(abs(b - a) for a, b in zip(marks, marks[1:], strict=False)) / whole)


def test_vpin_is_what_the_sums_at_the_edges_of_its_buckets_say() -> None:
    draw = Random(5)
    for buckets in (2, 7, 50):
        volumes = [draw.choice((-1, 1)) * draw.randint(1, 10**24) for _ in range(400)]
        found = flow_maths.compute_vpin(volumes, buckets)
        assert found.value == pytest.approx(vpin_by_boundaries(volumes, buckets), rel=1e-9)
        assert len(found.series) == buckets


def test_vpin_of_one_side_is_one_and_of_sides_in_turn_is_nothing() -> None:
    assert flow_maths.compute_vpin([5] * 200, 10).value == 1
    assert flow_maths.compute_vpin([5, -5] * 100, 10).value == 0


def test_tossed_sides_show_about_what_chance_is_said_to_show() -> None:
    draw = Random(11)
    found = flow_maths.compute_vpin([draw.choice((-1, 1)) * draw.randint(50, 150) for _ in range(5_000)], 50)
    assert found.value == pytest.approx(found.by_chance, rel=0.25)
    informed = [draw.choices((-1, 1), (1, 9 if at // 250 % 2 else 1))[0] * 100 for at in range(5_000)]
    assert flow_maths.compute_vpin(informed, 50).value > 3 * found.by_chance


def test_one_huge_swap_fills_buckets_alone_and_chance_says_as_much() -> None:
    found = flow_maths.compute_vpin([1] * 100 + [10_000], 50)
    assert found.value > 0.95
    assert found.by_chance > 0.7, "a sample of one trade says nothing, and it is told"


def test_nothing_traded_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing was traded"):
        flow_maths.compute_vpin([0, 0], 10)


def test_the_modelled_loss_is_what_a_rebalanced_portfolio_gains_over_the_pool() -> None:
    draw = Random(3)
    price, prices = 1.0, [(0, 1.0)]
    lost = 0.0
    liquidity = 10**24
    for block in range(1, 20_000):
        moved = price * (1 + draw.gauss(0, 0.0005))
        lost += liquidity / sqrt(price) * (moved - price) - 2 * liquidity * (sqrt(moved) - sqrt(price))
        price = moved
        prices.append((block, price))
    # The model takes today's depth; over such a walk it differs by as much as the root of the price moved.
    pool = Pool("v3", PoolId(""), "a", "b", FEE, sqrt_price=Q96, liquidity=liquidity)
    modelled = flow_maths.lost_to_rebalancing(pool, flow_maths.realised_variance(prices))
    assert modelled == pytest.approx(lost, rel=0.1)


def test_a_pool_of_reserves_has_the_depth_of_the_same_pool_of_one_range() -> None:
    v2 = Pool("v2", PoolId(""), "a", "b", FEE, reserve0=4 * 10**18, reserve1=9 * 10**18)
    v3 = Pool("v3", PoolId(""), "a", "b", FEE, sqrt_price=Q96 * 3 // 2, liquidity=6 * 10**18)
    assert flow_maths.depth_value(v2) == pytest.approx(flow_maths.depth_value(v3)) == pytest.approx(9e18)
    assert flow_maths.depth_value(Pool("v2", PoolId(""), "a", "b", FEE)) == 0


def test_prices_that_stand_still_lose_nothing() -> None:
    trades = [make_trade(block, in0=5) for block in range(50)]
    assert flow_maths.realised_variance(flow_maths.block_prices(trades)) == 0
    assert flow_maths.arbitrage_share(FEE, 0.0, 12) == 0


def test_a_markout_is_the_sum_of_each_trade_at_the_price_after_it() -> None:
    draw = Random(9)
    price, trades = 2.0, []
    for block in range(0, 600, 2):
        price *= 1 + draw.gauss(0, 0.01)
        is_sale = draw.random() < 0.5
        trades.append(make_trade(block, in0=10**9 if is_sale else 0, in1=0 if is_sale else 10**9, price=price))
    for blocks in (5, 20, 100):
        own, counted = 0.0, 0
        for at in range(1, len(trades)):
            each = trades[at]
            later = [row for row in trades if row.block <= each.block + blocks]
            if each.block + blocks > trades[-1].block:
                continue
            after = later[-1].price.numerator / later[-1].price.denominator
            before = trades[at - 1].price.numerator / trades[at - 1].price.denominator
            filled = sqrt(before * each.price.numerator / each.price.denominator)
            paid = each.in0 * 0.997 * filled if each.in0 else each.in1 * 0.997 / filled * after
            own += (each.in0 * after if each.in0 else each.in1) - paid
            counted += 1
        assert flow_maths.mark_out(trades, FEE, blocks) == (pytest.approx(own), counted)
    assert flow_maths.mark_out([], FEE, 5) == (0.0, 0)


def test_moves_against_a_trade_are_those_of_stretches_that_do_not_overlap() -> None:
    prices = [(0, 100.0), (1, 101.0), (3, 103.0), (4, 102.0), (8, 90.0)]
    assert flow_maths.adverse_moves(prices, 3, rises=True) == [
        pytest.approx(0.03),
        pytest.approx(-1 / 103),
        0,
    ]
    assert flow_maths.adverse_moves(prices, 3, rises=False)[0] == pytest.approx(-0.03)
    assert flow_maths.adverse_moves([(0, 1.0)], 3, rises=True) == []


def test_the_interval_of_a_share_is_wilsons() -> None:
    low, high = wilson(10, 100)
    assert (low, high) == (pytest.approx(0.05523, abs=1e-4), pytest.approx(0.17437, abs=1e-4))
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 30)[0] == 0 and wilson(0, 30)[1] == pytest.approx(0.11352, abs=1e-4)


@pytest.mark.parametrize(
    ("edges", "multiple", "percent"), [(None, "2", -5.719), ((0.5, 2.0), "2", -19.526), (None, "0.5", -5.719)]
)
def test_impermanent_loss_is_what_the_papers_say(
    edges: tuple[float, float] | None, multiple: str, percent: float
) -> None:
    top = MAX_POOL_TICK - 1
    ticks = (-top, top) if edges is None else tuple(round(log(each) / log(1.0001)) for each in edges)
    found = change_in_range(Q96, Fraction(multiple), ticks[0], ticks[1])
    assert float(found.il * 100) == pytest.approx(percent, abs=0.002)


def test_equal_prices_lose_nothing_and_a_range_of_one_tick_loses_as_if_it_was_sold_at_its_edge() -> None:
    assert change_in_range(Q96, Fraction(1), -600, 600).il == 0
    narrow = change_in_range(sqrt_price_of_ratio(10_000_5, 10_000_0), Fraction(2), 0, 1)
    assert tick_at_sqrt_price(sqrt_price_of_ratio(10_000_5, 10_000_0)) == 0
    start = Fraction(10_000_5, 10_000_0)
    low, high = (Fraction(sqrt_price_at_tick(each), Q96) for each in (0, 1))
    root = Fraction(sqrt_price_of_ratio(10_000_5, 10_000_0), Q96)
    amount0, amount1 = 1 / root - 1 / high, root - low
    held = amount0 * start * 2 + amount1
    assert float(narrow.il) == pytest.approx(float((high - low) / held - 1), abs=1e-6)


@pytest.mark.parametrize(
    ("multiple", "lower", "upper"), [("2", 60, 60), ("2", 60, -60), ("0", -60, 60), ("1" + "0" * 80, -60, 60)]
)
def test_a_range_upside_down_and_a_price_nobody_reaches_are_refused(multiple: str, lower: int, upper: int) -> None:
    with pytest.raises(ValueError, match=r"tick|price|pool"):
        change_in_range(Q96, Fraction(multiple), lower, upper)


def test_a_wash_trader_can_hide_a_one_sided_flow_and_can_let_nobody_enter_who_would_not_without_knowing() -> None:
    """Who buys from itself adds as much on both sides. What is hidden is no doubt, and no doubt is what nobody knew."""
    informed = [10**18] * 200
    washed = [each for volume in informed for each in (volume, 20 * 10**18, -20 * 10**18)]
    before, after = flow_maths.compute_vpin(informed, 50), flow_maths.compute_vpin(washed, 50)
    assert before.value == 1.0 and after.value < 0.2
    size = 10**9

    def doubts(found: flow_maths.Vpin | None) -> int:
        flow = DayFlow(found.value, found.by_chance, 200) if found is not None else None
        return len(doubt_market(KnownMarket("0x11", True, None, flow, None), size_micro_usd=size))

    assert (doubts(before), doubts(after), doubts(None)) == (1, 0, 0)
