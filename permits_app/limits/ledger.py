"""The spend ledger: reserve at preview, settle at the outcome, release when nothing was spent.

A reservation is made under the locks of the golem and its limits row, in the transaction that opens the permit,
so two calls never both pass one limit. What a rollback of the chain takes back is reversed by an entry of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from archetypes_app.models import Heartbeat
from archetypes_app.profiles import writes_per_hour_cap
from permits_app.limits.owner_budget import LOCKED_BUDGET, judge_budget, list_golems_of
from permits_app.limits.rate_rules import judge_rate, most_writes_per_hour
from permits_app.limits.spend_rules import judge_spend
from permits_app.limits.trading_costs import CostsUsed, TradeCost, fill_costs, judge_costs, read_cost_columns
from permits_app.limits.usage import Usage
from permits_app.limits.valuation import PlanValue
from permits_app.models import ActionPermit, PolicyCage, SpendEntry, SpendingLimits, StandingAllowance
from permits_app.models.permit import PermitStatus, list_states
from permits_app.models.spending import KeySpend, SpendState
from permits_app.permits.row_locks import fill_golem_lock
from tools_app.core.compiled_query import CompiledQuery
from tools_app.core.json_types import JsonObject
from tools_app.core.prepared_statements import Filled, Prepared, Rows, fetch_together
from tools_app.core.single_row_sql import insert_rows
from tools_app.toolkit.enums import ActionClass

DAY = timedelta(hours=24)
HOUR = timedelta(hours=1)
WEEK = timedelta(days=7)
"""The session of a golem that acts without a key, by its own heartbeat: what it claimed within so long."""
_WRITE_STATES = (
    PermitStatus.CREATED,
    PermitStatus.COMMITTING,
    PermitStatus.COMMITTED,
    PermitStatus.REVERTED,
    PermitStatus.UNKNOWN,
)
_KEYS_OF_SESSION = """ARRAY(
            SELECT sharing.id FROM archetypes_app_apikey AS asking
              JOIN archetypes_app_apikey AS sharing ON sharing.session_id = asking.session_id
             WHERE asking.id = %(key)s
        )"""
# What is held counts however old it is, as it does for the day. What a key spent long ago is counted by its sum.
_OF_SESSION = f"""(api_key_id = ANY({_KEYS_OF_SESSION}) AND NOT is_in_key_sum OR (
            %(key)s::uuid IS NULL AND api_key_id IS NULL AND (state = 'RESERVED' OR counted_at > %(week_start)s)
        ))"""
_NOT_TAKEN_BACK = """reverses_id IS NULL AND id <> ALL(ARRAY(
                SELECT reverses_id FROM permits_app_spendentry WHERE golem_id = %(golem)s AND state = 'REVERSED'
            ))"""
_ENTRY = """COALESCE(settled_micro_usd, reserved_micro_usd) AS amount, state, state = 'RESERVED' AS is_held, id,
               permit_id, reverses_id, heartbeat_tick, api_key_id, is_in_key_sum, counts_per_day, counted_at
          FROM permits_app_spendentry"""
# Said so that no index is chosen by it: it would be a golem's whole life.
_OLDER = "(counted_at <= %(day_start)s) IS TRUE"
# Also a part of what the safety chain reads at once (`safety/load_call_records.py`); eight columns, one row. What is
# held counts against the day until it ends, however old it is; an entry and the one that reverses it are nothing
# together. Each window finds its entries by an index of its own, and those of the day are most of them: the others
# look at what is older, and what two of them find counts once. A span open at one end is closed with 'infinity', for
# behind an open one PostgreSQL expects a third of the table and reads all of it.
USAGE_SQL = f"""
SELECT spent.tick, spent.session, spent.day, spent.oldest, spent.oldest_keyless, written.writes,
       written.oldest AS oldest_write,
       (SELECT next_tick_at FROM {Heartbeat._meta.db_table} WHERE golem_id = %(golem)s AND is_on) AS next_tick
  FROM (
    SELECT
        COALESCE(SUM(amount) FILTER (WHERE %(tick)s::bigint > 0 AND heartbeat_tick = %(tick)s), 0) AS tick,
        COALESCE(SUM(amount) FILTER (WHERE {_OF_SESSION}), 0) + (
            SELECT COALESCE(SUM(micro_usd), 0) FROM {KeySpend._meta.db_table}
             WHERE golem_id = %(golem)s AND api_key_id = ANY({_KEYS_OF_SESSION})
        ) - (
            SELECT COALESCE(SUM(COALESCE(settled_micro_usd, reserved_micro_usd)), 0) FROM permits_app_spendentry
             WHERE permit_id = %(excluded)s AND golem_id = %(golem)s AND api_key_id = ANY({_KEYS_OF_SESSION})
               AND is_in_key_sum
        ) AS session,
        MIN(counted_at) FILTER (
            WHERE %(key)s::uuid IS NULL AND {_OF_SESSION} AND amount > 0 AND {_NOT_TAKEN_BACK}
        ) AS oldest_keyless,
        COALESCE(SUM(amount) FILTER (WHERE counts_per_day AND (is_held OR counted_at > %(day_start)s)), 0) + (
            SELECT COALESCE(SUM(worth_micro_usd), 0) FROM permits_app_standingallowance
             WHERE golem_id = %(golem)s AND counted_at <= %(day_start)s
        ) AS day,
        MIN(counted_at) FILTER (
            WHERE counts_per_day AND counted_at > %(day_start)s AND {_NOT_TAKEN_BACK}
        ) AS oldest
      FROM (
        SELECT {_ENTRY} WHERE golem_id = %(golem)s AND state <> 'RELEASED'
           AND counted_at > %(day_start)s AND counted_at < 'infinity'
        UNION ALL (
            SELECT {_ENTRY} WHERE golem_id = %(golem)s AND state = 'RESERVED' AND {_OLDER}
            UNION SELECT {_ENTRY} WHERE api_key_id = ANY({_KEYS_OF_SESSION}) AND golem_id = %(golem)s
                     AND state <> 'RELEASED' AND NOT is_in_key_sum AND {_OLDER}
            UNION SELECT {_ENTRY} WHERE %(key)s::uuid IS NULL AND golem_id = %(golem)s AND state <> 'RELEASED'
                     AND api_key_id IS NULL AND counted_at > %(week_start)s AND counted_at <= %(day_start)s
            UNION SELECT {_ENTRY} WHERE golem_id = %(golem)s AND state <> 'RELEASED'
                     AND heartbeat_tick > 0 AND heartbeat_tick = %(tick)s AND {_OLDER}
        )
      ) AS entries WHERE permit_id IS DISTINCT FROM %(excluded)s
  ) AS spent
 CROSS JOIN (
    SELECT COUNT(*) AS writes, MIN(created_at) AS oldest
      FROM permits_app_actionpermit
     WHERE golem_id = %(golem)s AND created_at > %(hour_start)s AND created_at < 'infinity'
       AND status IN ({list_states(_WRITE_STATES)})
       AND id IS DISTINCT FROM %(excluded)s
  ) AS written
