"""How far a golem's holdings fell from their high-water mark, and what that forbids. Part of hook 1.

Three rules read one figure. A fall beyond the cage's limit blocks every write but DECREASE and CLOSE until the owner
acknowledges it. The breaker pauses new and larger positions for an hour from 13 % on, and from 20 % on it blocks like
a violation even where the cage allows more. The volatility multiplier of the seeds has no recorded meaning and is
not used. Money the owner takes out looks like a loss, and is acknowledged like one: the figure cannot tell them apart.
Seed: 001, "Drawdown"; facts 7 (governors); decisions, "PolicyCage".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from permits_app.models import HighWaterMark
from permits_app.safety.figures import format_bps
from permits_app.safety.hook import Reject
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.units import BPS, format_micro_usd
from tools_app.toolkit.enums import ActionClass

MARK_WINDOW = timedelta(hours=24)
BREAKER_PAUSE_BPS = 1_300
BREAKER_BLOCK_BPS = 2_000
BREAKER_COOL_DOWN = timedelta(seconds=3_600)

_LEAVING = frozenset({ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION})
_GROWING = frozenset({ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION})


@dataclass(frozen=True, slots=True)
class Fall:
    """What is recorded of a golem's fall: when it broke the limit, how far it was then, and a pause that still runs."""

    violated_at: datetime | None = None
    violated_bps: int = 0
    paused_until: datetime | None = None


def measure_fall(*, mark_micro_usd: int, value_micro_usd: int) -> int:
    """Basis points below the mark, rounded up; zero at or above it."""
    if mark_micro_usd <= 0 or value_micro_usd >= mark_micro_usd:
        return 0
    return -(-(mark_micro_usd - value_micro_usd) * BPS // mark_micro_usd)


def judge_fall(*, fall: Fall, action_class: ActionClass, most_bps: int, now: datetime) -> Reject | None:
    """The recorded fall against one action; leaving a position is never stopped."""
    if action_class in _LEAVING:
        return None
    if fall.violated_at is not None:
        return Reject(
            rule="policy_cage.drawdown",
            reason=(
                f"the holdings fell {format_bps(fall.violated_bps)} from their high-water mark;"
                " until the owner acknowledges it only positions are decreased and closed"
            ),
            observed=format_bps(fall.violated_bps),
            limit=format_bps(min(most_bps, BREAKER_BLOCK_BPS)),
            remaining="0 bps",
            would_pass="a decrease or close, or this action after the owner's acknowledgement",
            data={"violated_at": fall.violated_at.isoformat()},
        )
    if action_class in _GROWING and fall.paused_until is not None and now < fall.paused_until:
        return Reject(
            rule="policy_cage.nav_breaker",
            reason="the holdings fell by 13 % or more within a day; positions are not opened or grown for an hour",
            observed=f"a fall of at least {format_bps(BREAKER_PAUSE_BPS)}",
            limit=format_bps(BREAKER_PAUSE_BPS),
            resets_at=fall.paused_until.isoformat(),
            would_pass=f"the same action from {fall.paused_until.isoformat()} on, or a decrease or close now",
        )
    return None


def read_fall(golem_id: UUID) -> Fall:
    """What is recorded of `golem_id`; an empty record when nothing is."""
    row = HighWaterMark.objects.filter(golem_id=golem_id).first()
    return Fall(row.violated_at, row.violated_bps, row.paused_until) if row else Fall()


def record_value(*, golem_id: UUID, value_micro_usd: int, most_bps: int, now: datetime) -> Fall:
    """Hold `value_micro_usd` against the mark, move the mark, and record a fall that breaks a limit.

    Takes the lock of the mark's row. Emits policy:violation and appends PolicyCageCheck once per violation.
    """
    with transaction.atomic():
        HighWaterMark.objects.get_or_create(
            golem_id=golem_id, defaults={"value_micro_usd": value_micro_usd, "reached_at": now}
        )
        row = HighWaterMark.objects.select_for_update().get(golem_id=golem_id)
        if value_micro_usd >= row.value_micro_usd or (row.violated_at is None and now - row.reached_at > MARK_WINDOW):
            row.value_micro_usd, row.reached_at = value_micro_usd, now
        fallen_bps = measure_fall(mark_micro_usd=row.value_micro_usd, value_micro_usd=value_micro_usd)
        if fallen_bps >= BREAKER_PAUSE_BPS and (row.paused_until is None or row.paused_until <= row.reached_at):
            row.paused_until = now + BREAKER_COOL_DOWN
        is_new = row.violated_at is None and (fallen_bps > most_bps or fallen_bps >= BREAKER_BLOCK_BPS)
        if is_new:
            row.violated_at, row.violated_bps = now, fallen_bps
        row.save()
        if is_new:
            facts = {
                "rule": "policy_cage.drawdown",
                "observed_bps": str(fallen_bps),
                "limit_bps": str(most_bps),
                "mark": format_micro_usd(row.value_micro_usd),
                "value": format_micro_usd(value_micro_usd),
            }
            audit_log.append(golem_id=golem_id, event="PolicyCageCheck", actor="system:policy", data=facts, now=now)
            event = Event(EventType.POLICY_VIOLATION, {"hook": "policy_cage", **facts})
            event_bus.emit(golem_id=golem_id, event=event, now=now)
    return Fall(row.violated_at, row.violated_bps, row.paused_until)
