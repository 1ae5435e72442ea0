"""What a heartbeat decides by a number, just below, at and just above it: regime, pace, surprise, temper and mood."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from archetypes_app.models.archetype import InferenceTier
from archetypes_app.models.tick import Regime
from golem_project.heartbeat.gate_formulas import Surprise, Temper, choose_tier, compute_threshold, measure_surprise
from golem_project.heartbeat.mood import Mood, MoodSigns, read_mood, update_mood
from golem_project.heartbeat.regime import choose_theta, deepest_fall_bps, detect_regime, is_gas_dear, range_bps

WHOLE = 1_000_000


@pytest.mark.parametrize(
    ("prices", "regime"),
    [
        ([100, 200], Regime.NORMAL),
        ([200, 200, 100], Regime.CRISIS),
        ([200, 0, 100], Regime.NORMAL),
        ([100_000, 100_000, 90_000], Regime.CRISIS),
        ([100_000, 100_000, 90_001], Regime.VOLATILE),
        ([10_000, 10_300, 10_150], Regime.VOLATILE),
        ([10_000, 10_299, 10_150], Regime.NORMAL),
        ([10_000, 10_100, 10_070], Regime.TRENDING),
        ([10_000, 10_100, 10_069], Regime.NORMAL),
        ([10_100, 10_000, 10_030], Regime.TRENDING),
        ([10_000, 10_099, 10_099], Regime.NORMAL),
        ([10_000] * 5 + [10_010], Regime.CALM),
        ([10_000] * 5 + [10_011], Regime.NORMAL),
        ([10_000] * 4 + [10_010], Regime.NORMAL),
    ],
)
def test_a_regime_begins_at_its_edge(prices: Sequence[int], regime: Regime) -> None:
    assert detect_regime(prices) is regime


def test_a_regime_is_of_the_last_twelve_prices() -> None:
    assert detect_regime([20_000, *[10_000] * 12]) is Regime.CALM
    assert detect_regime([20_000, *[10_000] * 11]) is Regime.CRISIS


@pytest.mark.parametrize(
    ("prices", "bps"), [([], 0), ([5], 0), ([100, 110], 1_000), ([100, 0, 101], 100), ([200, *[100] * 12], 0)]
)
def test_a_range_is_of_two_prices_that_are_known(prices: Sequence[int], bps: int) -> None:
    assert range_bps(prices) == bps


@pytest.mark.parametrize(
    ("prices", "bps"), [([], 0), ([0], 0), ([100, 90], 1_000), ([90, 100], 0), ([100, 50, 200, 150], 5_000)]
)
def test_a_fall_is_from_a_price_to_a_later_one(prices: Sequence[int], bps: int) -> None:
    assert deepest_fall_bps(prices) == bps


@pytest.mark.parametrize(
    ("fees", "is_dear"), [([], False), ([9], False), ([1, 5], False), ([1, 6], True), ([6, 1], False)]
)
def test_gas_is_dear_above_five_times_what_was_seen(fees: Sequence[int], is_dear: bool) -> None:
    assert is_gas_dear(fees) is is_dear


@pytest.mark.parametrize(
    ("regime", "base", "seconds"),
    [
        (Regime.NORMAL, 29, 30),
        (Regime.NORMAL, 31, 31),
        (Regime.NORMAL, 121, 120),
        (Regime.VOLATILE, 80, 40),
        (Regime.CRISIS, 110, 33),
        (Regime.CALM, 40, 80),
        (Regime.TRENDING, 100, 80),
    ],
)
def test_the_pace_is_the_regimes_between_thirty_seconds_and_two_minutes(
    regime: Regime, base: int, seconds: int
) -> None:
    assert choose_theta(base_seconds=base, regime=regime) == seconds


@pytest.mark.parametrize(
    ("surprise", "error"),
    [
        (Surprise(), 0),
        (Surprise(price_divergence=WHOLE), 300_000),
        (Surprise(price_divergence=2 * WHOLE), 300_000),
        (Surprise(price_divergence=-WHOLE), 0),
        (Surprise(regime_changed=True), 400_000),
        (Surprise(health_delta=100_000), 0),
        (Surprise(health_delta=100_001), 20_000),
        (Surprise(health_delta=WHOLE), 200_000),
        (Surprise(threat=WHOLE), 150_000),
        (Surprise(interventions=-1, anomalies=-1), 0),
        (Surprise(interventions=1), 100_000),
        (Surprise(interventions=3), 300_000),
        (Surprise(interventions=4), 300_000),
        (Surprise(anomalies=1), 50_000),
        (Surprise(anomalies=5), 250_000),
        (Surprise(anomalies=6), 250_000),
        (Surprise(WHOLE, True, WHOLE, WHOLE, 9, 9), WHOLE),
    ],
)
def test_each_surprise_weighs_what_it_should_and_all_together_at_most_one(surprise: Surprise, error: int) -> None:
    assert measure_surprise(surprise) == error


@pytest.mark.parametrize(
    ("temper", "threshold"),
    [
        (Temper(), 300_000),
        (Temper(confidence=WHOLE), 450_000),
        (Temper(confidence=2 * WHOLE), 450_000),
        (Temper(pressure=WHOLE), 210_000),
        (Temper(arousal=WHOLE), 240_000),
        (Temper(pressure=WHOLE, arousal=WHOLE), 168_000),
    ],
)
def test_the_threshold_lies_between_its_edges(temper: Temper, threshold: int) -> None:
    assert compute_threshold(temper) == threshold


@pytest.mark.parametrize(
    ("surprise", "tier"),
    [
        (Surprise(price_divergence=WHOLE - 4), InferenceTier.T0),
        (Surprise(price_divergence=WHOLE), InferenceTier.T1),
        (Surprise(price_divergence=WHOLE - 4, interventions=3), InferenceTier.T1),
        (Surprise(price_divergence=WHOLE, interventions=3), InferenceTier.T2),
    ],
)
def test_a_golem_thinks_from_the_threshold_on_and_hard_from_twice_that(surprise: Surprise, tier: InferenceTier) -> None:
    assert choose_tier(surprise=surprise, temper=Temper()).tier is tier


def test_why_a_golem_thinks_is_told_with_both_figures() -> None:
    told = choose_tier(surprise=Surprise(price_divergence=WHOLE), temper=Temper(), due=("a harvest",))
    assert told.reason == "a surprise: it was off by 0.300 from what it expected, and thinks from 0.300 on"
    forced = choose_tier(surprise=Surprise(), temper=Temper(), forced=("the owner", "a phase"), due=("a harvest",))
    assert (forced.tier, forced.reason[:30]) == (InferenceTier.T2, "forced by the owner, a phase; ")
    waits = choose_tier(surprise=Surprise(), temper=Temper(), due=("a harvest", "a no"))
    assert (waits.tier, waits.reason[:21]) == (InferenceTier.T1, "due: a harvest, a no;")


@pytest.mark.parametrize(
    ("signs", "mood"),
    [
        (MoodSigns(), Mood()),
        (MoodSigns(executed=1), Mood(pleasure=250_000)),
        (MoodSigns(refused=1), Mood(pleasure=-250_000)),
        (MoodSigns(executed=3, refused=1), Mood(pleasure=125_000)),
        (MoodSigns(range_bps=250), Mood(arousal=125_000)),
        (MoodSigns(range_bps=500), Mood(arousal=250_000)),
        (MoodSigns(range_bps=501), Mood(arousal=250_000)),
        (MoodSigns(anomalies=1), Mood(arousal=50_000)),
        (MoodSigns(range_bps=100, anomalies=1), Mood(arousal=100_000)),
        (MoodSigns(vitality=WHOLE), Mood(dominance=250_000)),
        (MoodSigns(vitality=0), Mood(dominance=-250_000)),
        (MoodSigns(vitality=WHOLE // 2), Mood()),
    ],
)
def test_a_mood_moves_a_quarter_of_the_way_to_what_happened(signs: MoodSigns, mood: Mood) -> None:
    assert update_mood(Mood(), signs) == mood


def test_a_mood_that_nothing_moves_fades_by_a_quarter_and_stays_within_one() -> None:
    faded = update_mood(Mood(pleasure=400_000, arousal=400_000, dominance=-400_000), MoodSigns())
    assert faded == Mood(pleasure=300_000, arousal=300_000, dominance=-300_000)
    assert read_mood({"pleasure": 2 * WHOLE, "arousal": -2 * WHOLE}) == Mood(pleasure=WHOLE, arousal=-WHOLE)
    assert read_mood(Mood(1, 2, 3).as_dict()) == Mood(1, 2, 3)