"""  # noqa: S608  (our own constants)
USAGE_COLUMNS = 8
_USAGE = Prepared("read_usage", USAGE_SQL)
_LOCKED_LIMITS: CompiledQuery[SpendingLimits] = CompiledQuery(
    lambda golem_id: SpendingLimits.objects.select_for_update(no_key=True).filter(golem_id=golem_id), UUID(int=0)
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

    A golem whose heartbeat has not run yet (tick 0) has no tick window; a session is the life of one key
    and of those that its owner made to share its limit, and without a key the seven days that end at `now`.
    """
    arguments = usage_arguments(
        golem_id=golem_id,
        api_key_id=api_key_id,
        heartbeat_tick=heartbeat_tick,
        now=now,
        exclude_permit_id=exclude_permit_id,
    )
    (row,) = _USAGE.fetch(**arguments)
    return read_usage_columns(row)


def usage_arguments(
    *, golem_id: UUID, api_key_id: UUID | None, heartbeat_tick: int, now: datetime, exclude_permit_id: UUID | None
) -> JsonObject:
    """The parameters of USAGE_SQL."""
    return {
        "golem": golem_id,
        "key": api_key_id,
        "tick": heartbeat_tick,
        "excluded": exclude_permit_id,
        "day_start": now - DAY,
        "week_start": now - WEEK,
        "hour_start": now - HOUR,
    }


def read_usage_columns(row: Sequence[Any]) -> Usage:  # Any: columns of SQL, typed by their place
    """The eight columns of USAGE_SQL as a value."""
    tick, session, day, oldest_spend, oldest_keyless, writes, oldest_write, next_tick = row
    return Usage(
        tick_micro_usd=int(tick),
        session_micro_usd=int(session),
        day_micro_usd=int(day),
        writes_last_hour=int(writes),
        day_resets_at=oldest_spend + DAY if oldest_spend else None,
        hour_resets_at=oldest_write + HOUR if oldest_write else None,
        tick_resets_at=next_tick,
        session_resets_at=oldest_keyless + WEEK if oldest_keyless else None,
    )


