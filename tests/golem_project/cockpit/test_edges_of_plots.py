"""Where a plot puts its points, marks and labels, in numbers small enough to follow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from golem_project.cockpit.history import _add_up, _show_percent
from tools_app.pages.plots import LinePlot, _scale, plot_line

START = datetime(2026, 1, 1, tzinfo=UTC)


def plot(*values: int, seconds: int = 100, lowest: int | None = None, highest: int | None = None) -> LinePlot:
    step = timedelta(seconds=seconds / max(1, len(values) - 1))
    points = [(START + number * step, value) for number, value in enumerate(values)]
    made = plot_line(points, name="P&L", show=lambda value: f"{value} USD", lowest=lowest, highest=highest)
    assert made is not None
    return made


def test_the_lowest_point_lies_on_the_floor_and_the_highest_at_the_top() -> None:
    made = plot(0, 50, 100)
    assert made.path == "M4,154 L320,89 L636,24"
    assert (made.width, made.height, made.left, made.right, made.top, made.floor, made.depth) == (
        640,
        180,
        4,
        636,
        24,
        154,
        130,
    )
    assert made.last == "100 USD"
    assert made.summary == "P&L: 100 USD now, between 0 USD and 100 USD since Jan 01 00:00 UTC"


def test_zero_is_on_the_scale_unless_it_is_given_otherwise() -> None:
    assert plot(50, 100).path == "M4,89 L636,24"
    assert plot(50, 100, lowest=50).path == "M4,154 L636,24"
    assert plot(50, 100, lowest=0, highest=200).path == "M4,122 L636,89"
    assert plot(-100, -50).path == "M4,154 L636,89"
    assert plot(0, 0).path == "M4,154 L636,154"


@pytest.mark.parametrize(
    ("low", "high", "marks"), [(0, 100, [0, 50, 100]), (-100, 50, [-100, 0, 50]), (0, 1, [0, 1]), (-4, 0, [-4, -2, 0])]
)
def test_three_heights_are_marked_and_zero_where_the_line_crosses_it(low: int, high: int, marks: list[int]) -> None:
    assert _scale(low, high) == marks


def test_below_an_hour_seconds_are_told_and_from_an_hour_on_the_day() -> None:
    short, long = plot(1, 2, seconds=3_599), plot(1, 2, seconds=3_600)
    assert [mark.text for mark in short.across] == ["00:00:00", "00:29:59", "00:59:59"]
    assert [mark.text for mark in long.across] == ["Jan 01 00:00", "Jan 01 00:30", "Jan 01 01:00"]
    assert [(mark.x, mark.y) for mark in long.across] == [(4, 174), (320, 174), (636, 174)]
    assert short.dots[0].text == "1 USD, Jan 01 00:00:00 UTC"


def test_two_points_of_one_moment_are_drawn_and_one_point_is_not() -> None:
    assert plot(1, 2, seconds=0).path == "M4,89 L4,24"
    assert plot_line([(START, 1)], name="", show=str) is None and plot_line([], name="", show=str) is None


def test_steps_are_added_up_and_shares_told_in_whole_percent() -> None:
    assert _add_up([(START, 5), (START, -7), (START, 3)]) == [(START, 5), (START, -2), (START, 1)]
    assert [_show_percent(millionths) for millionths in (0, 9_999, 10_000, 1_000_000)] == ["0%", "0%", "1%", "100%"]
