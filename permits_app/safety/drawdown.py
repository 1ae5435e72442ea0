"""How far a golem's holdings fell from their high-water mark, and what that forbids. Part of hook 1.

Three rules read one figure. A fall beyond the cage's limit blocks every write but DECREASE and CLOSE until the owner
acknowledges it. The breaker pauses new and larger positions for an hour from 13 % on, and from 20 % on it blocks like
a violation even where the cage allows more. The volatility multiplier of the seeds has no recorded meaning and is
not used. Money the owner takes out looks like a loss, and is acknowledged like one: the figure cannot tell them apart.
Seed: 001, "Drawdown"; facts 7 (governors); decisions, "PolicyCage".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from permits_app.models import HighWaterMark
from permits_app.safety.figures import format_bps
from permits_app.safety.hook import Reject
from permits_app.safety.records import Mark
from tools_app.core import audit_log, event_bus
from tools_app.core.errors import Recovery
from tools_app.core.events import Event, EventType
from tools_app.core.units import BPS, format_micro_usd
from tools_app.core.whole import whole
from tools_app.toolkit.enums import LEAVING, ActionClass

MARK_WINDOW = timedelta(hours=24)
MARK_REACHED_AGAIN = timedelta(minutes=1)
"""A mark that is reached again keeps its time for so long, hence ends up to a minute early."""
BREAKER_PAUSE_BPS = 1_300
BREAKER_BLOCK_BPS = 2_000
BREAKER_COOL_DOWN = timedelta(seconds=3_600)
VOLATILITY_NUMERATOR, VOLATILITY_DENOMINATOR = 7, 10
VOLATILE_FOR = timedelta(hours=24)
"""So long after a pause both thresholds of the breaker are seven tenths of what they are on a quiet day."""

_GROWING = frozenset({ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION})


@dataclass(frozen=True, slots=True)
class Fall:
    """What is recorded of a golem's fall: when it broke the limit, how far it was then, and a pause that still runs."""

    violated_at: datetime | None = None
    violated_bps: int = 0
    paused_until: datetime | None = None


def measure_fall(*, mark_micro_usd: int, value_micro_usd: int) -> int:
    """Basis points below the mark, rounded up; zero at or above it."""
    if value_micro_usd >= mark_micro_usd:
        return 0
    return -(-(mark_micro_usd - value_micro_usd) * BPS // mark_micro_usd)


def judge_fall(*, fall: Fall, action_class: ActionClass, most_bps: int, now: datetime) -> Reject | None:
    """The recorded fall against one action; leaving a position is never stopped."""
    if action_class in LEAVING:
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
            data={"recovery": Recovery.WAIT},
        )
    return None


def read_fall(golem_id: UUID) -> Fall:
    """What is recorded of `golem_id`; an empty record when nothing is."""
    row = HighWaterMark.objects.filter(golem_id=golem_id).first()
    return fall_of(mark_of(row)) if row else Fall()


def fall_of(mark: Mark | None) -> Fall:
    """What a mark says of a fall; an empty record without one."""
    return Fall(mark.violated_at, mark.violated_bps, mark.paused_until) if mark is not None else Fall()


def mark_of(row: HighWaterMark) -> Mark:
    """The row as a value."""
    return Mark(row.value_micro_usd, row.reached_at, row.violated_at, row.violated_bps, row.paused_until)


def breaker_thresholds(*, paused_until: datetime | None, now: datetime) -> tuple[int, int]:
    """The falls in basis points that pause and that block: after a pause the next day counts as volatile."""
    if paused_until is None or now >= paused_until + VOLATILE_FOR:
        return BREAKER_PAUSE_BPS, BREAKER_BLOCK_BPS
    pause, block = BREAKER_PAUSE_BPS * VOLATILITY_NUMERATOR, BREAKER_BLOCK_BPS * VOLATILITY_NUMERATOR
    return pause // VOLATILITY_DENOMINATOR, block // VOLATILITY_DENOMINATOR


