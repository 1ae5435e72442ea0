"""How long what was refused waits, and what is remembered of it, just below, at and just above each edge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from golem_project.heartbeat.refused_wish_backoff import WishBackoff, is_waiting, read_waits, wait_after, write_waits
from tools_app.core.errors import Recovery

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def seconds_after(count: int, recovery: Recovery, *, resets_in: float | None = None) -> float:
    """What the refusal number `count` in a row waits."""
    before = WishBackoff(NOW, "SAME", count - 1) if count > 1 else None
    resets_at = None if resets_in is None else NOW + timedelta(seconds=resets_in)
    wait = wait_after(before=before, code="SAME", recovery=recovery, resets_at=resets_at, now=NOW)
    assert (wait.code, wait.count) == ("SAME", count)
    return (wait.until - NOW).total_seconds()


@pytest.mark.parametrize(
    ("recovery", "first", "second", "third"),
    [
        (Recovery.PREVIEW_AGAIN, 0, 60, 120),
        (Recovery.WAIT, 30, 60, 120),
        (Recovery.CHECK_STATE, 30, 60, 120),
        (Recovery.FIX_PARAMS, 300, 600, 1_200),
        (Recovery.ASK_OWNER, 1_800, 3_600, 7_200),
        (Recovery.GIVE_UP, 3_600, 7_200, 14_400),
    ],
)
def test_each_refusal_in_a_row_waits_twice_as_long(
    recovery: Recovery, first: float, second: float, third: float
) -> None:
    assert [seconds_after(count, recovery) for count in (1, 2, 3)] == [first, second, third]


def test_a_wait_is_a_day_at_most_and_grows_for_twelve_refusals() -> None:
    assert [seconds_after(count, Recovery.GIVE_UP) for count in (5, 6)] == [16 * 3_600, 86_400]
    assert [seconds_after(count, Recovery.WAIT) for count in (12, 13, 90)] == [61_440, 86_400, 86_400]


def test_another_refusal_begins_anew() -> None:
    wait = wait_after(before=WishBackoff(NOW, "OTHER", 5), code="SAME", recovery=Recovery.WAIT, resets_at=None, now=NOW)
    assert (wait.count, wait.until) == (1, NOW + timedelta(seconds=30))


@pytest.mark.parametrize(
    ("recovery", "resets_in", "waits"),
    [
        (Recovery.WAIT, 5, 5),
        (Recovery.WAIT, 0, 30),
        (Recovery.WAIT, -5, 30),
        (Recovery.WAIT, 86_400, 86_400),
        (Recovery.WAIT, 86_401, 30),
        (Recovery.FIX_PARAMS, 5, 300),
        (Recovery.FIX_PARAMS, 301, 301),
    ],
)
def test_a_refusal_that_names_its_end_waits_until_then_and_no_longer_than_a_day(
    recovery: Recovery, resets_in: float, waits: float
) -> None:
    assert seconds_after(1, recovery, resets_in=resets_in) == waits


@pytest.mark.parametrize(("until", "is_so"), [(-1, False), (0, False), (1, True), (86_400, True), (86_401, False)])
def test_a_wish_waits_until_its_time_and_a_wait_of_more_than_a_day_is_another_clocks(until: float, is_so: bool) -> None:
    assert is_waiting(WishBackoff(NOW + timedelta(seconds=until), "", 1), now=NOW) is is_so
    assert is_waiting(None, now=NOW) is False


def test_the_latest_thirty_two_waits_are_kept_and_none_that_ended_a_day_ago() -> None:
    many = {f"key {minutes}": WishBackoff(NOW + timedelta(minutes=minutes), "C", minutes) for minutes in range(40)}
    kept = write_waits(many, now=NOW)
    assert list(kept) == [f"key {minutes}" for minutes in range(8, 40)]
    assert read_waits(kept) == {key: many[key] for key in kept}
    old = {"over": WishBackoff(NOW - DAY, "C", 1), "not quite": WishBackoff(NOW - DAY + timedelta(seconds=1), "C", 1)}
    assert list(write_waits(old, now=NOW)) == ["not quite"]
