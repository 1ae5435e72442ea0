"""What a golem may come to hold: the rules beside exact fractions, and the figures of a refusal."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permits_app.safety.assets import Portfolio
from permits_app.safety.holding_rules import judge_asset_count, judge_concentration, judge_position

USD = 1_000_000


def portfolio(before: dict[str, int], after: dict[str, int]) -> Portfolio:
    return Portfolio(before, after, {"w": "WETH", "u": "USDC"}, base_asset="u")


@pytest.mark.parametrize(
    ("value", "total", "share", "most"),
    [
        (300 * USD, 1_000 * USD, "3000 bps (30%)", "$250.00"),
        (1 * USD, 3 * USD, "3334 bps (33.34%)", "$0.75"),
        (5 * USD, 0, "all of it", "$0.00"),
    ],
)
def test_a_refused_position_says_its_share_and_what_would_pass(value: int, total: int, share: str, most: str) -> None:
    refusal = judge_position(value_micro_usd=value, total_micro_usd=total, most_bps=2_500)
    assert refusal is not None
    assert (refusal.observed, refusal.limit) == (share, "2500 bps (25%)")
    assert refusal.would_pass == f"a position of at most {most}"
    assert f"would be {share} of the portfolio" in refusal.reason


@pytest.mark.parametrize(
    ("before", "after", "observed", "up_from", "remaining"),
    [
        ({"u": 1_000}, {"u": 600, "w": 400}, "4000 bps (40%)", "0 bps (0%)", "$300.00"),
        ({"u": 800, "w": 200}, {"u": 600, "w": 400}, "4000 bps (40%)", "2000 bps (20%)", "$100.00"),
        ({"u": 100, "w": 900}, {"u": 99, "w": 901}, "9010 bps (90.1%)", "9000 bps (90%)", "$0.00"),
        ({}, {"w": 1_000}, "10000 bps (100%)", "all of it", "$300.00"),
    ],
)
def test_a_refused_concentration_says_what_it_was_what_it_would_be_and_what_remains(
    before: dict[str, int], after: dict[str, int], observed: str, up_from: str, remaining: str
) -> None:
    in_usd = ({asset: value * USD for asset, value in each.items()} for each in (before, after))
    refusal = judge_concentration(portfolio=portfolio(*in_usd), most_bps=3_000)
    assert refusal is not None
    assert (refusal.observed, refusal.limit, refusal.remaining) == (observed, "3000 bps (30%)", remaining)
    assert refusal.reason.endswith(f"up from {up_from}")
    assert refusal.would_pass == "WETH worth at most $300.00 in all"
    assert refusal.data == {"asset": "w"}


_holdings = st.dictionaries(st.sampled_from(["u", "w", "d"]), st.integers(0, 30), max_size=3)


@given(before=_holdings, after=_holdings, most_bps=st.sampled_from([0, 1_000, 3_000, 5_000, 10_000]))
def test_concentration_is_refused_where_a_share_is_too_large_and_grows(
    before: dict[str, int], after: dict[str, int], most_bps: int
) -> None:
    total_before, total_after = sum(before.values()), sum(after.values())
    too_large = [
        asset
        for asset, value in after.items()
        if asset != "u"
        and Fraction(value, total_after or 1) > Fraction(most_bps, 10_000)
        and (not total_before or Fraction(value, total_after) > Fraction(before.get(asset, 0), total_before))
    ]
    refusal = judge_concentration(portfolio=portfolio(before, after), most_bps=most_bps)
    assert (refusal.data["asset"] if refusal is not None else None) == (too_large[0] if too_large else None)


def test_too_many_assets_are_told_with_the_room_there_is() -> None:
    refusal = judge_asset_count(count=11, most=10)
    assert refusal is not None
    assert (refusal.observed, refusal.limit) == ("11 assets", "10 assets")
