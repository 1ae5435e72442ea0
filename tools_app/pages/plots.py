"""A line over time as SVG coordinates, with bands behind it. Pure numbers in and out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

WIDTH, HEIGHT = 640, 180
LEFT, RIGHT, TOP, BOTTOM = 4, 4, 24, 26
_FLOOR = HEIGHT - BOTTOM
LABEL_HEIGHT = 20


@dataclass(frozen=True, slots=True)
class PlotLabel:
    """A label with its place: of a height, written above its line so that no number is cut, or of a time."""

    x: int
    y: int
    text: str


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of time behind the line, such as one phase."""

    x: int
    width: int
    name: str

    @property
    def end(self) -> int:
        """Its right edge."""
        return self.x + self.width


@dataclass(frozen=True, slots=True)
class LinePlot:
    """`path` is SVG path data, `dots` a value with its time for each point, `last` the newest value in its unit;
    `beside` is the path of a second line to compare with, empty without one.

    Without two points there is nothing to draw.
    """

    path: str
    dots: tuple[PlotLabel, ...]
    up: tuple[PlotLabel, ...]
    across: tuple[PlotLabel, ...]
    bands: tuple[Band, ...]
    last: str
    summary: str
    beside: str = ""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    floor: int = _FLOOR
    depth: int = _FLOOR - TOP


Point = tuple[datetime, int]


def plot_line(
    points: Sequence[Point],
    *,
    name: str,
    show: Callable[[int], str],
    lowest: int | None = None,
    highest: int | None = None,
    bands: Sequence[tuple[datetime, str]] = (),
    beside: Sequence[Point] = (),
) -> LinePlot | None:
    """The course of `points` (time, whole number), oldest first; None for fewer than two of them. `beside` is a second
    line within the same times.

    `show` writes a value with its unit. The scale holds every point, and zero unless `lowest` or `highest` is given.
    """
    if len(points) < 2:
        return None
    values = [value for _, value in points]
    others = [value for _, value in beside]
    low = min(values + others + [0 if lowest is None else lowest])
    high = max(values + others + [0 if highest is None else highest])
    high = high if high > low else low + 1
    start, end = points[0][0], points[-1][0]
    seconds = max((end - start).total_seconds(), 1.0)

    def across(moment: datetime) -> int:
        part = (moment - start).total_seconds() / seconds
        return round(LEFT + min(1.0, max(0.0, part)) * (WIDTH - LEFT - RIGHT))

    def up(value: int) -> int:
        return round(_FLOOR - (value - low) / (high - low) * (_FLOOR - TOP))

    middle = start + (end - start) / 2
    pattern = "%H:%M:%S" if seconds < 3600 else "%b %d %H:%M"

    def trace(line: Sequence[Point]) -> str:
        return "M" + " L".join(f"{across(moment)},{up(value)}" for moment, value in line)

    return LinePlot(
        path=trace(points),
        beside=trace(beside) if beside else "",
        dots=tuple(
            PlotLabel(across(moment), up(value), f"{show(value)}, {moment.strftime('%b %d %H:%M:%S')} UTC")
            for moment, value in points
        ),
        up=_spread([PlotLabel(LEFT + 2, up(value) - 4, show(value)) for value in _scale(low, high)]),
        across=(
            PlotLabel(LEFT, HEIGHT - 6, start.strftime(pattern)),
            PlotLabel((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 6, middle.strftime(pattern)),
            PlotLabel(WIDTH - RIGHT, HEIGHT - 6, end.strftime(pattern)),
        ),
        bands=_make_bands(bands, across),
        last=show(values[-1]),
        summary=f"{name}: {show(values[-1])} now, between {show(min(values))} and {show(max(values))} "
        f"since {start.strftime('%b %d %H:%M')} UTC",
    )


def _scale(low: int, high: int) -> list[int]:
    marks = [low, (low + high) // 2, high]
    if low < 0 < high:
        marks[1] = 0
    return list(dict.fromkeys(marks))


def _spread(marks: Sequence[PlotLabel]) -> tuple[PlotLabel, ...]:
    """The marks that have room, the outermost first: a label is never written over another."""
    kept: list[PlotLabel] = []
    for mark in (*marks[:1], *marks[-1:], *marks[1:-1]):
        if all(abs(mark.y - other.y) >= LABEL_HEIGHT for other in kept):
            kept.append(mark)
    return tuple(sorted(kept, key=lambda mark: -mark.y))


def _make_bands(changes: Sequence[tuple[datetime, str]], across: Callable[[datetime], int]) -> tuple[Band, ...]:
    bands = []
    for index, (moment, name) in enumerate(changes):
        end = across(changes[index + 1][0]) if index + 1 < len(changes) else WIDTH - RIGHT
        begin = across(moment)
        if end > begin:
            bands.append(Band(begin, end - begin, name))
    return tuple(bands)
