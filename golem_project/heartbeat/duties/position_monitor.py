"""position-monitor: positions that left their range or are about to, and what their protocols cannot give now, told
once each, and once when all is well again.

Ranges are judged every minute from what the golem's last tick saw; nothing is asked of a chain, nothing is changed.
What cannot be taken out the tick itself tells. Debts have an
alarm of their own (`tripwire`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from archetypes_app.models import AlertBatch, DecisionCycleRecord, Golem
from golem_project.heartbeat.duties.alerting import RuleAlert, tell_alerts
from golem_project.heartbeat.recorded_probes import read_probes
from tools_app.core.required_value import require
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import BPS
from tools_app.toolkit.positions import LOCKED_WORDS

SOURCE: Final = "position-monitor"
LOCKED_SOURCE: Final = "locked-positions"
PEG_SOURCE: Final = "off-peg"
STILL_SOURCE: Final = "stands-still"
NEAR_EDGE_BPS: Final = 1_000
"""A position whose price is within a tenth of its width of an edge is about to leave."""
WELL: Final = "well again"
FREE: Final = "everything can be taken out"
PEGGED: Final = "every token is at its peg"
MOVING: Final = "every token moves, and every right over others' money gives"
_FRESH: Final = timedelta(minutes=10)


def judge_positions(probes: Mapping[str, object]) -> tuple[RuleAlert, ...]:
    """An alert for each position out of its range or near an edge, with the distance. Pure."""
    found = []
    for each in read_probes(probes).positions:
        if each.liquidity == "0":
            continue
        tick, lower, upper = require(each.pool_tick), require(each.tick_lower), require(each.tick_upper)
        name, limit = f"position {require(each.position_id)}", f"ticks {lower} to {upper}"
        if not each.in_range:
            beyond = lower - tick if tick < lower else tick - upper
            found.append(RuleAlert(f"out of range: {name}", f"tick {tick}, {beyond} beyond", limit))
        elif (left := min(tick - lower, upper - tick)) * BPS < NEAR_EDGE_BPS * (upper - lower):
            found.append(RuleAlert(f"near an edge: {name}", f"tick {tick}, {left} left", limit))
    return tuple(found)


def judge_locked(probes: Mapping[str, object]) -> tuple[RuleAlert, ...]:
    """An alert for each position of which something cannot be taken out now, or whose protocol takes nothing in, and
    for each oracle that gives no price of what is held. Pure.

    Its name holds no amount: what changes with each block is told once.
    """
    seen = read_probes(probes)
    silent = tuple(
        RuleAlert(f"oracle failed: {each.name}", each.reason, "a fresh price") for each in seen.failed_oracles
    )
    return silent + tuple(
        RuleAlert(
            f"cannot be taken out now: {held.label}" if locked.raw != "0" else f"frozen: {held.label}",
            f"{locked.raw} base units of {locked.token}",
            LOCKED_WORDS.get(locked.reason, locked.reason),
        )
        for held in (*seen.locked_positions, *seen.held_elsewhere)
        for locked in held.locked
    )


def judge_pegs(probes: Mapping[str, object]) -> tuple[RuleAlert, ...]:
    """An alert for each token that left its peg. Pure. Its name holds no figure: what moves is told once."""
    return tuple(
        RuleAlert(f"off its peg: {each.name}", each.words, "nothing more is put into it")
        for each in read_probes(probes).off_peg
    )


def judge_still(probes: Mapping[str, object]) -> tuple[RuleAlert, ...]:
    """An alert for each token that stands still, and for each right over others' money that gives nothing now. Pure."""
    seen = read_probes(probes)
    tokens = tuple(
        RuleAlert(f"stands still: {each.name}", each.words, "nothing more is put into it")
        for each in seen.standing_still
    )
    return tokens + tuple(
        RuleAlert(f"gives nothing now: {each.name} of {each.principal}", each.words, "nothing is drawn of it")
        for each in seen.stuck_rights
    )


def monitor_positions(*, now: datetime, limit: int = 500) -> int:
    """Tell of every golem whose positions stand otherwise than was told last; how many golems. Of more than `limit` any
    are looked at, other ones each minute.
    """
    newest = (
        DecisionCycleRecord.objects.filter(
            decided_at__gt=now - _FRESH, decided_at__lte=now, golem__heartbeat__is_on=True, golem__retired_at=None
        )
        .order_by("golem_id", "-heartbeat_tick")
        .distinct("golem_id")
    )
    looked_at = DecisionCycleRecord.objects.filter(pk__in=newest.values("pk")).select_related("golem").order_by("?")
    told = 0
    for each in looked_at[:limit]:
        told += _tell(each.golem, judge_positions(each.probes), now)
    return told


def tell_locked(*, golem: Golem, probes: Mapping[str, object], now: datetime) -> bool:
    """Tell what cannot be taken out now, where it is otherwise than was told last; whether something was told. Joins
    the transaction in which a tick keeps `probes`, so what a tick saw and what was told of it are one.
    """
    return tell_news(golem, judge_locked(probes), now, source=LOCKED_SOURCE, well=FREE, waits_for_window=False)


def tell_pegs(*, golem: Golem, probes: Mapping[str, object], now: datetime) -> bool:
    """The same of tokens that left their peg."""
    return tell_news(golem, judge_pegs(probes), now, source=PEG_SOURCE, well=PEGGED, waits_for_window=False)


def tell_still(*, golem: Golem, probes: Mapping[str, object], now: datetime) -> bool:
    """The same of tokens that stand still, and of rights over others' money that give nothing."""
    return tell_news(golem, judge_still(probes), now, source=STILL_SOURCE, well=MOVING, waits_for_window=False)


@retry_aborted
def _tell(golem: Golem, alerts: tuple[RuleAlert, ...], now: datetime) -> bool:
    with transaction.atomic():
        return tell_news(golem, alerts, now, source=SOURCE, well="every position is in its range")


def tell_news(
    golem: Golem,
    alerts: tuple[RuleAlert, ...],
    now: datetime,
    *,
    source: str,
    well: str,
    waits_for_window: bool = True,
) -> bool:
    """Tell the alerts of `source` where they are others than were told last, and `well` once there are none; whether
    something was told. Joins the caller's transaction.
    """
    last = AlertBatch.objects.filter(golem=golem, source=source).order_by("-window_start").first()
    told = {alert["rule"] for alert in last.alerts} - {WELL} if last is not None else set()
    if told == {alert.rule for alert in alerts}:
        return False
    news = alerts or (RuleAlert(WELL, well, "the same"),)
    # Where a window has one batch, what changes again in it is told in the next.
    return tell_alerts(golem=golem, source=source, alerts=news, now=now, waits_for_window=waits_for_window)
