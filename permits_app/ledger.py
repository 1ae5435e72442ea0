"""The spend ledger: reserve at preview, settle at the outcome, release when nothing was spent.

A reservation is made under the lock of the golem's limits row, in the transaction that opens the permit,
so two calls never both pass one limit. Seed: 001, "Spending limits"; decisions, "Safety hooks".
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Case, F, Min, Q, Sum, When
from django.db.models.functions import Coalesce

from permits_app.models import ActionPermit, SpendEntry, SpendingLimits
from permits_app.models.permit import PermitStatus
from permits_app.models.spending import SpendState
from permits_app.safety.spend_rules import judge_spend
from permits_app.usage import Usage
from permits_app.valuation import PlanValue

DAY = timedelta(hours=24)
HOUR = timedelta(hours=1)
_WRITE_STATES = (
    PermitStatus.CREATED,
    PermitStatus.COMMITTING,
    PermitStatus.COMMITTED,
    PermitStatus.REVERTED,
    PermitStatus.UNKNOWN,
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
    entries = SpendEntry.objects.filter(golem_id=golem_id).exclude(state=SpendState.RELEASED)
    if exclude_permit_id is not None:
        entries = entries.exclude(permit_id=exclude_permit_id)
    amount = Coalesce(F("settled_micro_usd"), F("reserved_micro_usd"))
    in_day = Q(counts_per_day=True, counted_at__gt=now - DAY)
    in_tick = Q(heartbeat_tick=heartbeat_tick) if heartbeat_tick else Q(pk__isnull=True)
    in_session = Q(api_key_id=api_key_id) if api_key_id else Q(pk__isnull=True)
    sums = entries.aggregate(
        tick=Sum(Case(When(in_tick, then=amount), default=0)),
        session=Sum(Case(When(in_session, then=amount), default=0)),
        day=Sum(Case(When(in_day, then=amount), default=0)),
        oldest=Min(Case(When(in_day, then=F("counted_at")))),
    )
    writes = ActionPermit.objects.filter(
        golem_id=golem_id, created_at__gt=now - HOUR, status__in=[str(state) for state in _WRITE_STATES]
    )
    if exclude_permit_id is not None:
        writes = writes.exclude(pk=exclude_permit_id)
    oldest_write = writes.aggregate(oldest=Min("created_at"))["oldest"]
    return Usage(
        tick_micro_usd=int(sums["tick"] or 0),
        session_micro_usd=int(sums["session"] or 0),
        day_micro_usd=int(sums["day"] or 0),
        writes_last_hour=writes.count(),
        day_resets_at=sums["oldest"] + DAY if sums["oldest"] else None,
        hour_resets_at=oldest_write + HOUR if oldest_write else None,
    )


def reserve(
    *, permit: ActionPermit, value: PlanValue, counts_per_day: bool, heartbeat_tick: int, now: datetime
) -> SpendEntry:
    """Reserve the worst case of `permit`. Call inside the transaction that holds `lock_limits`.

    Raises SpendingLimitExceeded when a window would overflow.
    """
    limits = lock_limits(permit.golem_id)
    usage = read_usage(
        golem_id=permit.golem_id, api_key_id=permit.api_key_id, heartbeat_tick=heartbeat_tick, now=now,
        exclude_permit_id=permit.pk,
    )  # fmt: skip
    refusal = judge_spend(
        limits=limits, usage=usage, amount_micro_usd=value.total_micro_usd, counts_per_day=counts_per_day
    )
    if refusal is not None:
        raise refusal.as_error("spending_limiter")
    return SpendEntry.objects.create(
        golem_id=permit.golem_id,
        permit=permit,
        api_key_id=permit.api_key_id,
        reserved_micro_usd=value.total_micro_usd,
        counts_per_day=counts_per_day,
        heartbeat_tick=heartbeat_tick,
        counted_at=now,
        breakdown=value.as_breakdown(),
    )


def lock_limits(golem_id: UUID) -> SpendingLimits:
    """The golem's limits row, locked until the transaction ends; reservations of one golem wait here for each other."""
    limits, _ = SpendingLimits.objects.get_or_create(golem_id=golem_id)
    return SpendingLimits.objects.select_for_update().get(pk=limits.pk)


def settle(*, permit_id: UUID, spent_micro_usd: int, counted_at: datetime) -> bool:
    """Settle a reservation once at what was really spent, never above what was reserved; True when this call did it."""
    entry = SpendEntry.objects.filter(permit_id=permit_id, state=SpendState.RESERVED)
    changed = entry.update(
        state=SpendState.SETTLED,
        settled_micro_usd=_least(spent_micro_usd),
        counted_at=counted_at,
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
