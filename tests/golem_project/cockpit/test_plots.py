"""Lines over time: inside their frame, honest about their scale."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tools_app.pages.plots import HEIGHT, LEFT, RIGHT, TOP, WIDTH, plot_line

START = datetime(2026, 11, 21, 8, tzinfo=UTC)


def show(value: int) -> str:
    return f"{value} units"


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-(10**18), 10**18)), min_size=2, max_size=60))
def test_every_point_lies_inside_the_frame_and_goes_from_left_to_right(steps: list[tuple[int, int]]) -> None:
    moment, points = START, []
    for seconds, value in steps:
        moment += timedelta(seconds=seconds)
        points.append((moment, value))
    plot = plot_line(points, name="P&L", show=show)
    assert plot is not None
    places = [tuple(map(int, pair)) for pair in re.findall(r"(-?\d+),(-?\d+)", plot.path)]
    assert len(places) == len(points)
    assert all(LEFT <= x <= WIDTH - RIGHT and TOP <= y <= plot.floor < HEIGHT for x, y in places)
    assert [x for x, _ in places] == sorted(x for x, _ in places)


def test_one_point_is_no_line() -> None:
    assert plot_line([(START, 5)], name="Gas", show=show) is None
    assert plot_line([], name="Gas", show=show) is None


def test_the_scale_begins_at_zero_and_marks_it_when_the_line_crosses_it() -> None:
    rising = plot_line([(START, 10), (START + timedelta(hours=1), 30)], name="Gas", show=show)
    falling = plot_line([(START, 10), (START + timedelta(hours=1), -30)], name="P&L", show=show)
    assert rising is not None and falling is not None
    assert [mark.text for mark in rising.up] == ["0 units", "15 units", "30 units"]
    assert [mark.text for mark in falling.up] == ["-30 units", "0 units", "10 units"]
    assert falling.last == "-30 units"
    below = plot_line([(START, -10), (START + timedelta(hours=1), -30)], name="P&L", show=show)
    assert below is not None and [mark.text for mark in below.up] == ["-30 units", "-15 units", "0 units"]


def test_bands_cover_the_time_without_a_gap() -> None:
    day = timedelta(days=1)
    plot = plot_line(
        [(START, 900), (START + 4 * day, 100)],
        name="Vitality",
        show=show,
        lowest=0,
        highest=1000,
        bands=[(START, "THRIVING"), (START + day, "CAUTIOUS"), (START + 3 * day, "SURVIVAL")],
    )
    assert plot is not None
    assert [band.name for band in plot.bands] == ["THRIVING", "CAUTIOUS", "SURVIVAL"]
    assert plot.bands[0].x == LEFT and plot.bands[-1].x + plot.bands[-1].width == WIDTH - RIGHT
    assert all(a.x + a.width == b.x for a, b in zip(plot.bands, plot.bands[1:], strict=False))
