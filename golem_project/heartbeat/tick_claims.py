"""Claims golems that are due for a tick, so that each tick is begun and ended once.

A claim raises the golem's fence and gives it a lease; a tick begins only under the newest fence, and only once, so
that a task delivered twice, two beats, or a worker that comes back from the dead change nothing. Every function is one
statement. A clock that jumped is seen by times no clock of ours would have written.
Emits nothing; the cycle does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import connection

from archetypes_app.models import DecisionCycleRecord, Golem, Heartbeat, HeartbeatTick
from archetypes_app.models.tick import MOST_THETA_SECONDS, TickStatus
from golem_project.heartbeat.schedule import longest_wait
from golem_project.heartbeat.tick_memory import TickMemory, read_memory
from tools_app.core.transaction_retry import retry_aborted

# Two processes read the clock some milliseconds apart; only what no two of ours can differ by is a clock that jumped.
_CLOCK_SLACK = timedelta(seconds=30)
_REGIME_BEFORE = "regime_before"
_PERSON, _SHARED = get_user_model()._meta.db_table, Golem.co_owners.through._meta.db_table
_CLOCK, _TICK, _GOLEM = Heartbeat._meta.db_table, HeartbeatTick._meta.db_table, Golem._meta.db_table


@dataclass(frozen=True, slots=True)
class TickClaim:
    """The right to begin one tick of one golem."""

    golem_id: UUID
    fence: int


@dataclass(frozen=True, slots=True)
class BegunTick:
    """A tick that began: the golem as it is in it, its clock, and what the tick before left behind.

    `abandoned_tick_id` is the tick of a worker that stopped, closed by this begin.
    """

    id: int
    golem: Golem
    fence: int
    number: int
    scheduled_at: datetime
    lateness_ms: int
    theta_seconds: int
    base_seconds: int
    planner: str
    rules_stand_in: bool
    liquidity_rule: dict[str, Any]  # Any: a column's value, of any type
    strategies: dict[str, Any]  # Any: a column's value, of any type
    regime: str
    state: dict[str, Any]  # Any: a column's value, of any type
    steers: list[dict[str, Any]]  # Any: a column's value, of any type
    abandoned_tick_id: int | None

    @property
    def regime_before(self) -> str:
        """The market that the last tick which ended saw; one that was killed may have noted another."""
        return self.memory.regime_before or self.regime

    @property
    def memory(self) -> TickMemory:
        """What the tick before left."""
        return read_memory(self.state)


@retry_aborted
def claim_due(*, now: datetime, limit: int, lease_seconds: int, jitter_bps: int) -> list[TickClaim]:
    """Claim at most `limit` golems that are due, the longest waiting first. Two callers never get the same one.

    Due too is a golem whose next tick lies further ahead than any interval, or whose lease does: the clock went back.
    """
    lease = timedelta(seconds=lease_seconds)
    with connection.cursor() as cursor:
        cursor.execute(
            _CLAIM_SQL,
            {
                "now": now,
                "limit": limit,
                "expires": now + lease,
                "furthest": now
                + longest_wait(most_theta_seconds=MOST_THETA_SECONDS, jitter_bps=jitter_bps)
                + _CLOCK_SLACK,
                "longest_lease": now + lease + _CLOCK_SLACK,
            },
        )
        return [TickClaim(UUID(str(golem_id)), int(fence)) for golem_id, fence in cursor.fetchall()]


_CLAIM_SQL = f"""
WITH due AS MATERIALIZED (
    SELECT golem_id FROM {_CLOCK}
     WHERE is_on AND (next_tick_at <= %(now)s OR next_tick_at > %(furthest)s)
       AND (lease_expires_at IS NULL OR lease_expires_at <= %(now)s OR lease_expires_at > %(longest_lease)s)
     ORDER BY next_tick_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED)
UPDATE {_CLOCK} AS clock
   SET fence = clock.fence + 1, lease_expires_at = %(expires)s
  FROM due WHERE clock.golem_id = due.golem_id
