"""A golem's figures that several pages show: what is used of its limits, and its last permits as short lines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice

from django.db.models import QuerySet
from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from archetypes_app.profiles import writes_per_hour_cap
from permits_app.limits import ledger
from permits_app.limits.rate_rules import most_writes_per_hour
from permits_app.limits.trading_costs import read_costs
from permits_app.models import ActionPermit, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.pages.limit_meter import Meter
from permits_app.words.move_words import describe_move
from tools_app.pages.html import show_age, show_badge
from tools_app.wording.formats import format_age, format_usd

LAST_PERMITS = 10
_LOOKED_AT = 60  # permits, of which equal ones in a row become one line
# A permit's plan and simulation are long, and a line tells nothing of them.
_LINE_COLUMNS = ("action_type", "bounds", "status", "value_micro_usd", "created_at", "golem__name")


@dataclass(frozen=True, slots=True)
class PermitLine:
    """One permit in a short list."""

    permit: ActionPermit
    what: str
    status: SafeString
    worth: str
    age: SafeString
    golem_name: str
    times: int


def build_meters(golem: Golem, limits: SpendingLimits, *, now: datetime) -> tuple[Meter, ...]:
    """What is used of the limits that add up: per 24 h, what trading cost, per heartbeat tick, writes per hour."""
    usage = ledger.read_usage(golem_id=golem.pk, api_key_id=None, heartbeat_tick=golem.heartbeat_tick, now=now)
    resets = f"oldest part is free {format_age(usage.day_resets_at, now=now)}" if usage.day_resets_at else ""
    hour = f"next one is free {format_age(usage.hour_resets_at, now=now)}" if usage.hour_resets_at else ""
    costs = read_costs(golem_id=golem.pk, now=now)
    frees = f"oldest part is free {format_age(costs.resets_at, now=now)}" if costs.resets_at else ""
    most_costs = limits.trading_costs_per_day_micro_usd
    meters = [
        meter_day(usage.day_micro_usd, limits, hint=resets),
        meter_usd("Trading cost in 24 h", costs.day_micro_usd, most_costs, frees),
    ]
    if golem.heartbeat_tick:
        meters.append(meter_usd("In this heartbeat tick", usage.tick_micro_usd, limits.per_tick_micro_usd, ""))
    most_writes = most_writes_per_hour(configured=limits.writes_per_hour, cap=writes_per_hour_cap(golem))
    percent = _percent(usage.writes_last_hour, most_writes)
    meters.append(
        Meter(
            name="Writes in the last hour",
            used=str(usage.writes_last_hour),
            limit=str(most_writes),
            remaining=f"{max(0, most_writes - usage.writes_last_hour)} left",
            percent=percent,
            tone=_meter_tone(percent),
            hint=hour,
        )
    )
    return tuple(meters)


def meter_day(used_micro_usd: int, limits: SpendingLimits, *, hint: str = "") -> Meter:
    """The rolling 24 h as a bar."""
    return meter_usd("Spent and reserved in 24 h", used_micro_usd, limits.per_day_micro_usd, hint)


def meter_usd(name: str, used: int, limit: int, hint: str) -> Meter:
    """Dollars of a limit as a bar, from micro-USD."""
    percent = _percent(used, limit)
    return Meter(
        name=name,
        used=format_usd(used),
        limit=format_usd(limit),
        remaining=f"{format_usd(max(0, limit - used))} left",
        percent=percent,
        tone=_meter_tone(percent),
        hint=hint,
    )


def _percent(used: int, limit: int) -> int:
    return min(100, used * 100 // limit) if limit else 100


def _meter_tone(percent: int) -> str:
    return "bad" if percent >= 90 else "warn" if percent >= 70 else "good"


def describe_permits(permits: QuerySet[ActionPermit], *, now: datetime) -> tuple[PermitLine, ...]:
    """Short lines of the newest of `permits`. An action previewed again and again and never used is one line."""
    newest = permits.select_related("golem").only(*_LINE_COLUMNS).order_by("-created_at")[:_LOOKED_AT]
    runs = groupby(newest, key=_name_run)
    return tuple(_describe_run(list(run), now) for _, run in islice(runs, LAST_PERMITS))


def _name_run(permit: ActionPermit) -> tuple[object, ...]:
    if permit.status in (PermitStatus.CANCELLED, PermitStatus.EXPIRED):
        return permit.golem_id, describe_action(permit), permit.status
    return (permit.pk,)


def _describe_run(run: list[ActionPermit], now: datetime) -> PermitLine:
    permit = run[0]
    return PermitLine(
        permit=permit,
        what=describe_action(permit),
        status=show_badge(permit.status),
        worth=format_usd(permit.value_micro_usd),
        age=show_age(permit.created_at, now=now),
        golem_name=permit.golem.name,
        times=len(run),
    )


def describe_action(permit: ActionPermit) -> str:
    """`Swap 500 USDC for WETH`."""
    return describe_move(permit.action_type, permit.bounds)
