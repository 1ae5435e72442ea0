"""Expire permits whose time or ticks are over and give their reservations back. Emits permit:expired."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.limits import ledger
from permits_app.models import ActionPermit
from permits_app.models.permit import OPEN, PermitStatus, list_states
from permits_app.permits import lifecycle
from permits_app.permits.permit_lifetime import born_by
from tools_app.core.isolated_sweeps import one_by_one
from tools_app.core.prepared_statements import Filled, Prepared, Rows
from tools_app.core.transaction_retry import retry_aborted

_MOST_AT_ONCE = 200
_MOST_OPEN = 10_000
# Plain SQL, because every preview asks before it reserves.
_IS_LAPSED = f"""status = 'CREATED'
   AND (expires_at <= %(now)s OR created_at > %(latest)s OR expires_at > %(furthest)s
        OR expires_at_tick <= (SELECT heartbeat_tick FROM {Golem._meta.db_table} AS golem WHERE golem.id = {{golem}}))
"""  # noqa: S608
_LAPSED_OF_ALL = Prepared(
    "find_lapsed",
    f"""
SELECT id FROM {ActionPermit._meta.db_table} WHERE {_IS_LAPSED.format(golem="golem_id")}
 ORDER BY expires_at LIMIT %(limit)s""",  # noqa: S608
)
# Those of the golem first, and then which of them have lapsed: a statement that is planned while the table is small
# would otherwise go through the open permits of every golem in the order of their ends. The golem's tick is read once.
_LAPSED_OF_ONE = Prepared(
    "find_lapsed_of_golem",
    f"""
SELECT id FROM (
    SELECT id, status, created_at, expires_at, expires_at_tick FROM {ActionPermit._meta.db_table}
     WHERE golem_id = %(golem)s AND status IN ({list_states(OPEN)}) OFFSET 0
) AS of_golem WHERE {_IS_LAPSED.format(golem="%(golem)s")}
 ORDER BY expires_at LIMIT %(limit)s""",  # noqa: S608
)


def expire_lapsed(*, golem_id: UUID | None, now: datetime, limit: int = _MOST_AT_ONCE) -> int:
    """Expire CREATED permits whose time or third heartbeat tick has come, of one golem or of all. Returns how many."""
    lapsed = (_LAPSED_OF_ALL if golem_id is None else _LAPSED_OF_ONE).fetch(
        now=now, golem=golem_id, limit=limit, **born_by(now)
    )
    if golem_id is not None:
        return expire_found(lapsed, now=now)
    ids = [pk for (pk,) in lapsed]
    return sum(one_by_one(ids, lambda pk: expire_permit(permit_id=pk, now=now), what="the lapsed permit"))


def expire_open(*, now: datetime, limit: int = _MOST_OPEN) -> int:
    """Expire every CREATED permit, because a clock was set back and nobody can tell how much of its seconds is over;
    who asked previews again. Returns how many.
    """
    ids = ActionPermit.objects.filter(status=PermitStatus.CREATED).values_list("pk", flat=True)[:limit]
    return sum(one_by_one(list(ids), lambda pk: _expire(pk, now, {}), what="the permit of before"))


def fill_lapsed(*, golem_id: UUID, now: datetime) -> Filled:
    """The statement that finds them for one golem, for whoever asks something else with it; see `expire_found`."""
    return _LAPSED_OF_ONE.fill(now=now, golem=golem_id, limit=_MOST_AT_ONCE, **born_by(now))


def expire_found(lapsed: Rows, *, now: datetime) -> int:
    """Expire those of `lapsed` that still are to be expired. Returns how many."""
    return sum(expire_permit(permit_id=pk, now=now) for (pk,) in lapsed)


def expire_permit(*, permit_id: UUID, now: datetime) -> bool:
    """Expire one permit if its time or its ticks are over; True when this call did it."""
    times = born_by(now)
    conditions = (
        {"expires_at__lte": now},
        {"created_at__gt": times["latest"]},
        {"expires_at__gt": times["furthest"]},
    )
    if any(_expire(permit_id, now, condition) for condition in conditions):
        return True
    # Read beforehand, because ticks only rise: an UPDATE that asked the golem's row would not look again at a permit
    # it had to wait for.
    ticks = Golem.objects.filter(permits=permit_id).values_list("heartbeat_tick", flat=True)
    return any(_expire(permit_id, now, {"expires_at_tick__lte": tick}) for tick in ticks)


@retry_aborted
def _expire(permit_id: UUID, now: datetime, condition: Mapping[str, object]) -> bool:
    with transaction.atomic():
        done = lifecycle.transition(
            permit_id=permit_id,
            leaving=PermitStatus.CREATED,
            to=PermitStatus.EXPIRED,
            actor="system:clock",
            now=now,
            condition=condition,
            finished_at=now,
        )
        if done:
            ledger.release(permit_id=permit_id)
    return done
