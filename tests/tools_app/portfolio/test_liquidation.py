"""When a debt is liquidated, held against prices that are moved until its health is 1.00, and against a lender."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.portfolio.liquidation import Liquidation, describe_liquidation, measure_liquidation, show_price
from tools_app.toolkit.positions import ACCOUNT, Leg, Position, PositionRef

REF = PositionRef("bank", ACCOUNT, 1, "0x1")
ETH, BTC, USD = "0xE", "0xB", "0xD"
PRICES: Mapping[str, Fraction] = {ETH: Fraction(3_000), BTC: Fraction(60_000), USD: Fraction(1)}
ONE = 10**8


def position(
    held: Mapping[str, int], owed: Mapping[str, int], word: int | None = None, cover_bps: int = 8_000
) -> Position:
    legs = (
        *(Leg(token, raw, cover_bps=cover_bps) for token, raw in held.items()),
        *(Leg(token, -raw) for token, raw in owed.items()),
    )
    return Position(ref=REF, label="Account at the bank", legs=legs, health_bps=word)


def measure(told: Position, prices: Mapping[str, Fraction] = PRICES) -> Liquidation | None:
    def value_of(token: str, raw: int) -> int:
        return int(prices[token] * raw * 10**6 // ONE)

    return measure_liquidation(told, value_of, lambda token: ONE)


def weigh(told: Position, prices: Mapping[str, Fraction]) -> Fraction:
    """Cover less debt in dollars, with the threshold counted: what a lender's own arithmetic says, written anew."""
    cover = sum(Fraction(leg.raw * leg.cover_bps, 10_000 * ONE) * prices[leg.token] for leg in told.legs if leg.raw > 0)
    debt = sum(Fraction(-leg.raw, ONE) * prices[leg.token] for leg in told.legs if leg.raw < 0)
    return Fraction(cover) - Fraction(debt)


def test_one_cover_is_liquidated_at_the_price_that_pays_its_debt() -> None:
    # 2 ETH at 3,000 with 80% counted cover 1,800 owed until an ether is worth 1,125.
    found = measure(position({ETH: 2 * ONE}, {USD: 1_800 * ONE}))
    assert found is not None
    assert (found.fall_bps, found.owed_micro_usd, found.cover_micro_usd) == (6_249, 1_800_000_000, 6_000_000_000)
    ether, dollar = found.prices
    assert ether.alone == 1_125 and dollar.together is None
    assert dollar.alone == Fraction(8, 3)


def test_of_several_covers_the_common_fall_and_each_price_alone_are_told() -> None:
    found = measure(position({ETH: 10 * ONE, BTC: ONE // 10}, {USD: 20_000 * ONE}))
    assert found is not None
    ether, coin, _ = found.prices
    # 24,000 and 4,800 are counted; 20,000 is owed: all may fall to 20/28.8, an ether alone to 15,200/24,000.
    assert ether.alone == Fraction(3_000 * 15_200, 24_000)
    assert coin.alone is None
    assert ether.together is not None and abs(ether.together / 3_000 - Fraction(20_000, 28_800)) < Fraction(1, 5_000)


def test_a_lenders_lower_word_counts_its_cover_for_as_much_less() -> None:
    found = measure(position({ETH: 2 * ONE}, {USD: 1_800 * ONE}, word=20_000))
    assert found is not None and found.fall_bps == 5_000
    assert found.prices[0].together == found.prices[0].alone == 1_500


def test_no_debt_and_no_cover_have_no_price() -> None:
    assert measure(position({ETH: ONE}, {})) is None
    found = measure(position({}, {USD: ONE}))
    assert found is not None and (found.fall_bps, found.prices) == (0, ())


def test_what_is_owed_in_its_own_cover_is_liquidated_by_no_price_of_it() -> None:
    found = measure(position({USD: 1_000 * ONE}, {USD: 500 * ONE}))
    assert found is not None and found.prices[0].alone is None and found.fall_bps > 0


@given(
    ether=st.integers(1, 10**4),
    coin=st.integers(0, 10**3),
    owed=st.integers(1, 10**8),
    borrowed=st.integers(0, 100),
)
def test_at_each_price_alone_cover_and_debt_are_equal(ether: int, coin: int, owed: int, borrowed: int) -> None:
    told = position({ETH: ether * ONE, BTC: coin * ONE // 100}, {USD: owed * ONE, BTC: borrowed * ONE // 100})
    found = measure(told)
    assert found is not None
    if weigh(told, PRICES) <= 0:
        assert found.fall_bps == 0
        return
    for each in found.prices:
        if each.alone is None:
            nothing, much = ({**PRICES, each.token: PRICES[each.token] * by} for by in (Fraction(0), Fraction(10**12)))
            assert weigh(told, nothing) >= 0 and weigh(told, much) >= 0
            continue
        moved = {**PRICES, each.token: each.alone}
        debt = sum(Fraction(-leg.raw, ONE) * moved[leg.token] for leg in told.legs if leg.raw < 0)
        # Worth is told in whole millionths, a health in whole basis points.
        assert abs(weigh(told, moved)) <= debt / 2_000


@pytest.mark.parametrize(
    ("dollars", "told", "up"),
    [
        (Fraction(1125), "1125.00", "1125.00"),
        (Fraction(1, 3), "0.333333", "0.333334"),
        (Fraction(123457, 10**10), "0.0000123457", "0.0000123457"),
        (Fraction(0), "0.00", "0.00"),
    ],
)
def test_a_price_keeps_its_digits_however_small(dollars: Fraction, told: str, up: str) -> None:
    assert (show_price(dollars), show_price(dollars, up=True)) == (told, up)


def test_where_nothing_is_priced_the_lenders_word_alone_is_told() -> None:
    told = describe_liquidation(
        position({ETH: ONE}, {USD: ONE}, word=12_500),
        value_of=lambda token, raw: 0,
        unit_of=lambda token: ONE,
        name_of=lambda token: token,
    )
    assert told == {"fall_bps": 2_000, "owed_micro_usd": "0", "cover_micro_usd": "0", "prices": []}
