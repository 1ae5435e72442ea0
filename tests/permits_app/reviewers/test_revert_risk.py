"""How often a price moved further than a plan tolerates: counted, and held against a naive count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permits_app.reviewers.pool_facts import PoolOfCalldata
from permits_app.reviewers.revert_risk import count_wait_blocks, estimate_revert, join_risks, measure_tolerance
from tests.permits_app.safety.calls import USDC, WETH
from tools_app.toolkit.markets import Pool, PricePoint
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.pool_ids import PoolId

POOL = Pool("v3", PoolId("0x1"), "0x0a", "0x0b", 500)


def points(*prices: tuple[int, int]) -> list[PricePoint]:
    return [PricePoint(block, price, 1_000) for block, price in prices]


def estimate(prices: list[PricePoint], **changes: int | bool) -> int:
    asked: dict[str, int | bool] = {
        "first_block": 0,
        "last_block": 100,
        "wait_blocks": 10,
        "tolerance_bps": 100,
        "falls_hurt": True,
        "rises_hurt": False,
        **changes,
    }
    return estimate_revert(prices=prices, **asked)  # type: ignore[arg-type]


def test_a_quiet_market_reverts_nothing() -> None:
    assert estimate([]) == 0
    assert estimate(points((0, 1_000))) == 0


def test_a_fall_is_seen_by_every_wait_that_spans_it() -> None:
    # Blocks 41..50 start before block 51 and end at or after it: 10 of the 91 trials.
    assert estimate(points((0, 1_000), (51, 900))) == 10 * 1_000_000 // 91


def test_a_fall_hurts_the_seller_and_a_rise_does_not() -> None:
    falling, rising = points((0, 1_000), (51, 900)), points((0, 900), (51, 1_000))
    assert estimate(falling, falls_hurt=False, rises_hurt=True) == 0
    assert estimate(rising) == 0
    assert estimate(rising, rises_hurt=True) > 0


@pytest.mark.parametrize(("after", "is_hurt"), [(990, False), (989, True)])
def test_exactly_the_tolerance_is_tolerated(after: int, is_hurt: bool) -> None:
    assert bool(estimate(points((0, 1_000), (51, after)))) == is_hurt


def test_what_was_before_the_first_known_price_is_not_tried() -> None:
    assert estimate(points((95, 1_000), (96, 10)), wait_blocks=10) == 0
    assert estimate(points((95, 1_000), (96, 10)), wait_blocks=1) == 1_000_000 // 5


@given(
    prices=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 2_000)), max_size=12, unique_by=lambda each: each[0]),
    wait=st.integers(1, 30),
    tolerance=st.integers(0, 2_000),
    falls=st.booleans(),
    rises=st.booleans(),
)
def test_the_count_is_that_of_a_naive_reading(
    prices: list[tuple[int, int]], wait: int, tolerance: int, falls: bool, rises: bool
) -> None:
    ordered = sorted(prices)
    trials, hurt = 0, 0
    for block in range(61):
        known = [price for at, price in ordered if at <= block]
        if block + wait > 60 or not known:
            continue
        later = [price for at, price in ordered if at <= block + wait][-1]
        trials += 1
        fell = later * 10_000 < known[-1] * (10_000 - tolerance)
        rose = known[-1] * 10_000 < later * (10_000 - tolerance)
        hurt += (fell and falls) or (rose and rises)
    expected = hurt * 1_000_000 // trials if trials else 0
    found = estimate(
        points(*ordered), last_block=60, wait_blocks=wait, tolerance_bps=tolerance, falls_hurt=falls, rises_hurt=rises
    )
    assert found == expected


def test_risks_of_several_pools_add_up_to_at_most_one() -> None:
    assert join_risks([]) == 0
    assert join_risks([30_000, 30_000]) == 60_000
    assert join_risks([900_000, 900_000]) == 1_000_000


def test_the_wait_follows_the_pace_of_the_chain() -> None:
    assert count_wait_blocks(wait_seconds=60, blocks=1_000, seconds=12_000) == 5
    assert count_wait_blocks(wait_seconds=60, blocks=1_000, seconds=2_000) == 30
    assert count_wait_blocks(wait_seconds=60, blocks=1_000, seconds=3) == 60
    assert count_wait_blocks(wait_seconds=60, blocks=0, seconds=0) == 1
    assert count_wait_blocks(wait_seconds=3_600, blocks=100, seconds=100) == 50


def test_the_tolerance_is_the_distance_from_quote_to_bound() -> None:
    plan = TxPlan(31337, (), spends=(TokenFlow(USDC, 500, 500),), receives=(TokenFlow(WETH, 10_000, 9_950),))
    assert measure_tolerance(plan) == 50
    exact_out = TxPlan(31337, (), spends=(TokenFlow(USDC, 9_900, 10_000),), receives=(TokenFlow(WETH, 7, 7),))
    assert measure_tolerance(exact_out) == 100
    assert measure_tolerance(TxPlan(31337, ())) == 0


def test_which_token_is_sold_decides_what_hurts() -> None:
    assert PoolOfCalldata(POOL, "0x0a", "0x0b").sells_token0
    assert not PoolOfCalldata(POOL, "0x0b", "0x0a").sells_token0
