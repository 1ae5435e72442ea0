"""What memory decides by a number, just below, at and just above it."""

from __future__ import annotations

import math
from uuid import uuid4

import pytest

from memory_app.decay import reinforce
from memory_app.execution_statistics import Trend, judge_accuracy
from memory_app.heuristic_adjustment import shift_deadline, shift_factor
from memory_app.insights import confirm, confirm_row, contradict
from memory_app.memory_adjustments import move_deadline
from memory_app.models import Insight
from memory_app.models.insight import Kind
from memory_app.models.provenance import Trust
from memory_app.near_duplicates import is_near_duplicate, measure_jaccard
from memory_app.poison import find_poison
from memory_app.reflection import reflect
from memory_app.route_learning import Fill, choose_route


def overlapping(shared: int, only_one: int) -> tuple[str, str]:
    """Two texts of which `shared` of `shared + only_one` shingles are common: one is the beginning of the other."""
    letters = "".join(chr(ord("a") + index % 26) + chr(ord("a") + index // 26) for index in range(200))
    whole = letters[: shared + only_one + 3]
    return letters[: shared + 3], whole


@pytest.mark.parametrize(
    ("shared", "only_one", "cosine", "is_near"),
    [
        (6, 4, None, True),
        (59, 41, None, False),
        (61, 39, None, True),
        (3, 7, 0.9, True),
        (3, 7, 0.89, False),
        (29, 71, 0.99, False),
        (59, 41, 0.9, True),
    ],
)
def test_texts_are_near_from_six_tenths_of_their_letters_or_three_and_their_meaning(
    shared: int, only_one: int, cosine: float | None, is_near: bool
) -> None:
    one, other = overlapping(shared, only_one)
    assert math.isclose(measure_jaccard(one, other), shared / (shared + only_one))
    assert is_near_duplicate(one, other, cosine=cosine) is is_near


@pytest.mark.parametrize(("days", "after"), [(243.0, 364.5), (244.0, 365.0), (365.0, 365.0)])
def test_a_memory_that_is_used_lasts_half_as_long_again_and_a_year_at_most(days: float, after: float) -> None:
    assert reinforce(days) == after


@pytest.mark.parametrize(
    ("errors", "trend"),
    [
        ([100, 100, 110, 110], Trend.STABLE),
        ([1_000, 1_000, 1_101, 1_101], Trend.DEGRADING),
        ([100, 100, 90, 90], Trend.STABLE),
        ([1_000, 1_000, 899, 899], Trend.IMPROVING),
        ([100, 200, 300], Trend.STABLE),
        ([100, 100, 200, 200], Trend.DEGRADING),
    ],
)
def test_predictions_drift_beyond_a_tenth_and_from_four_of_them_on(errors: list[int], trend: Trend) -> None:
    assert judge_accuracy([(error, None) for error in errors]).drift_trend is trend


@pytest.mark.parametrize(("error", "hits"), [(999, 10_000), (1_000, 10_000), (1_001, 0)])
def test_a_prediction_hits_within_a_tenth(error: int, hits: int) -> None:
    assert judge_accuracy([(error, None)]).hit_rate_bps == hits


@pytest.mark.parametrize(
    ("count", "sure", "is_overconfident"), [(3, 10_000, False), (4, 1_000, False), (4, 1_001, True), (4, 999, False)]
)
def test_who_is_a_tenth_too_sure_four_times_is_overconfident(count: int, sure: int, is_overconfident: bool) -> None:
    missed = [(5_000, sure)] * count
    assert judge_accuracy(missed).is_overconfident is is_overconfident


@pytest.mark.parametrize(
    ("before", "trust", "kind", "by_agent", "after"),
    [
        (69, Trust.REPORTED, Kind.INSIGHT, False, 70),
        (70, Trust.REPORTED, Kind.INSIGHT, False, 70),
        (71, Trust.REPORTED, Kind.INSIGHT, False, 71),
        (99, Trust.VERIFIED, Kind.INSIGHT, False, 100),
        (70, Trust.REPORTED, Kind.HEURISTIC, True, 70),
    ],
)
def test_words_are_never_more_than_seventy_percent_sure(
    before: int, trust: Trust, kind: Kind, by_agent: bool, after: int
) -> None:
    row = Insight(confidence_percent=before, trust=trust, kind=kind)
    assert confirm_row(row, by_agent=by_agent) == after


def test_confidence_stays_between_nothing_and_all() -> None:
    assert (confirm(100), confirm(99), contradict(0), contradict(1)) == (100, 100, 0, 0)


@pytest.mark.parametrize(("hidden", "is_poison"), [(2, False), (3, True)])
def test_two_hidden_characters_are_an_accident_and_three_are_not(hidden: int, is_poison: bool) -> None:
    assert ("hides characters that nobody sees" in find_poison("a swap" + "\u200b" * hidden)) is is_poison


@pytest.mark.parametrize(
    ("asked", "factor", "moved"),
    [
        (60, 5_000, 30),
        (58, 5_000, 30),
        (29, 5_000, 29),
        (62, 5_000, 31),
        (60, 4_999, 30),
        (1_200, 15_000, 1_800),
        (1_300, 15_000, 1_800),
        (1_199, 15_000, 1_798),
        (1_801, 15_000, 1_801),
        (600, 15_001, 900),
    ],
)
def test_a_learned_deadline_stays_between_half_a_minute_and_half_an_hour(asked: int, factor: int, moved: int) -> None:
    assert move_deadline(asked_seconds=asked, factor_bps=factor) == moved


@pytest.mark.parametrize(
    ("before", "tighten", "after"),
    [(10_000, True, 9_000), (5_555, True, 5_000), (5_000, True, 5_000), (5_560, True, 5_004), (9_091, False, 10_000)],
)
def test_a_slippage_factor_moves_by_a_tenth_and_not_below_half(before: int, tighten: bool, after: int) -> None:
    assert shift_factor(factor_bps=before, tighten=tighten) == after


@pytest.mark.parametrize(
    ("before", "lengthen", "after"),
    [
        (13_636, True, 14_999),
        (13_637, True, 15_000),
        (15_000, True, 15_000),
        (11_112, False, 10_001),
        (10_500, False, 10_000),
    ],
)
def test_a_deadline_factor_moves_by_a_tenth_and_not_beyond_half_as_much_again(
    before: int, lengthen: bool, after: int
) -> None:
    assert shift_deadline(factor_bps=before, lengthen=lengthen) == after


@pytest.mark.parametrize(("actual", "verdict"), [("999000", "as_predicted"), ("998900", "diverged")])
def test_ten_basis_points_off_are_as_predicted(actual: str, verdict: str) -> None:
    told = reflect(prediction={"amount_out": "1000000"}, outcome={"amount_out": actual})
    assert told.verdict == verdict, told


@pytest.mark.parametrize(("gas", "is_told"), [("105000", False), ("105100", True)])
def test_gas_is_told_when_it_is_more_than_five_percent_off(gas: str, is_told: bool) -> None:
    told = reflect(
        prediction={"amount_out": "1000000", "gas_used": "100000"}, outcome={"amount_out": "1000000", "gas_used": gas}
    )
    assert ("Gas was not what the simulation measured." in told.why) is is_told, told


def fills(route: str, count: int, shortfall_bps: int) -> list[Fill]:
    return [Fill(episode_id=uuid4(), route=route, shortfall_bps=shortfall_bps, amount=10**6) for _ in range(count)]


@pytest.mark.parametrize(
    ("good", "bad", "gain", "is_chosen"), [(3, 3, 11, True), (2, 3, 11, False), (3, 2, 11, False), (3, 3, 10, False)]
)
def test_a_route_is_preferred_from_three_fills_of_each_and_a_notable_gain(
    good: int, bad: int, gain: int, is_chosen: bool
) -> None:
    found = choose_route([*fills("one", good, 0), *fills("other", bad, gain)])
    assert (found is not None) is is_chosen
