"""Posterior, points, tiers and trust: whole numbers that keep their order whatever is said."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tools_app.protocols.erc8004 import math
from tools_app.protocols.erc8004.math import ONE, Tier

RATINGS = st.lists(st.integers(0, ONE), max_size=60)


def test_a_rating_is_a_share_of_a_hundred_and_other_measures_are_none() -> None:
    assert [math.rate(*each) for each in ((100, 0), (874, 1), (0, 0), (9977, 2))] == [ONE, 874_000, 0, 997_700]
    assert [math.rate(*each) for each in ((-1, 0), (101, 0), (560, 0), (1, 19), (10**37, 0))] == [None] * 5


def test_nothing_is_known_of_an_agent_that_nobody_rated() -> None:
    unknown = math.make_posterior([])
    assert (unknown.alpha, unknown.beta, unknown.mean, unknown.least) == (ONE, ONE, ONE // 2, 0)
    assert math.mean_score([]) == 0


def test_the_posterior_of_known_ratings_is_that_of_the_formula() -> None:
    found = math.make_posterior([ONE, ONE, 500_000])
    assert (found.alpha, found.beta) == (3_500_000, 1_500_000)
    assert found.mean == 700_000
    # The deviation of Beta(3.5, 1.5) is the root of 5.25 / 150.
    assert abs(found.least - (700_000 - 2 * 187_082)) <= 2


@given(RATINGS)
def test_the_mean_lies_between_nothing_and_all_and_the_least_is_not_above_it(ratings: list[int]) -> None:
    found = math.make_posterior(ratings)
    assert 0 <= found.least <= found.mean < ONE
    exact = Fraction(found.alpha, found.alpha + found.beta)
    assert 0 <= exact - Fraction(found.mean, ONE) < Fraction(1, ONE)


@given(RATINGS, st.integers(0, ONE))
def test_a_better_word_never_lowers_and_a_worse_never_raises(ratings: list[int], word: int) -> None:
    before = math.make_posterior(ratings)
    praised, blamed = math.make_posterior([*ratings, ONE]), math.make_posterior([*ratings, 0])
    assert blamed.mean <= before.mean <= praised.mean
    more = math.count_points(is_described=True, ratings=[*ratings, word], validators_passed=0)
    assert more >= math.count_points(is_described=True, ratings=ratings, validators_passed=0)


def test_a_tier_begins_exactly_at_its_threshold() -> None:
    named = {points: math.tier_of(points) for points in (0, 49, 50, 99, 100, 499, 500, 9_999)}
    assert list(named.values()) == [
        *(Tier.BRONZE, Tier.BRONZE, Tier.SILVER, Tier.SILVER),
        *(Tier.GOLD, Tier.GOLD, Tier.PLATINUM, Tier.PLATINUM),
    ]
    assert [math.next_threshold(points) for points in (0, 50, 499, 500)] == [50, 100, 500, None]


def test_trust_weighs_what_it_says_it_weighs() -> None:
    assert math.score_trust(identity=100, reputation=0, validation=0) == 20
    assert math.score_trust(identity=0, reputation=100, validation=0) == 50
    assert math.score_trust(identity=100, reputation=100, validation=100) == 100
    assert [math.name_confidence(clients) for clients in (0, 2, 3, 19, 20)] == [
        "low",
        "low",
        "medium",
        "medium",
        "high",
    ]


def test_a_trend_needs_a_before_and_a_quarter_of_a_star() -> None:
    assert math.name_trend([], [ONE]) == math.name_trend([ONE], []) == "stable"
    assert math.name_trend([500_000], [549_000]) == "stable"
    assert math.name_trend([500_000], [550_000]) == "improving"
    assert math.name_trend([550_000], [500_000]) == "declining"
