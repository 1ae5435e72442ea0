"""How far a golem's holdings fell from their high-water mark, and what that forbids. Part of hook 1.

Three rules read one figure. A fall beyond the cage's limit blocks every write but DECREASE and CLOSE until the owner
acknowledges it. The breaker pauses new and larger positions for an hour from 13 % on, and from 20 % on it blocks like
a violation even where the cage allows more; for a day after a pause both are seven tenths of that. Money the owner
takes out looks like a loss, and is acknowledged like one: the figure cannot tell them apart.

The mark is the highest value of the 24 hours before a measurement, by time: what was measured stands until something
else is, so that a fall between two measurements is seen however far apart they are. Every tick measures, and every
preview of what grows a position; a golem without a heartbeat is measured in between.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.hook_rejection import Reject
from permits_app.models import HighWaterMark
from permits_app.safety.call_records import Mark, decode_later, encode_later
from permits_app.safety.format_rule_figures import format_bps
from tools_app.core import audit_log, event_bus
from tools_app.core.errors import Recovery
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted
from tools_app.core.units import BPS, format_micro_usd
from tools_app.toolkit.enums import LEAVING, ActionClass

MARK_WINDOW = timedelta(hours=24)
MARK_STEP = timedelta(minutes=15)
"""Of the marks that follow within so long the highest is kept, hence ends up to a quarter of an hour late."""
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
    later = decode_later(row.later)
    return Mark(row.value_micro_usd, row.reached_at, row.violated_at, row.violated_bps, row.paused_until, later)


def breaker_thresholds(*, paused_until: datetime | None, now: datetime) -> tuple[int, int]:
    """The falls in basis points that pause and that block: after a pause the next day counts as volatile."""
    if paused_until is None or now >= paused_until + VOLATILE_FOR:
        return BREAKER_PAUSE_BPS, BREAKER_BLOCK_BPS
    pause, block = BREAKER_PAUSE_BPS * VOLATILITY_NUMERATOR, BREAKER_BLOCK_BPS * VOLATILITY_NUMERATOR
    return pause // VOLATILITY_DENOMINATOR, block // VOLATILITY_DENOMINATOR


def move_mark(*, mark: Mark, value_micro_usd: int, most_bps: int, now: datetime) -> Mark:
    """The mark after `value_micro_usd` was measured: risen, aged, paused or violated. Pure."""
    paused_until = mark.paused_until
    (value, reached_at), *later = list_marks(mark=mark, value_micro_usd=value_micro_usd, now=now)
    fallen_bps = measure_fall(mark_micro_usd=value, value_micro_usd=value_micro_usd)
    pause_bps, block_bps = breaker_thresholds(paused_until=paused_until, now=now)
    if fallen_bps >= pause_bps and (paused_until is None or paused_until <= reached_at):
        paused_until = now + BREAKER_COOL_DOWN
    moved = replace(mark, value_micro_usd=value, reached_at=reached_at, paused_until=paused_until, later=tuple(later))
    if mark.violated_at is None and (fallen_bps > most_bps or fallen_bps >= block_bps):
        return replace(moved, violated_at=now, violated_bps=fallen_bps)
    return moved


def list_marks(*, mark: Mark, value_micro_usd: int, now: datetime) -> list[tuple[int, datetime]]:
    """The mark and those that follow it after `value_micro_usd` was measured `now`, highest first, each with when the
    holdings were last worth so much. Under a violation nothing ages. Pure.
    """
    *before, (last, _) = (mark.value_micro_usd, mark.reached_at), *mark.later
    held = [*before, (last, now)]
    if mark.violated_at is None:
        held = [each for each in held if now - each[1] <= MARK_WINDOW]
    else:
        held[0] = (mark.value_micro_usd, mark.reached_at)
    while held and held[-1][0] <= value_micro_usd:
        held.pop()
    return [*_thin_out(held), (value_micro_usd, now)]


def _thin_out(marks: list[tuple[int, datetime]]) -> list[tuple[int, datetime]]:
    """Of those within one step of time the highest with the latest time, so that a row keeps no more than a hundred."""
    kept: list[tuple[int, datetime]] = []
    for value, at in marks:
        if kept and _step_of(kept[-1][1]) == _step_of(at):
            kept[-1] = (kept[-1][0], at)
        else:
            kept.append((value, at))
    return kept


def _step_of(at: datetime) -> int:
    return int(at.timestamp() // MARK_STEP.total_seconds())


def _is_as_it_was(known: Mark, moved: Mark) -> bool:
    """The same values, and nothing but times moved, by less than a minute: not worth a write."""
    before = ((known.value_micro_usd, known.reached_at), *known.later)
    after = ((moved.value_micro_usd, moved.reached_at), *moved.later)
    same = replace(moved, reached_at=known.reached_at, later=known.later) == known and len(before) == len(after)
    return same and all(
        old == new and timedelta(0) <= then - since < MARK_REACHED_AGAIN
        for (old, since), (new, then) in zip(before, after, strict=True)
    )


@retry_aborted
def record_value(
    *,
    golem_id: UUID,
    value_micro_usd: int,
    most_bps: int,
    now: datetime,
    known: Mark | None = None,
    account: str | None = None,
) -> Fall:
    """Hold `value_micro_usd` against the mark, move the mark, and record a fall that breaks a limit.

    `account` is whose holdings were measured: those of the one the golem acts with now begin a mark of their own, those
    of a former one change nothing. A fall that its owner has not acknowledged stands whatever the account.

    With `known`, the mark as it was read a moment ago, a move that violates nothing is one conditional UPDATE;
    everything else, and a mark that moved meanwhile, takes the lock of the mark's row.
    Emits policy:violation and appends PolicyCageCheck once per violation.
    """
    if known is not None:
        moved = move_mark(mark=known, value_micro_usd=value_micro_usd, most_bps=most_bps, now=now)
        if moved.violated_at == known.violated_at and (
            _is_as_it_was(known, moved) or _swap(golem_id, known, moved, now, account)
        ):
            return fall_of(moved)
    with transaction.atomic():
        HighWaterMark.objects.get_or_create(
            golem_id=golem_id,
            defaults={"value_micro_usd": value_micro_usd, "reached_at": now, "account": account or ""},
        )
        row = HighWaterMark.objects.select_for_update(no_key=True).get(golem_id=golem_id)
        before = mark_of(row)
        if account is not None and row.account != account:
            if Golem.objects.filter(pk=golem_id).exclude(address=account).exists():
                # Measured before the golem went on with another account.
                return fall_of(before)
            before = _begin_anew(row, before, account, value_micro_usd, now)
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


def _begin_anew(row: HighWaterMark, before: Mark, account: str, value_micro_usd: int, now: datetime) -> Mark:
    """The mark of `account`, with the first value that was measured of it."""
    HighWaterMark.objects.filter(pk=row.pk).update(account=account)
    facts = {"from": row.account, "to": account, "mark": format_micro_usd(value_micro_usd)}
    audit_log.append(golem_id=row.golem_id, event="HighWaterMarkBegun", actor="system:policy", data=facts, now=now)
    if before.violated_at is not None:
        return before
    return Mark(value_micro_usd, now, paused_until=before.paused_until)


def _swap(golem_id: UUID, known: Mark, moved: Mark, now: datetime, account: str | None) -> bool:
    """Write `moved` if the row still is `known`, of that account; True when it was."""
    unchanged = HighWaterMark.objects.filter(golem_id=golem_id, **_columns(known))
    if account is not None:
        unchanged = unchanged.filter(account=account)
    return bool(unchanged.update(**_columns(moved), updated_at=now))


def _columns(mark: Mark) -> dict[str, object]:
    return {**asdict(mark), "later": encode_later(mark.later)}
