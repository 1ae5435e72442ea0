"""Regimes of a price: the five words at their edges, hours without trades, and shares that add up."""

from __future__ import annotations

import pytest

from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context
from tools_app.portfolio.pool_history import InsufficientHistory
from tools_app.subsystems.intel.regime_maths import (
    REGIMES,
    close_hours,
    count_transitions,
    list_drifts,
    list_moves,
    name_regime,
)


@pytest.mark.parametrize(
    ("drift", "regime"),
    [
        (0.0, "sideways"),
        (0.499, "sideways"),
        (-0.499, "sideways"),
        (0.5, "weak_bull"),
        (-0.5, "weak_bear"),
        (1.499, "weak_bull"),
        (1.5, "strong_bull"),
        (-1.5, "strong_bear"),
    ],
)
def test_a_drift_has_its_word_from_half_a_deviation_and_from_one_and_a_half(drift: float, regime: str) -> None:
    assert name_regime(drift) == regime


def test_an_hour_without_a_trade_keeps_the_price_before_and_hours_before_the_first_are_left_out() -> None:
    trades = [(3_700, 10.0), (3_800, 11.0), (14_500, 12.0)]
    assert close_hours(trades, since=0, hours=5) == [11.0, 11.0, 11.0, 12.0]
    assert close_hours([], since=0, hours=5) == []


def test_a_price_that_stands_still_goes_sideways() -> None:
    drifts = list_drifts(list_moves([5.0] * 60))
    assert len(drifts) == 36 and {name_regime(each) for each in drifts} == {"sideways"}


def test_a_price_that_rises_with_noise_is_a_strong_bull_and_its_mirror_a_strong_bear() -> None:
    closes = [100.0 * 1.01**hour * (1.002 if hour % 2 else 1.0) for hour in range(60)]
    mirrored = [1 / each for each in closes]
    drifts, other = list_drifts(list_moves(closes)), list_drifts(list_moves(mirrored))
    assert name_regime(drifts[-1]) == "strong_bull" and name_regime(other[-1]) == "strong_bear"
    assert drifts == pytest.approx([-each for each in other])


def test_shares_of_what_followed_add_up_and_call_nothing_impossible() -> None:
    shares = count_transitions(["sideways", "weak_bull", "sideways", "sideways"])
    assert sum(shares.values()) == pytest.approx(1) and set(shares) == set(REGIMES)
    # Two hours went sideways before another: one rose, one did not.
    assert shares["weak_bull"] == pytest.approx(2 / 7) == shares["sideways"]
    assert min(shares.values()) == pytest.approx(1 / 7)


@pytest.mark.django_db
def test_a_regime_takes_thirty_hours_of_prices_and_says_how_many_there_are(chain: World) -> None:
    with pytest.raises(InsufficientHistory) as refused:
        call_tool(make_context(chain), "intel_classify_regime", asset="WETH")
    assert refused.value.data["needed"] == 31 and refused.value.data["known"] < 31
