"""Prices stay exact between text, ratio and square root, and never pass through floating point."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools_app.core import ratio as prices
from tools_app.protocols.uniswap.errors import AmountTooSmall, InvalidRange
from tools_app.protocols.uniswap.v3 import deposits
from tools_app.standards import concentrated as v3


@given(st.integers(1, 10**60), st.integers(1, 10**60))
@settings(max_examples=500, deadline=None)
def test_decimal_text_is_the_ratio_rounded_down_to_eighteen_digits(numerator: int, denominator: int) -> None:
    text = prices.decimal_text(numerator, denominator)
    exact, shown = Fraction(numerator, denominator), Fraction(text)
    assert shown <= exact
    assert exact - shown <= exact / 10**17
    assert "e" not in text.lower()
    assert len(Decimal(text).as_tuple().digits) <= 18 or text.endswith("0")


@pytest.mark.parametrize(
    ("numerator", "denominator", "text"),
    [(0, 5, "0"), (1, 4, "0.25"), (-25, 4, "-6.25"), (10**20, 1, "1" + "0" * 20), (2, 3, "0.666666666666666666")],
)
def test_decimal_text_of_known_ratios(numerator: int, denominator: int, text: str) -> None:
    assert prices.decimal_text(numerator, denominator) == text


@given(
    st.integers(1, 10**12),
    st.integers(0, 10**6 - 1),
    st.sampled_from((6, 8, 18)),
    st.sampled_from((6, 8, 18)),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_a_price_as_text_becomes_the_floor_of_its_square_root(
    whole: int, fraction: int, decimals0: int, decimals1: int, is_inverse: bool
) -> None:
    text = f"{whole}.{fraction:06d}"
    root = v3.sqrt_price_of_text(text, decimals0=decimals0, decimals1=decimals1, is_inverse=is_inverse)
    exact = Fraction(text)
    if is_inverse:
        exact = 1 / exact
    exact *= Fraction(10**decimals1, 10**decimals0)
    assert Fraction(root * root, v3.Q192) <= exact < Fraction((root + 1) ** 2, v3.Q192)


def test_a_price_no_pool_can_have_is_refused() -> None:
    for text in ("0", "0.0"):
        with pytest.raises(ValueError, match="above zero"):
            v3.sqrt_price_of_text(text, decimals0=18, decimals1=18)
    with pytest.raises(ValueError, match="no pool"):
        v3.sqrt_price_of_text("9" * 30, decimals0=6, decimals1=18)


@given(st.integers(v3.MIN_SQRT_PRICE * 2, v3.MAX_SQRT_PRICE // 2), st.integers(1, 5_000))
@settings(deadline=None)
def test_a_moved_price_moves_by_the_basis_points_asked(sqrt_price: int, bps: int) -> None:
    up, down = v3.sqrt_price_moved(sqrt_price, bps=bps), v3.sqrt_price_moved(sqrt_price, bps=-bps)
    assert down <= sqrt_price <= up
    wanted = Fraction(sqrt_price**2 * (10_000 + bps), 10_000)
    assert Fraction(up**2) <= wanted < Fraction((up + 1) ** 2)


@given(st.integers(1, 10**30), st.integers(0, 10**30))
@settings(deadline=None)
def test_shortfall_and_excess_are_never_both(ideal: int, actual: int) -> None:
    short, over = prices.shortfall_bps(ideal=ideal, actual=actual), prices.excess_bps(ideal=ideal, actual=actual)
    assert short == 0 or over == 0
    assert (short > 0) == (actual < ideal)
    assert (over > 0) == (actual > ideal)


@given(
    st.integers(-300_000, 300_000),
    st.integers(1, 3_000),
    st.integers(1, 3_000),
    st.one_of(st.none(), st.integers(10**6, 10**24)),
    st.one_of(st.none(), st.integers(10**6, 10**24)),
    st.integers(0, 500),
)
@settings(max_examples=300, deadline=None)
def test_a_deposit_uses_no_more_than_it_offers_and_offers_no_more_than_was_given(
    pool_tick: int, below: int, above: int, amount0: int | None, amount1: int | None, slippage_bps: int
) -> None:
    if amount0 is None and amount1 is None:
        return
    try:
        found = deposits.plan_deposit(
            v3.sqrt_price_at_tick(pool_tick),
            pool_tick - below,
            pool_tick + above,
            amount0=amount0,
            amount1=amount1,
            slippage_bps=slippage_bps,
        )
    except AmountTooSmall:
        return
    for side, given_amount in enumerate((amount0, amount1)):
        assert 0 <= found.least[side] <= found.used[side] <= found.offered[side]
        if given_amount is not None:
            assert found.offered[side] <= given_amount
    assert found.liquidity > 0


def test_a_range_contains_the_prices_it_was_asked_for() -> None:
    for lower, upper in (("2700", "3300"), ("0.0001", "99999"), ("2999.999999", "3000.000001")):
        ticks = deposits.ticks_of_range(lower, upper, decimals0=18, decimals1=6, spacing=60, is_inverse=False)
        assert v3.sqrt_price_at_tick(ticks[0]) <= v3.sqrt_price_of_text(lower, decimals0=18, decimals1=6)
        assert v3.sqrt_price_at_tick(ticks[1]) >= v3.sqrt_price_of_text(upper, decimals0=18, decimals1=6)
        assert ticks[0] % 60 == ticks[1] % 60 == 0


def test_a_range_that_holds_the_price_only_with_the_tokens_exchanged_is_refused() -> None:
    """WETH of 18 and USDC of 6 decimals at 3000: named the other way round, 2500 to 3500 is millions away."""
    now = v3.tick_at_sqrt_price(v3.sqrt_price_of_text("3000", decimals0=18, decimals1=6))

    def check(lower: str, upper: str, *, is_inverse: bool) -> None:
        shape = {"decimals0": 18, "decimals1": 6, "spacing": 10}
        ticks = deposits.ticks_of_range(lower, upper, is_inverse=is_inverse, **shape)
        deposits.check_way_round(now, ticks, lower, upper, is_inverse=is_inverse, **shape)

    check("2500", "3500", is_inverse=False)
    check("0.00028", "0.0004", is_inverse=True)
    # Far from the price, and no nearer to it the other way round: a range like any other.
    check("900000", "1000000", is_inverse=False)
    # Within a hundredfold it may be meant, whatever lies the other way round.
    check("30", "40", is_inverse=False)
    with pytest.raises(InvalidRange, match="the other way round"):
        check("2500", "3500", is_inverse=True)
    with pytest.raises(InvalidRange, match="the other way round"):
        check("0.00028", "0.0004", is_inverse=False)


def test_a_reversed_range_is_refused() -> None:
    with pytest.raises(InvalidRange):
        deposits.ticks_of_range("2", "1", decimals0=18, decimals1=18, spacing=60, is_inverse=False)
