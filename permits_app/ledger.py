"""The spend ledger: reserve at preview, settle at the outcome, release when nothing was spent.

A reservation is made under the lock of the golem's limits row, in the transaction that opens the permit,
so two calls never both pass one limit. Seed: 001, "Spending limits"; decisions, "Safety hooks".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Sum, When
from django.db.models.functions import Coalesce

from archetypes_app.profiles import writes_per_hour_cap
from permits_app.models import ActionPermit, SpendEntry, SpendingLimits, StandingAllowance
from permits_app.models.permit import PermitStatus, list_states
from permits_app.models.spending import SpendState
from permits_app.safety.rate_rules import judge_rate, most_writes_per_hour
from permits_app.safety.spend_rules import judge_spend
from permits_app.usage import Usage
from permits_app.valuation import PlanValue
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.prepared import Filled, Prepared, Rows, fetch_together
from tools_app.core.rows import insert_rows

DAY = timedelta(hours=24)
HOUR = timedelta(hours=1)
_WRITE_STATES = (
    PermitStatus.CREATED,
    PermitStatus.COMMITTING,
    PermitStatus.COMMITTED,
    PermitStatus.REVERTED,
    PermitStatus.UNKNOWN,
)
# Also a part of what the safety chain reads at once (`safety/record_reader.py`); six columns, one row.
USAGE_SQL = f"""
SELECT spent.tick, spent.session, spent.day, spent.oldest, written.writes, written.oldest AS oldest_write
  FROM (
    SELECT
        COALESCE(SUM(amount) FILTER (WHERE %(tick)s::bigint > 0 AND heartbeat_tick = %(tick)s), 0) AS tick,
        COALESCE(SUM(amount) FILTER (WHERE api_key_id = %(key)s), 0) AS session,
        COALESCE(SUM(amount) FILTER (WHERE counts_per_day AND counted_at > %(day_start)s), 0) + (
            SELECT COALESCE(SUM(worth_micro_usd), 0) FROM permits_app_standingallowance
             WHERE golem_id = %(golem)s AND counted_at <= %(day_start)s
        ) AS day,
        MIN(counted_at) FILTER (WHERE counts_per_day AND counted_at > %(day_start)s) AS oldest
      FROM (
        SELECT COALESCE(settled_micro_usd, reserved_micro_usd) AS amount,
               heartbeat_tick, api_key_id, counts_per_day, counted_at
          FROM permits_app_spendentry
         WHERE golem_id = %(golem)s AND state <> 'RELEASED' AND permit_id IS DISTINCT FROM %(excluded)s
           AND (counted_at > %(day_start)s OR api_key_id = %(key)s
                OR (%(tick)s::bigint > 0 AND heartbeat_tick = %(tick)s))
      ) AS entries
  ) AS spent
 CROSS JOIN (
    SELECT COUNT(*) AS writes, MIN(created_at) AS oldest
      FROM permits_app_actionpermit
     WHERE golem_id = %(golem)s AND created_at > %(hour_start)s AND status IN ({list_states(_WRITE_STATES)})
       AND id IS DISTINCT FROM %(excluded)s
  ) AS written