RETURNING clock.golem_id, clock.fence
"""  # noqa: S608  (the tables' own names)


@retry_aborted
def begin_tick(*, claim: TickClaim, lease_seconds: int, now: datetime) -> BegunTick | None:
    """Begin the tick of `claim`; None when a newer claim exists, it was begun before, the heartbeat was turned off,
    or nobody with an active account owns the golem.

    Raises the golem's heartbeat tick by one, which ends permits of three ticks ago, and closes a tick left running.
    """
    rows = list(
        Golem.objects.raw(
            _BEGIN_SQL,
            {
                "golem": claim.golem_id,
                "fence": claim.fence,
                "now": now,
                "expires": now + timedelta(seconds=lease_seconds),
            },
        )
    )
    if not rows:
        return None
    golem: Any = rows[0]  # Any: a column's value, of any type
    return BegunTick(
        id=golem.tick_id,
        golem=golem,
        fence=claim.fence,
        number=golem.heartbeat_tick,
        scheduled_at=golem.tick_scheduled_at,
        lateness_ms=golem.tick_lateness_ms,
        theta_seconds=golem.tick_theta,
        base_seconds=golem.clock_base,
        planner=golem.clock_planner,
        rules_stand_in=golem.clock_rules_stand_in,
        liquidity_rule=_load(golem.clock_rule),
        strategies=_load(golem.clock_strategies),
        regime=golem.clock_regime,
        state=_load(golem.clock_state),
        steers=_load(golem.clock_steers),
        abandoned_tick_id=golem.abandoned_tick_id,
    )


# Nobody with an active account: no tick begins, whatever was claimed before.
_IS_OWNED = f"""EXISTS (
    SELECT FROM {_PERSON} AS person WHERE person.is_active AND (person.id = owned.owner_id OR EXISTS (
        SELECT FROM {_SHARED} WHERE golem_id = owned.id AND user_id = person.id)))"""  # noqa: S608  (our tables)
# The numbers of ticks never run twice: the golem's row is updated in the statement that writes the tick.
# The golem is locked before its clock, as everywhere.
_BEGIN_SQL = f"""
WITH owned AS MATERIALIZED (
    SELECT id FROM {_GOLEM} AS owned WHERE id = %(golem)s AND {_IS_OWNED}
), held AS MATERIALIZED (
    SELECT id FROM {_GOLEM} WHERE id = %(golem)s FOR NO KEY UPDATE
), clock AS (
    UPDATE {_CLOCK}
       SET begun_fence = fence, lease_expires_at = %(expires)s
     WHERE golem_id = (SELECT id FROM held) AND fence = %(fence)s AND begun_fence < fence AND is_on
       AND EXISTS (SELECT FROM owned)
 RETURNING golem_id, next_tick_at, planner, rules_stand_in, liquidity_rule, strategies, regime, state,
           pending_steers, base_interval_seconds,
           COALESCE((state ->> 'theta_seconds')::int, base_interval_seconds) AS theta
), golem AS (
    UPDATE {_GOLEM} SET heartbeat_tick = heartbeat_tick + 1
     WHERE id = (SELECT golem_id FROM clock)
 RETURNING *
), abandoned AS (
    UPDATE {_TICK} SET status = '{TickStatus.ABANDONED}', ended_at = %(now)s
     WHERE golem_id = (SELECT golem_id FROM clock) AND status = '{TickStatus.RUNNING}'
 RETURNING id
), tick AS (
    INSERT INTO {_TICK} (golem_id, number, fence, status, scheduled_at, started_at, lateness_ms, theta_seconds,
                         missed_before)
    SELECT golem.id, golem.heartbeat_tick, %(fence)s, '{TickStatus.RUNNING}', clock.next_tick_at, %(now)s,
           LEAST(2147483647, GREATEST(0, EXTRACT(EPOCH FROM %(now)s - clock.next_tick_at) * 1000))::int,
           clock.theta, GREATEST(0, FLOOR(EXTRACT(EPOCH FROM %(now)s - clock.next_tick_at) / clock.theta))::int
      FROM golem, clock, (SELECT COUNT(*) FROM abandoned) AS closed_first
 RETURNING id, scheduled_at, lateness_ms
)
SELECT golem.*, tick.id AS tick_id, tick.scheduled_at AS tick_scheduled_at, tick.lateness_ms AS tick_lateness_ms,
       clock.theta AS tick_theta, clock.base_interval_seconds AS clock_base,
       clock.planner AS clock_planner, clock.rules_stand_in AS clock_rules_stand_in,
       clock.liquidity_rule AS clock_rule, clock.strategies AS clock_strategies, clock.regime AS clock_regime,
       clock.state AS clock_state, clock.pending_steers AS clock_steers,
       (SELECT MAX(id) FROM abandoned) AS abandoned_tick_id
  FROM golem, clock, tick
