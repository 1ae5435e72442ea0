"""Draws what golems are worth and earned over a week, what it is made of, how healthy loans are and where liquidity
stands in its range. Reads snapshots; asks no node.

A week is cut into at most POINTS slices, of which each tells the last measurement, so that a golem that was measured
for an hour has a line as one of years has. What was measured once is told in words: one point is no course.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import BigIntegerField, Max, Min, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Extract, Floor

from archetypes_app.models import Golem
from permits_app.models import NavSnapshot, PolicyCage
from permits_app.pages.portfolio_card import RangeDrawing, draw_range, read_kept, sign_usd
from permits_app.permits.kept_holdings import KeptHoldings
from permits_app.safety.format_rule_figures import format_ratio
from tools_app.core.stored_json import read_stored
from tools_app.core.units import BPS
from tools_app.pages.plots import LinePlot, Point, plot_line
from tools_app.wording.formats import format_age, format_bps, format_usd

WEEK: Final = timedelta(days=7)
POINTS: Final = 60
MOST_ASSETS: Final = 7
MOST_LOANS: Final = 3
HEALTHIEST_BPS: Final = 30_000
"""A healthier loan fills its gauge: what matters is how near 1.00 is."""
_PROFIT_PARTS: Final = ("price", "fees_and_interest", "slashes", "slippage", "gas")


@dataclass(frozen=True, slots=True)
class CoursePicture:
    """A course over time; where there is none, `instead` says why and what is known."""

    title: str
    plot: LinePlot | None
    newest: str
    instead: str


@dataclass(frozen=True, slots=True)
class Slice:
    """One asset of the whole: where it begins in the bar and how wide it is, in thousandths."""

    symbol: str
    worth: str
    share: str
    begins: int
    width: int
    shade: int


@dataclass(frozen=True, slots=True)
class HealthGauge:
    """One loan: its health, and how much of the way from liquidation to safe it has, in percent."""

    golem_name: str
    golem_id: UUID
    label: str
    health: str
    percent: int
    floor_percent: int
    floor: str
    tone: str


@dataclass(frozen=True, slots=True)
class RangeLine:
    """One position of concentrated liquidity with where the price stands."""

    golem_name: str
    golem_id: UUID
    label: str
    range: RangeDrawing


@dataclass(frozen=True, slots=True)
class MoneyPictures:
    """Everything that is drawn of the money of some golems."""

    courses: tuple[CoursePicture, CoursePicture]
    """Value and profit."""
    slices: tuple[Slice, ...]
    gauges: tuple[HealthGauge, ...]
    ranges: tuple[RangeLine, ...]


def draw_money(golems: Sequence[Golem], *, now: datetime) -> MoneyPictures:
    """Of `golems` together. The same number of questions however many there are."""
    rows = NavSnapshot.objects.filter(golem__in=[golem.pk for golem in golems], at__gt=now - WEEK, at__lte=now)
    span = rows.aggregate(first=Min("at"), last=Max("at"))
    by_id = {golem.pk: golem for golem in golems}
    kept = [
        (by_id[pk], read_stored(KeptHoldings, row.holdings))
        for pk, each in read_kept(by_id, now=now).items()
        for row in each
    ]
    return MoneyPictures(
        courses=_draw_courses(rows, span["first"], span["last"], now),
        slices=_cut(kept),
        gauges=_gauge(kept),
        ranges=_list_ranges(kept),
    )


def _draw_courses(
    rows: QuerySet[NavSnapshot], first: datetime | None, last: datetime | None, now: datetime
) -> tuple[CoursePicture, CoursePicture]:
    if first is None or last is None:
        nothing = "Not measured within 7 days. The heartbeat measures every ten minutes, and every outcome does."
        return CoursePicture("Value over 7 days", None, "", nothing), CoursePicture(
            "Profit over 7 days", None, "", nothing
        )
    size = max(1, int((last - first).total_seconds() / POINTS))
    cut: object = rows.annotate(slice=Cast(Floor(Extract("at", "epoch") / size), BigIntegerField()))
    values = _add_up_values(cut)
    lowest, highest = _find_scale(values)
    profits = _add_up_profits(cut, rows)
    once = f"measured once, {format_age(last, now=now)}; a line is drawn from the second time on"
    return (
        CoursePicture(
            "Value over 7 days",
            plot_line(values, name="Value", show=format_usd, lowest=lowest, highest=highest),
            format_usd(values[-1][1]),
            f"{format_usd(values[-1][1])}, {once}.",
        ),
        CoursePicture(
            "Profit over 7 days",
            plot_line(profits, name="Profit", show=sign_usd),
            sign_usd(profits[-1][1]),
            f"No profit or loss is known yet: {once}.",
        ),
    )


def _find_scale(values: Sequence[Point]) -> tuple[int | None, int | None]:
    """From the lowest to the highest: a value that stays far above nothing has a course all the same. One that never
    moved is drawn above nothing.
    """
    worths = [worth for _, worth in values]
    return (min(worths), max(worths)) if min(worths) < max(worths) else (None, None)


def _add_up_values(cut: Any) -> list[Point]:  # Any: rows with their `slice` annotated
    """The sum over golems and chains at the end of each slice; of what was not measured within one the value before."""
    newest = (
        cut.order_by("golem_id", "chain_id", "slice", "-at")
        .distinct("golem_id", "chain_id", "slice")
        .values_list("golem_id", "chain_id", "slice", "at", "value_micro_usd")
    )
    by_slice: dict[int, list[tuple[object, datetime, int]]] = defaultdict(list)
    for golem_id, chain_id, number, at, value in newest:
        by_slice[number].append(((golem_id, chain_id), at, value))
    standing: dict[object, int] = {}
    points = []
    for _, seen in sorted(by_slice.items()):
        standing.update({which: value for which, _, value in seen})
        points.append((max(at for _, at, _ in seen), sum(standing.values())))
    return points


def _add_up_profits(
    cut: Any,  # Any: as above
    rows: QuerySet[NavSnapshot],
) -> list[Point]:
    """Added up since the first measurement of each golem on each chain: what led to that happened before."""
    firsts = rows.order_by("golem_id", "chain_id", "at").distinct("golem_id", "chain_id").values("pk")
    whole = sum(
        (Coalesce(Cast(KeyTextTransform(name, "parts"), BigIntegerField()), 0) for name in _PROFIT_PARTS[1:]),
        Coalesce(Cast(KeyTextTransform(_PROFIT_PARTS[0], "parts"), BigIntegerField()), 0),
    )
    steps = (
        cut.order_by("slice").values_list("slice").annotate(at=Max("at"), profit=Sum(whole, filter=~Q(pk__in=firsts)))
    )
    total, points = 0, []
    for _, at, profit in steps:
        total += int(profit or 0)
        points.append((at, total))
    return points


def _cut(kept: Iterable[tuple[Golem, KeptHoldings]]) -> tuple[Slice, ...]:
    """The largest assets by worth, the rest together. A debt is no part of a whole: what is owed more than held is
    left out.
    """
    worths: dict[str, int] = defaultdict(int)
    for _, held_there in kept:
        for each in held_there.shares:
            worths[each.symbol] += each.micro_usd
    held = sorted(((worth, symbol) for symbol, worth in worths.items() if worth > 0), reverse=True)
    total = sum(worth for worth, _ in held)
    if not total:
        return ()
    shown = held[:MOST_ASSETS]
    rest = sum(worth for worth, _ in held[MOST_ASSETS:])
    shown += [(rest, "others")] if rest else []
    slices, begins = [], 0
    for shade, (worth, symbol) in enumerate(shown):
        width = worth * 1_000 // total if shade < len(shown) - 1 else 1_000 - begins
        slices.append(Slice(symbol, format_usd(worth), format_bps(worth * BPS // total), begins, width, shade))
        begins += width
    return tuple(slices)


def _gauge(kept: Sequence[tuple[Golem, KeptHoldings]]) -> tuple[HealthGauge, ...]:
    """The loans nearest to liquidation first."""
    loans = [
        (each.health_bps, golem, each.label)
        for golem, held in kept
        for each in held.positions
        if each.health_bps is not None
    ]
    if not loans:
        return ()
    floors = dict(
        PolicyCage.objects.filter(golem__in={golem.pk for _, golem, _ in loans}).values_list(
            "golem_id", "min_health_bps"
        )
    )
    gauges = []
    for health, golem, label in sorted(loans, key=lambda loan: loan[0])[:MOST_LOANS]:
        floor = floors.get(golem.pk, PolicyCage(golem=golem).min_health_bps)
        gauges.append(
            HealthGauge(
                golem_name=golem.name,
                golem_id=golem.pk,
                label=label,
                health=format_ratio(health),
                percent=_place(health),
                floor_percent=_place(floor),
                floor=format_ratio(floor),
                tone="bad" if health < floor else "warn" if health < floor * 5 // 4 else "good",
            )
        )
    return tuple(gauges)


def _place(health_bps: int) -> int:
    return (min(max(health_bps, BPS), HEALTHIEST_BPS) - BPS) * 100 // (HEALTHIEST_BPS - BPS)


def _list_ranges(kept: Iterable[tuple[Golem, KeptHoldings]]) -> tuple[RangeLine, ...]:
    return tuple(
        RangeLine(golem.name, golem.pk, each.label, drawn)
        for golem, held in kept
        for each in held.positions
        if (drawn := draw_range(each.range)) is not None
    )[:MOST_LOANS]
