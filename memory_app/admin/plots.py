"""Two small pictures as SVG: how memories fade, and how far predictions were off by week. Pure numbers in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from memory_app.decay import ARCHIVE_BELOW, compute_retention, days_between
from memory_app.models import Episode, Insight
from tools_app.wording.formats import format_bps

WIDTH, HEIGHT = 640, 200
LEFT, BOTTOM, TOP, RIGHT = 46, 26, 12, 28
WEEKS = 12
_MOST_CURVES = 8


@dataclass(frozen=True, slots=True)
class Curve:
    """One line: its points as SVG path data, where its name stands, and what it says on hover."""

    path: str
    name: str
    colour: str


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """A label of an axis with its place."""

    x: int
    y: int
    text: str


@dataclass(frozen=True, slots=True)
class WeekBar:
    """One week of prediction errors."""

    x: int
    y: int
    width: int
    height: int
    text: str


@dataclass(frozen=True, slots=True)
class RetentionPlot:
    """Retention from `days` ago to `days` ahead; the vertical line is now, the dashed one the archive."""

    curves: tuple[Curve, ...]
    across: tuple[AxisLabel, ...]
    up: tuple[AxisLabel, ...]
    now_x: int
    archive_y: int
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True, slots=True)
class ErrorPlot:
    """Mean prediction error of each of the last weeks; a week without outcomes has no bar."""

    bars: tuple[WeekBar, ...]
    up: tuple[AxisLabel, ...]
    outcomes: int
    width: int = WIDTH
    height: int = HEIGHT


_COLOURS = ("#3b82f6", "#10b981", "#f59e0b", "#ef4444", "#8b5cf6", "#06b6d4", "#84cc16", "#ec4899")


def plot_retention(
    memories: Sequence[Episode | Insight], *, now: datetime, days: int = 90, floor: float = 0.0
) -> RetentionPlot:
    """Curves of up to eight memories, each from its last access on, as if nobody retrieved it again."""
    curves = []
    for index, memory in enumerate(memories[:_MOST_CURVES]):
        passed = days_between(memory.last_accessed_at, now)
        start = -min(passed, float(days))
        points = []
        for step in range(61):
            day = start + (days - start) * step / 60
            kept = compute_retention(
                days_since_access=max(0.0, passed + day), stability_days=memory.stability_days, floor=floor
            )
            points.append(f"{_across(day, days)},{_up(kept)}")
        curves.append(Curve("M" + " L".join(points), _name(memory), _COLOURS[index % len(_COLOURS)]))
    return RetentionPlot(
        curves=tuple(curves),
        across=tuple(
            AxisLabel(_across(day, days), HEIGHT - 8, "now" if day == 0 else f"{day:+d} d")
            for day in (-days, -days // 2, 0, days // 2, days)
        ),
        up=tuple(AxisLabel(LEFT - 6, _up(part / 100), f"{part}%") for part in (0, 50, 100)),
        now_x=_across(0, days),
        archive_y=_up(ARCHIVE_BELOW),
    )


def plot_errors_by_week(*, golem_ids: Sequence[UUID], now: datetime) -> ErrorPlot:
    """Mean prediction error of verified outcomes by week, oldest first, in percent."""
    start = now - timedelta(weeks=WEEKS)
    rows = Episode.objects.filter(
        golem_id__in=golem_ids, prediction_error_bps__isnull=False, occurred_at__gt=start, is_quarantined=False
    ).values_list("occurred_at", "prediction_error_bps")
    weeks: list[list[int]] = [[] for _ in range(WEEKS)]
    for occurred_at, error in rows:
        weeks[min(WEEKS - 1, (occurred_at - start).days // 7)].append(int(error or 0))
    means = [sum(errors) // len(errors) if errors else None for errors in weeks]
    highest = max([mean for mean in means if mean is not None], default=0) or 1
    room = (WIDTH - LEFT - RIGHT) // WEEKS
    bars = []
    for index, mean in enumerate(means):
        if mean is None:
            continue
        top = _up(mean / highest)
        when = (start + timedelta(weeks=index)).strftime("%b %d")
        text = f"week of {when}: {format_bps(mean)} on average of {len(weeks[index])}"
        top = min(top, HEIGHT - BOTTOM - 2)
        bars.append(WeekBar(LEFT + index * room + 4, top, room - 8, HEIGHT - BOTTOM - top, text))
    marks = sorted({0, highest // 2, highest})  # with a mean of 1 there is no half
    up = tuple(AxisLabel(LEFT - 6, _up(mark / highest), format_bps(mark)) for mark in marks)
    return ErrorPlot(tuple(bars), up, sum(map(len, weeks)))


def _across(day: float, days: int) -> int:
    return round(LEFT + (day + days) / (2 * days) * (WIDTH - LEFT - RIGHT))


def _up(part: float) -> int:
    return round(HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP))


def _name(memory: Episode | Insight) -> str:
    text = memory.summary if isinstance(memory, Episode) else memory.text
    return text if len(text) <= 70 else f"{text[:69]}…"