"""  # noqa: S608  (our own constants)
USAGE_COLUMNS = 6
_USAGE = Prepared("read_usage", USAGE_SQL)
_LOCKED_LIMITS: CompiledQuery[SpendingLimits] = CompiledQuery(
    lambda golem_id: SpendingLimits.objects.select_for_update().filter(golem_id=golem_id), UUID(int=0)
)


def read_usage(
    *,
    golem_id: UUID,
    api_key_id: UUID | None,
    heartbeat_tick: int,
    now: datetime,
    exclude_permit_id: UUID | None = None,
) -> Usage:
    """What `golem_id` has reserved or settled in each window ending at `now`, in micro-USD.

    A golem whose heartbeat has not run yet (tick 0) has no tick window; a session is the life of one key.
    """
    arguments = usage_arguments(
        golem_id=golem_id, api_key_id=api_key_id, heartbeat_tick=heartbeat_tick, now=now,
        exclude_permit_id=exclude_permit_id,
    )  # fmt: skip
    (row,) = _USAGE.fetch(**arguments)
    return read_usage_columns(row)


def usage_arguments(
    *, golem_id: UUID, api_key_id: UUID | None, heartbeat_tick: int, now: datetime, exclude_permit_id: UUID | None
) -> dict[str, Any]:
    """The parameters of USAGE_SQL."""
    return {
        "golem": golem_id,
        "key": api_key_id,
        "tick": heartbeat_tick,
        "excluded": exclude_permit_id,
        "day_start": now - DAY,
        "hour_start": now - HOUR,
    }


def read_usage_columns(row: Sequence[Any]) -> Usage:
    """The six columns of USAGE_SQL as a value."""
    tick, session, day, oldest_spend, writes, oldest_write = row
    return Usage(
        tick_micro_usd=int(tick),
        session_micro_usd=int(session),
        day_micro_usd=int(day),
        writes_last_hour=int(writes),
        day_resets_at=oldest_spend + DAY if oldest_spend else None,
        hour_resets_at=oldest_write + HOUR if oldest_write else None,
    )


def reserve(
    *,
    permit: ActionPermit,
    value: PlanValue,
    counts_per_day: bool,
    heartbeat_tick: int,
    now: datetime,
    along: Sequence[Filled] = (),
) -> list[Rows]:
    """Reserve the worst case of `permit`, and store the permit with it when it is new. Call inside a transaction.

    It holds the golem's limits row from here on. The statements of `along` are sent with the new rows; their rows are
    the answer. Raises SpendingLimitExceeded when a window would overflow, RateLimited when the hour is full of writes.
    """
    arguments = usage_arguments(
        golem_id=permit.golem_id, api_key_id=permit.api_key_id, heartbeat_tick=heartbeat_tick, now=now,
        exclude_permit_id=permit.pk,
    )  # fmt: skip
    # Together, and the sums still see what was committed before the lock was given: each statement looks anew.
    rows, (used,) = fetch_together(_LOCKED_LIMITS.fill(permit.golem_id), _USAGE.fill(**arguments))
    if rows:
        (limits,), usage = _LOCKED_LIMITS.read(rows), read_usage_columns(used)
    else:
        limits = lock_limits(permit.golem_id)
        usage = read_usage_columns(*_USAGE.fetch(**arguments))
    refusal = judge_spend(
        limits=limits, usage=usage, amount_micro_usd=value.total_micro_usd, counts_per_day=counts_per_day
    )
    if refusal is not None:
        raise refusal.as_error("spending_limiter")
    refusal = judge_rate(
        writes=usage.writes_last_hour,
        most=most_writes_per_hour(configured=limits.writes_per_hour, cap=writes_per_hour_cap(permit.golem)),
        resets_at=usage.hour_resets_at,
    )
    if refusal is not None:
        raise refusal.as_error("rate_limiter")
    entry = SpendEntry(
        golem_id=permit.golem_id,
        permit=permit,
        api_key_id=permit.api_key_id,
        reserved_micro_usd=value.total_micro_usd,
        counts_per_day=counts_per_day,
        heartbeat_tick=heartbeat_tick,
        counted_at=now,
        breakdown=value.as_breakdown(),
    )
    return insert_rows(*([permit] if permit._state.adding else []), entry, along=along)


def lock_limits(golem_id: UUID) -> SpendingLimits:
    """The golem's limits row, locked until the transaction ends; reservations of one golem wait here for each other."""
    for row in _LOCKED_LIMITS.fetch(golem_id):
        return row
    SpendingLimits.objects.get_or_create(golem_id=golem_id)
    return SpendingLimits.objects.select_for_update().get(golem_id=golem_id)


def settle(*, permit_id: UUID, spent_micro_usd: int, counted_at: datetime) -> bool:
    """Settle a reservation once at what was really spent, never above what was reserved; True when this call did it."""
    entry = SpendEntry.objects.filter(permit_id=permit_id, state=SpendState.RESERVED)
    changed = entry.update(
        state=SpendState.SETTLED,
        settled_micro_usd=_least(spent_micro_usd),
        counted_at=counted_at,
    )
    return bool(changed)


def reopen(*, permit_id: UUID) -> bool:
    """Hold the whole reservation again after a reorganisation took the settled outcome back; True when it did."""
    changed = SpendEntry.objects.filter(permit_id=permit_id, state=SpendState.SETTLED).update(
        state=SpendState.RESERVED, settled_micro_usd=None
    )
    return bool(changed)


def release(*, permit_id: UUID) -> bool:
    """Give a reservation back; True when this call did it."""
    changed = SpendEntry.objects.filter(permit_id=permit_id, state=SpendState.RESERVED).update(
        state=SpendState.RELEASED
    )
    return bool(changed)


def _least(spent_micro_usd: int) -> Any:
    return Case(
        When(reserved_micro_usd__lt=spent_micro_usd, then=F("reserved_micro_usd")), default=max(0, spent_micro_usd)
    )


def sum_days(*, golem_ids: Sequence[UUID], now: datetime) -> dict[UUID, int]:
    """What each golem has reserved or settled in the 24 h ending at `now`, and what older allowances still let others
    take, micro-USD; one with neither is absent.
    """
    spent = (
        SpendEntry.objects.filter(golem_id__in=golem_ids, counts_per_day=True, counted_at__gt=now - DAY)
        .exclude(state=SpendState.RELEASED)
        .values_list("golem_id")
        .annotate(total=Sum(Coalesce("settled_micro_usd", "reserved_micro_usd")))
    )
    standing = (
        StandingAllowance.objects.filter(golem_id__in=golem_ids, counted_at__lte=now - DAY, worth_micro_usd__gt=0)
        .values_list("golem_id")
        .annotate(total=Sum("worth_micro_usd"))
    )
    days: Counter[UUID] = Counter()
    for golem_id, total in (*spent, *standing):
        days[golem_id] += int(total)
    return dict(days)
