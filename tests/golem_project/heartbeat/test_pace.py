"""Regime, theta, schedule, mood and backoff: pure, so by property."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.models.tick import Regime
from golem_project.heartbeat.mood import MILLION, Mood, MoodSigns, read_mood, update_mood
from golem_project.heartbeat.refused_wish_backoff import WishBackoff, is_waiting, read_waits, wait_after, write_waits
from golem_project.heartbeat.regime import choose_theta, deepest_fall_bps, detect_regime
from golem_project.heartbeat.schedule import first_tick, longest_wait, plan_next_tick
from tools_app.core.errors import Recovery

NOW = datetime(2026, 11, 21, 8, tzinfo=UTC)
PRICES = st.lists(st.integers(1, 10**24), max_size=20)
MOODS = st.builds(Mood, *(st.integers(-MILLION, MILLION) for _ in range(3)))


def test_each_regime_has_a_market() -> None:
    steady = [1_000_000] * 7
    assert detect_regime(steady) is Regime.CALM
    assert detect_regime(steady[:2]) is Regime.NORMAL
    assert detect_regime([1_000_000, 1_004_000, 999_000, 1_003_000]) is Regime.NORMAL
    assert detect_regime([1_000_000, 1_006_000, 1_012_000, 1_018_000]) is Regime.TRENDING
    assert detect_regime([1_000_000, 1_035_000, 1_001_000, 1_002_000]) is Regime.VOLATILE
    assert detect_regime([1_000_000, 1_050_000, 940_000, 940_000]) is Regime.CRISIS
    assert detect_regime([1_000_000, 1_050_000, 1_110_000, 1_180_000]) is Regime.VOLATILE


@given(PRICES, st.integers(2, 10**6))
def test_a_regime_does_not_depend_on_the_unit_of_the_price(prices: list[int], factor: int) -> None:
    # Rounding to whole basis points may not be crossed by scaling up, which is exact.
    assert detect_regime(prices) is detect_regime([price * factor for price in prices])


@given(PRICES)
def test_a_rising_market_is_no_crisis(prices: list[int]) -> None:
    assert deepest_fall_bps(sorted(prices)) == 0
    assert detect_regime(sorted(prices)) is not Regime.CRISIS


@given(st.integers(30, 120), st.sampled_from(Regime))
def test_theta_stays_between_30_and_120_seconds(base: int, regime: Regime) -> None:
    theta = choose_theta(base_seconds=base, regime=regime)
    assert 30 <= theta <= 120
    pace = {"NORMAL": 1, "VOLATILE": 0.5, "CRISIS": 0.3, "CALM": 2, "TRENDING": 0.8}[regime.value]
    assert theta == max(30, min(120, int(round(base * pace, 6))))


@given(st.uuids(), st.integers(0, 10**6), st.integers(30, 120), st.integers(-500_000, 500_000))
def test_the_next_tick_is_ahead_and_never_further_than_one_interval(
    golem_id: UUID, number: int, theta: int, offset_ms: int
) -> None:
    scheduled = NOW + timedelta(milliseconds=offset_ms)
    planned = plan_next_tick(
        golem_id=golem_id, heartbeat_tick=number, scheduled_at=scheduled, theta_seconds=theta, jitter_bps=500, now=NOW
    )
    assert NOW < planned.at <= NOW + longest_wait(most_theta_seconds=theta, jitter_bps=500)
    assert planned.missed >= 0
    if -offset_ms >= 1_100 * theta:
        assert planned.missed >= 1


@given(st.uuids(), st.integers(0, 10**6))
def test_a_tick_that_was_a_little_late_does_not_push_the_next(golem_id: UUID, number: int) -> None:
    scheduled = NOW - timedelta(seconds=2)
    facts = {"golem_id": golem_id, "heartbeat_tick": number, "scheduled_at": scheduled, "theta_seconds": 60}
    late = plan_next_tick(**facts, jitter_bps=500, now=NOW)  # type: ignore[arg-type]
    on_time = plan_next_tick(**facts, jitter_bps=500, now=scheduled)  # type: ignore[arg-type]
    assert late.at == on_time.at and late.missed == 0


def test_five_hundred_golems_started_together_do_not_tick_together() -> None:
    at = [first_tick(golem_id=UUID(int=number), theta_seconds=30, now=NOW) for number in range(500)]
    busiest = max(sum(1 for other in at if 0 <= (other - each).total_seconds() < 1) for each in at)
    assert busiest < 50 and all(NOW <= each < NOW + timedelta(seconds=30) for each in at)


@given(MOODS, st.integers(0, 9), st.integers(0, 9), st.integers(0, 10**6), st.integers(0, 9))
def test_a_mood_stays_in_its_bounds(mood: Mood, executed: int, refused: int, spread: int, anomalies: int) -> None:
    after = update_mood(mood, MoodSigns(executed, refused, spread, anomalies, vitality=MILLION))
    assert all(-MILLION <= each <= MILLION for each in after.as_dict().values())
    assert read_mood(after.as_dict()) == after


@given(st.sampled_from(Recovery), st.integers(1, 40))
def test_refusal_after_refusal_waits_longer_and_at_most_a_day(recovery: Recovery, times: int) -> None:
    wait: WishBackoff | None = None
    last = timedelta(0)
    for _ in range(times):
        wait = wait_after(before=wait, code="X", recovery=recovery, resets_at=None, now=NOW)
        assert last <= wait.until - NOW <= timedelta(days=1)
        last = wait.until - NOW
    if times > 1:
        assert is_waiting(wait, now=NOW)


def test_a_limit_that_names_its_end_is_waited_for_and_no_longer() -> None:
    resets = NOW + timedelta(minutes=17)
    wait = wait_after(before=None, code="RATE_LIMITED", recovery=Recovery.WAIT, resets_at=resets, now=NOW)
    assert wait.until == resets
    assert is_waiting(wait, now=resets - timedelta(seconds=1)) and not is_waiting(wait, now=resets)


def test_another_refusal_begins_to_count_anew() -> None:
    first = wait_after(before=None, code="A", recovery=Recovery.WAIT, resets_at=None, now=NOW)
    assert wait_after(before=first, code="B", recovery=Recovery.WAIT, resets_at=None, now=NOW).count == 1


def test_waits_survive_being_stored_and_a_clock_that_went_back() -> None:
    wait = wait_after(before=None, code="A", recovery=Recovery.GIVE_UP, resets_at=None, now=NOW)
    assert read_waits(write_waits({"open": wait}, now=NOW)) == {"open": wait}
    assert not is_waiting(wait, now=NOW - timedelta(days=3))