def reserve(
    *,
    permit: ActionPermit,
    value: PlanValue,
    counts_per_day: bool,
    heartbeat_tick: int,
    now: datetime,
    trade: TradeCost | None = None,
    along: Sequence[Filled] = (),
) -> list[Rows]:
    """Reserve the worst case of `permit`, and store the permit with it when it is new. Call inside a transaction.

    It holds the rows of the golem, of its limits and of its owner's budget from here on. The statements of `along` are
    sent with the new rows; their rows are the answer. `trade` is what trading may cost by it, where it trades.
    Raises SpendingLimitExceeded when a window would overflow, TradingCostsExceeded when trades would cost too much,
    RateLimited when the hour is full of writes.
    """
    arguments = usage_arguments(
        golem_id=permit.golem_id,
        api_key_id=permit.api_key_id,
        heartbeat_tick=heartbeat_tick,
        now=now,
        exclude_permit_id=permit.pk,
    )
    # Together, and the sums still see what was committed before the lock was given: each statement looks anew.
    asked = fill_costs(golem_id=permit.golem_id, trade=trade, now=now, exclude_permit_id=permit.pk) if trade else None
    _, rows, shared, (used,), *costs = fetch_together(
        fill_golem_lock(permit.golem_id),
        _LOCKED_LIMITS.fill(permit.golem_id),
        LOCKED_BUDGET.fill(permit.golem_id),
        _USAGE.fill(**arguments),
        *([asked] if asked is not None else []),
    )
    if rows:
        (limits,), usage = _LOCKED_LIMITS.read(rows), read_usage_columns(used)
    else:
        limits = lock_limits(permit.golem_id)
        usage = read_usage_columns(*_USAGE.fetch(**arguments))
        costs = [asked.fetch()] if asked is not None else []
    refusal = judge_spend(
        limits=limits, usage=usage, amount_micro_usd=value.total_micro_usd, counts_per_day=counts_per_day
    )
    for budget in LOCKED_BUDGET.read(shared) if counts_per_day else ():
        # The others' are read once this golem holds the budget's row: each of them had to hold it too.
        refusal = refusal or judge_budget(
            budget=budget,
            used_micro_usd=sum(
                sum_days(golem_ids=list_golems_of(budget), now=now, exclude_permit_id=permit.pk).values()
            ),
            amount_micro_usd=value.total_micro_usd,
            now=now,
        )
    refusal = refusal or judge_costs(
        limits=limits,
        used=read_cost_columns(costs[0][0]) if costs else CostsUsed(),
        trade=trade,
        is_held=counts_per_day,
    )
    if refusal is not None:
        raise refusal.as_error("spending_limiter")
    refusal = judge_rate(
        writes=usage.writes_last_hour,
        most=most_writes_per_hour(configured=limits.writes_per_hour, cap=writes_per_hour_cap(permit.golem)),
        resets_at=usage.hour_resets_at,
        # Only what comes back to the golem stays out of the day, and is leaving to the hour too.
        action_class=ActionClass(permit.action_class) if not counts_per_day else ActionClass.NEW_POSITION,
    )
    if refusal is not None:
        raise refusal.as_error("rate_limiter")
    entry = SpendEntry(
        golem_id=permit.golem_id,
        permit=permit,
        api_key_id=permit.api_key_id,
        reserved_micro_usd=value.total_micro_usd,
        counts_per_day=counts_per_day,
        cost_micro_usd=trade.micro_usd if trade else 0,
        pair=trade.pair if trade else "",
        venue=permit.venue,
        heartbeat_tick=heartbeat_tick,
        counted_at=now,
        breakdown=value.as_breakdown(),
    )
    return insert_rows(*([permit] if permit._state.adding else []), entry, along=along)


def lock_limits(golem_id: UUID) -> SpendingLimits:
    """The golem's limits row, locked until the transaction ends, the golem's own before it."""
    _, rows = fetch_together(fill_golem_lock(golem_id), _LOCKED_LIMITS.fill(golem_id))
    for row in _LOCKED_LIMITS.read(rows):
        return row
    SpendingLimits.objects.get_or_create(golem_id=golem_id)
    return SpendingLimits.objects.select_for_update(no_key=True).get(golem_id=golem_id)


