"""Forgetting against its closed form."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_app import decay
from memory_app.decay import Importance

DAYS = st.floats(min_value=0, max_value=5_000)
STABILITY = st.floats(min_value=0.1, max_value=365)
START = datetime(2026, 1, 1, tzinfo=UTC)


@given(DAYS, STABILITY)
def test_retention_is_the_exponential_of_time_over_stability(days: float, stability: float) -> None:
    found = decay.compute_retention(days_since_access=days, stability_days=stability)
    assert math.isclose(found, math.e ** (-days / stability), rel_tol=1e-9, abs_tol=1e-300)


@given(DAYS, DAYS, STABILITY)
def test_retention_only_falls_with_time(first: float, second: float, stability: float) -> None:
    early, late = sorted((first, second))
    assert decay.compute_retention(days_since_access=early, stability_days=stability) >= decay.compute_retention(
        days_since_access=late, stability_days=stability
    )


@given(st.floats(min_value=0.01, max_value=5_000), STABILITY)
def test_a_reinforced_memory_is_never_weaker(days: float, stability: float) -> None:
    before = decay.compute_retention(days_since_access=days, stability_days=stability)
    assert decay.compute_retention(days_since_access=days, stability_days=decay.reinforce(stability)) >= before


@given(STABILITY, st.integers(min_value=0, max_value=60))
def test_stability_never_passes_a_year(stability: float, times: int) -> None:
    for _ in range(times):
        stability = decay.reinforce(stability)
    assert stability <= 365


def test_a_base_memory_reaches_a_year_after_ten_retrievals() -> None:
    stability = decay.STABILITY_DAYS[Importance.BASE]
    grown = [stability := decay.reinforce(stability) for _ in range(10)]
    assert grown[0] == 10.5
    assert grown[8] < 365 == grown[9]


@given(DAYS, STABILITY)
def test_an_insight_never_falls_below_its_floor(days: float, stability: float) -> None:
    found = decay.compute_retention(days_since_access=days, stability_days=stability, floor=decay.INSIGHT_FLOOR)
    assert 0.1 <= found <= 1


@pytest.mark.parametrize(
    ("importance", "days"),
    [("BASE", 7), ("NOTABLE", 30), ("MEV", 90), ("CRITICAL", 90), ("EMERGENCY", 180)],
)
def test_importance_sets_the_days_until_37_percent(importance: str, days: int) -> None:
    stability = decay.STABILITY_DAYS[Importance[importance]]
    assert math.isclose(decay.compute_retention(days_since_access=days, stability_days=stability), 1 / math.e)


@given(STABILITY)
def test_an_episode_is_forgotten_from_the_moment_its_page_names(stability: float) -> None:
    until = decay.archived_from(last_accessed_at=START, stability_days=stability)
    before = decay.days_between(START, until - timedelta(seconds=2))
    after = decay.days_between(START, until + timedelta(seconds=2))
    assert decay.compute_retention(days_since_access=before, stability_days=stability) >= decay.ARCHIVE_BELOW
    assert decay.compute_retention(days_since_access=after, stability_days=stability) < decay.ARCHIVE_BELOW


def test_a_clock_that_stepped_back_strengthens_nothing() -> None:
    found = decay.retention_at(last_accessed_at=START, stability_days=7, now=START - timedelta(days=30))
    assert found == 1


@pytest.mark.parametrize(("days", "stability"), [(-1, 7), (1, 0), (1, -3)])
def test_nonsense_times_are_refused(days: float, stability: float) -> None:
    with pytest.raises(ValueError, match="must"):
        decay.compute_retention(days_since_access=days, stability_days=stability)