"""  # noqa: S608


@retry_aborted
def renew(*, begun: BegunTick, lease_seconds: int, now: datetime) -> bool:
    """Whether this tick still holds its golem; if so its lease begins anew. Locks the row for the transaction."""
    changed = Heartbeat.objects.filter(pk=begun.golem.pk, fence=begun.fence, is_on=True).update(
        lease_expires_at=now + timedelta(seconds=lease_seconds)
    )
    return bool(changed)


@retry_aborted
def keep_in_state(*, begun: BegunTick, part: dict[str, object]) -> bool:
    """Write `part` into what the next tick starts from, before this one ends; False when another tick took over. Locks
    the row for the transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {_CLOCK} SET state = state || %(part)s::jsonb"  # noqa: S608  (the table's own name)
            " WHERE golem_id = %(golem)s AND fence = %(fence)s",
            {"part": json.dumps(part), "golem": begun.golem.pk, "fence": begun.fence},
        )
        return bool(cursor.rowcount)


@retry_aborted
def note_regime(*, begun: BegunTick, regime: str, now: datetime) -> None:
    """Say in which market the tick is about to act: what comes of its actions is remembered with that, and not with
    what the tick before saw. Nothing is written where another tick took over. Where this one never ends, the next
    still compares with the market before it (`regime_before`).
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _NOTE_SQL,
            {
                "golem": begun.golem.pk,
                "fence": begun.fence,
                "regime": regime,
                "part": json.dumps({"regime_seen_at": now.isoformat(), _REGIME_BEFORE: begun.regime_before}),
            },
        )


_NOTE_SQL = f"""
UPDATE {_CLOCK} SET regime = %(regime)s, state = state || %(part)s::jsonb
 WHERE golem_id = %(golem)s AND fence = %(fence)s
"""  # noqa: S608  (the table's own name)


@dataclass(frozen=True, slots=True)
class TickEnd:
    """How a tick ended: its status, how long it took, when the next is due, and what is remembered until then."""

    status: TickStatus
    duration_ms: int
    next_tick_at: datetime
    missed: int
    regime: str
    state: dict[str, Any]  # Any: a column's value, of any type
    steers_used: int


@retry_aborted
def end_tick(*, begun: BegunTick, end: TickEnd, record: DecisionCycleRecord, now: datetime) -> bool:
    """Write the end and its decision, and free the golem; False, and nothing written, when another tick took over.

    Sets the id of `record`.
    """
    columns = {str(field.column): field for field in record._meta.concrete_fields if not field.primary_key}
    values: dict[str, Any] = {  # Any: a column's value, of any type
        name: field.get_db_prep_save(getattr(record, field.attname), connection) for name, field in columns.items()
    }
    with connection.cursor() as cursor:
        cursor.execute(
            _END_SQL.format(columns=", ".join(columns), values=", ".join(f"%({name})s" for name in columns)),
            {
                **values,
                "golem": begun.golem.pk,
                "begun": begun.id,
                "fence": begun.fence,
                "now": now,
                "status": str(end.status),
                "duration": end.duration_ms,
                "next": end.next_tick_at,
                "missed": end.missed,
                "new_regime": end.regime,
                "state": json.dumps(end.state),
                "used": end.steers_used,
            },
        )
        row = cursor.fetchone()
    if row is None:
        return False
    record.pk = row[0]
    return True


_END_SQL = f"""
WITH clock AS (
    UPDATE {_CLOCK}
       SET lease_expires_at = NULL, next_tick_at = %(next)s, missed_ticks = missed_ticks + %(missed)s,
           regime = %(new_regime)s, state = %(state)s::jsonb, updated_at = %(now)s,
           pending_steers = (SELECT COALESCE(jsonb_agg(word ORDER BY place), '[]'::jsonb)
                               FROM jsonb_array_elements(pending_steers) WITH ORDINALITY AS told(word, place)
                              WHERE place > %(used)s)
     WHERE golem_id = %(golem)s AND fence = %(fence)s
 RETURNING golem_id
), tick AS (
    UPDATE {_TICK} SET status = %(status)s, ended_at = %(now)s, duration_ms = %(duration)s
     WHERE id = %(begun)s AND status = '{TickStatus.RUNNING}' AND golem_id = (SELECT golem_id FROM clock)
 RETURNING id
)
INSERT INTO {DecisionCycleRecord._meta.db_table} ({{columns}})
SELECT {{values}} FROM tick
RETURNING id
"""  # noqa: S608


def _load(value: Any) -> Any:  # Any: a column's value, of any type
    return json.loads(value) if isinstance(value, str) else value


def make_due(*, golem_id: UUID, now: datetime) -> bool:
    """Let the next claim take this golem; True when its heartbeat is on."""
    return bool(Heartbeat.objects.filter(pk=golem_id, is_on=True).update(next_tick_at=now))
