"""Draws how a golem fared: vitality with its phases, profit and loss, gas."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from archetypes_app.models import DecisionCycleRecord, Golem, PhaseTransition
from permits_app.models import OutcomeRecord
from tools_app.core.units import format_units
from tools_app.pages.plots import LinePlot, Point, plot_line
from tools_app.wording.formats import format_usd, native_symbol

SHOWN_TICKS: Final = 300
SHOWN_OUTCOMES: Final = 300
_WEI_DECIMALS: Final = 18


def plot_vitality(golem: Golem, *, since: datetime | None = None) -> LinePlot | None:
    """Vitality of the last ticks that measured it, in percent, the phases behind it."""
    measured = DecisionCycleRecord.objects.filter(golem=golem, vitality__isnull=False)
    if since is not None:
        measured = measured.filter(decided_at__gte=since)
    rows = list(measured.order_by("-heartbeat_tick").values_list("decided_at", "vitality")[:SHOWN_TICKS])[::-1]
    if len(rows) < 2:
        return None
    points = [(at, vitality or 0) for at, vitality in rows]
    return plot_line(
        points,
        name="Vitality",
        show=_show_percent,
        lowest=0,
        highest=1_000_000,
        bands=_list_phases(golem, since=points[0][0]),
    )


def plot_profit(golem: Golem, *, since: datetime | None = None) -> LinePlot | None:
    """Value received less value spent and gas, added up over the last outcomes that could be priced."""
    rows = _newest_outcomes(golem, "pnl_micro_usd", since)
    return plot_line(_add_up((at, int(pnl)) for at, pnl in rows if pnl is not None), name="P&L", show=format_usd)


def plot_gas(golem: Golem, *, since: datetime | None = None) -> LinePlot | None:
    """Fees paid over the last outcomes, added up, in the chain's own coin."""
    symbol = native_symbol(golem.home_chain_id)
    rows = _newest_outcomes(golem, "fee_wei", since)
    # Whole gwei draw the same line and keep the numbers short.
    points = _add_up((at, int(fee or 0) // 10**9) for at, fee in rows)
    return plot_line(points, name="Gas paid", show=lambda gwei: format_units(gwei * 10**9, _WEI_DECIMALS, symbol))


def _newest_outcomes(golem: Golem, field: str, since: datetime | None) -> list[tuple[datetime, str | int | None]]:
    rows = OutcomeRecord.live.filter(permit__golem=golem).order_by("-created_at")
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    return list(rows.values_list("created_at", field)[:SHOWN_OUTCOMES])[::-1]


def _add_up(steps: Iterable[Point]) -> list[Point]:
    total, points = 0, []
    for moment, step in steps:
        total += step
        points.append((moment, total))
    return points


def _list_phases(golem: Golem, *, since: datetime) -> list[tuple[datetime, str]]:
    changes = list(
        PhaseTransition.objects.filter(golem=golem, occurred_at__gt=since)
        .order_by("occurred_at")
        .values_list("occurred_at", "from_phase", "to_phase")[:50]
    )
    first = changes[0][1] if changes else golem.phase
    return [(since, str(first)), *[(at, str(to)) for at, _, to in changes]]


def _show_percent(millionths: int) -> str:
    return f"{millionths // 10_000}%"
