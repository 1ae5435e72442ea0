"""The health score is integers from 0 to 100, and more of a good thing never lowers it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools_app.core.ratio import Ratio
from tools_app.subsystems.data import health_score
from tools_app.subsystems.data.health_score import Scores

USD = 10**6


@pytest.mark.parametrize(
    ("dollars", "score"),
    [
        (0, 0),
        (999, 0),
        (1_000, 0),
        (5_500, 10),
        (10_000, 20),
        (100_000, 40),
        (10**6, 60),
        (10**7, 80),
        (10**8, 100),
        (10**12, 100),
    ],
)
def test_the_size_score_follows_its_table(dollars: int, score: int) -> None:
    assert health_score.score_tvl(dollars * USD) == score


@given(st.integers(0, 10**16), st.integers(0, 10**16))
@settings(deadline=None)
def test_more_in_a_pool_never_scores_less(first: int, second: int) -> None:
    low, high = sorted((first, second))
    assert 0 <= health_score.score_tvl(low) <= health_score.score_tvl(high) <= 100


@given(st.integers(0, 10**15), st.integers(1, 10**15))
@settings(deadline=None)
def test_turnover_fees_and_depth_stay_between_0_and_100(part: int, whole: int) -> None:
    for score in (
        health_score.score_volume(part, whole),
        health_score.score_fees(part, whole),
        health_score.score_distribution(part, whole),
    ):
        assert score is not None
        assert 0 <= score <= 100


def test_a_price_that_never_moved_is_calm_and_one_that_moved_a_tenth_is_not() -> None:
    assert health_score.score_calm([Ratio(3, 2), Ratio(6, 4)]) == 100
    assert health_score.score_calm([Ratio(100, 1), Ratio(110, 1)]) == 0
    assert health_score.score_calm([Ratio(100, 1), Ratio(101, 1), Ratio(100, 1)]) == 90
    assert health_score.score_calm([]) is None


def test_what_is_unknown_is_left_out_of_the_mean() -> None:
    assert Scores(80, None, None, 40, None).total() == (30 * 80 + 20 * 40) // 50
    assert Scores(100, 100, 100, 100, 100).total() == 100
    assert Scores(None, None, None, None, None).total() is None
    assert sum(health_score.WEIGHTS.values()) == 100
    assert health_score.recommend(None).startswith("unknown")
    assert health_score.recommend(69).startswith("with care")
