"""The gate's formulas, written down a second time in exact fractions."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.models.archetype import InferenceTier
from golem_project.heartbeat.gate_formulas import (
    MILLION,
    Surprise,
    Temper,
    choose_tier,
    compute_threshold,
    measure_surprise,
)

SHARES = st.integers(0, MILLION)
SURPRISES = st.builds(
    Surprise,
    price_divergence=SHARES,
    regime_changed=st.booleans(),
    health_delta=SHARES,
    threat=SHARES,
    interventions=st.integers(0, 9),
    anomalies=st.integers(0, 9),
)
TEMPERS = st.builds(Temper, confidence=SHARES, pressure=SHARES, arousal=SHARES)


def _share(value: int) -> Fraction:
    return Fraction(value, MILLION)


@given(SURPRISES)
def test_the_prediction_error_is_the_formula(surprise: Surprise) -> None:
    health = _share(surprise.health_delta) if surprise.health_delta > 100_000 else Fraction(0)
    exact = (
        Fraction(3, 10) * _share(surprise.price_divergence)
        + Fraction(4, 10) * int(surprise.regime_changed)
        + Fraction(2, 10) * health
        + Fraction(15, 100) * _share(surprise.threat)
        + Fraction(1, 10) * min(3, surprise.interventions)
        + Fraction(5, 100) * min(5, surprise.anomalies)
    )
    assert abs(_share(measure_surprise(surprise)) - min(Fraction(1), exact)) <= Fraction(1, MILLION)


@given(TEMPERS)
def test_the_threshold_is_the_formula(temper: Temper) -> None:
    exact = (
        Fraction(3, 10)
        * (1 + _share(temper.confidence) / 2)
        * (1 - Fraction(3, 10) * _share(temper.pressure))
        * (1 - Fraction(2, 10) * _share(temper.arousal))
    )
    assert abs(_share(compute_threshold(temper)) - exact) <= Fraction(3, MILLION)


@given(SURPRISES, TEMPERS)
def test_the_tier_follows_from_error_and_threshold(surprise: Surprise, temper: Temper) -> None:
    error, threshold = measure_surprise(surprise), compute_threshold(temper)
    expected = (
        InferenceTier.T2 if error >= 2 * threshold else InferenceTier.T1 if error >= threshold else InferenceTier.T0
    )
    verdict = choose_tier(surprise=surprise, temper=temper)
    assert (verdict.tier, verdict.prediction_error, verdict.threshold) == (expected, error, threshold)


@given(SURPRISES, TEMPERS)
def test_an_owners_word_always_thinks_hardest(surprise: Surprise, temper: Temper) -> None:
    verdict = choose_tier(surprise=surprise, temper=temper, forced=("the owner's words",))
    assert verdict.tier is InferenceTier.T2 and verdict.reason.startswith("forced by the owner's words")


@given(TEMPERS)
def test_upkeep_that_waits_lifts_a_quiet_tick_and_no_further(temper: Temper) -> None:
    assert choose_tier(surprise=Surprise(), temper=temper).tier is InferenceTier.T0
    assert choose_tier(surprise=Surprise(), temper=temper, due=("harvest:1",)).tier is InferenceTier.T1


@given(SURPRISES, SURPRISES)
def test_more_surprise_never_means_less_error(one: Surprise, other: Surprise) -> None:
    both = Surprise(
        max(one.price_divergence, other.price_divergence),
        one.regime_changed or other.regime_changed,
        max(one.health_delta, other.health_delta),
        max(one.threat, other.threat),
        max(one.interventions, other.interventions),
        max(one.anomalies, other.anomalies),
    )
    assert measure_surprise(both) >= max(measure_surprise(one), measure_surprise(other))


def test_a_health_that_fell_by_a_tenth_counts_not_even_the_last_millionth() -> None:
    # So much divergence that one millionth of health more would round the sum up.
    fell, stood = Surprise(price_divergence=6, health_delta=100_000), Surprise(price_divergence=6)
    assert measure_surprise(fell) == measure_surprise(stood) == 1