def move_mark(*, mark: Mark, value_micro_usd: int, most_bps: int, now: datetime) -> Mark:
    """The mark after `value_micro_usd` was measured: risen, aged, paused or violated. Pure."""
    value, reached_at, paused_until = mark.value_micro_usd, mark.reached_at, mark.paused_until
    if value_micro_usd >= value or (mark.violated_at is None and now - reached_at > MARK_WINDOW):
        value, reached_at = value_micro_usd, now
    fallen_bps = measure_fall(mark_micro_usd=value, value_micro_usd=value_micro_usd)
    pause_bps, block_bps = breaker_thresholds(paused_until=paused_until, now=now)
    if fallen_bps >= pause_bps and (paused_until is None or paused_until <= reached_at):
        paused_until = now + BREAKER_COOL_DOWN
    moved = replace(mark, value_micro_usd=value, reached_at=reached_at, paused_until=paused_until)
    if mark.violated_at is None and (fallen_bps > most_bps or fallen_bps >= block_bps):
        return replace(moved, violated_at=now, violated_bps=fallen_bps)
    return moved


def _is_as_it_was(known: Mark, moved: Mark) -> bool:
    """Nothing moved but the time of a mark that was reached again within the minute: not worth a write."""
    since = moved.reached_at - known.reached_at
    return timedelta(0) <= since < MARK_REACHED_AGAIN and replace(moved, reached_at=known.reached_at) == known


@whole
def record_value(
    *, golem_id: UUID, value_micro_usd: int, most_bps: int, now: datetime, known: Mark | None = None
) -> Fall:
    """Hold `value_micro_usd` against the mark, move the mark, and record a fall that breaks a limit.

    With `known`, the mark as it was read a moment ago, a move that violates nothing is one conditional UPDATE;
    everything else, and a mark that moved meanwhile, takes the lock of the mark's row.
    Emits policy:violation and appends PolicyCageCheck once per violation.
    """
    if known is not None:
        moved = move_mark(mark=known, value_micro_usd=value_micro_usd, most_bps=most_bps, now=now)
        if moved.violated_at == known.violated_at and (
            _is_as_it_was(known, moved) or _swap(golem_id, known, moved, now)
        ):
            return fall_of(moved)
    with transaction.atomic():
        HighWaterMark.objects.get_or_create(
            golem_id=golem_id, defaults={"value_micro_usd": value_micro_usd, "reached_at": now}
        )
        row = HighWaterMark.objects.select_for_update(no_key=True).get(golem_id=golem_id)
        before = mark_of(row)
        moved = move_mark(mark=before, value_micro_usd=value_micro_usd, most_bps=most_bps, now=now)
        HighWaterMark.objects.filter(pk=row.pk).update(**_columns(moved), updated_at=now)
        if moved.violated_at != before.violated_at:
            facts = {
                "rule": "policy_cage.drawdown",
                "observed_bps": str(moved.violated_bps),
                "limit_bps": str(most_bps),
                "mark": format_micro_usd(moved.value_micro_usd),
                "value": format_micro_usd(value_micro_usd),
            }
            audit_log.append(golem_id=golem_id, event="PolicyCageCheck", actor="system:policy", data=facts, now=now)
            event = Event(EventType.POLICY_VIOLATION, {"hook": "policy_cage", **facts})
            event_bus.emit(golem_id=golem_id, event=event, now=now)
    return fall_of(moved)


def _swap(golem_id: UUID, known: Mark, moved: Mark, now: datetime) -> bool:
    """Write `moved` if the row still is `known`; True when it was."""
    unchanged = HighWaterMark.objects.filter(golem_id=golem_id, **_columns(known))
    return bool(unchanged.update(**_columns(moved), updated_at=now))


def _columns(mark: Mark) -> dict[str, Any]:
    return asdict(mark)