def lock_policy(golem_id: UUID) -> tuple[SpendingLimits, PolicyCage]:
    """Limits and cage of the golem, locked until the transaction ends, for whoever may write both."""
    limits = lock_limits(golem_id)
    cage, _ = PolicyCage.objects.select_for_update(no_key=True).get_or_create(golem_id=golem_id)
    return limits, cage


def settle(*, permit_id: UUID, spent_micro_usd: int, counted_at: datetime, cost_micro_usd: int | None = None) -> bool:
    """Settle a reservation once at what was really spent, also beyond what was reserved; True when this call did it.

    What was lost beyond its reservation counts against the day whatever the action was for. `cost_micro_usd` is what
    trading really cost; None leaves what was reserved for it.
    """
    return bool(_SETTLE.fetch(permit=permit_id, spent=spent_micro_usd, at=counted_at, cost=cost_micro_usd))


_SETTLE = Prepared(
    "settle_spend",
    f"""
UPDATE {SpendEntry._meta.db_table}
   SET state = 'SETTLED', settled_micro_usd = GREATEST(0, %(spent)s::bigint), counted_at = %(at)s,
       counts_per_day = counts_per_day OR reserved_micro_usd < %(spent)s::bigint,
       cost_micro_usd = COALESCE(%(cost)s::bigint, cost_micro_usd)
 WHERE permit_id = %(permit)s AND state = 'RESERVED'
RETURNING 1""",  # noqa: S608  (the table's own name)
)


def hold(*, permit_id: UUID, least_micro_usd: int) -> None:
    """Keep a reservation beyond the end of its permit, at no less than was really spent already."""
    SpendEntry.objects.filter(
        permit_id=permit_id, state=SpendState.RESERVED, reserved_micro_usd__lt=least_micro_usd
    ).update(reserved_micro_usd=least_micro_usd)


def reopen(*, permit_id: UUID, now: datetime) -> bool:
    """After a rollback of the chain: reverse what was settled, and hold the permit's budget for its next life; True
    when this call did it. Call inside a transaction that holds the golem's row, as a reservation does.

    Held is no less than was settled, from `now` on, so that whatever is judged anew finds its place kept.
    """
    claims = SpendEntry.objects.filter(permit_id=permit_id, reverses__isnull=True)
    settled = claims.order_by("-life").first()
    if settled is None or settled.state != SpendState.SETTLED:
        return False
    spent = int(settled.settled_micro_usd or 0)
    same: dict[str, object] = {
        "golem_id": settled.golem_id,
        "permit_id": permit_id,
        "api_key_id": settled.api_key_id,
        "counts_per_day": settled.counts_per_day,
        "pair": settled.pair,
        "venue": settled.venue,
        "heartbeat_tick": settled.heartbeat_tick,
    }
    reversal = SpendEntry(
        **same,
        life=settled.life,
        reverses=settled,
        state=SpendState.REVERSED,
        reserved_micro_usd=0,
        settled_micro_usd=-spent,
        cost_micro_usd=-settled.cost_micro_usd,
        counted_at=settled.counted_at,
    )
    claim = SpendEntry(
        **same,
        life=settled.life + 1,
        reserved_micro_usd=max(int(settled.reserved_micro_usd), spent),
        cost_micro_usd=settled.cost_micro_usd,
        counted_at=now,
        breakdown=settled.breakdown,
    )
    insert_rows(reversal, claim)
    return True


def release(*, permit_id: UUID) -> bool:
    """Give a reservation back; True when this call did it."""
    changed = SpendEntry.objects.filter(permit_id=permit_id, state=SpendState.RESERVED).update(
        state=SpendState.RELEASED
    )
    return bool(changed)


def sum_days(*, golem_ids: Sequence[UUID], now: datetime, exclude_permit_id: UUID | None = None) -> dict[UUID, int]:
    """What each golem has reserved or settled in the 24 h ending at `now`, and what older allowances still let others
    take, micro-USD; one with neither is absent.
    """
    spent = (
        SpendEntry.objects.filter(
            Q(counted_at__gt=now - DAY) | Q(state=SpendState.RESERVED), golem_id__in=golem_ids, counts_per_day=True
        )
        .exclude(state=SpendState.RELEASED)
        .exclude(permit_id=exclude_permit_id)
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
