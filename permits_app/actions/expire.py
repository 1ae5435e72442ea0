"""Expire permits whose time is over and give their reservations back. Emits permit:expired."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from permits_app import ledger, lifecycle
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus

# Plain SQL, because every preview asks before it reserves.
_LAPSED_SQL = f"""
SELECT id FROM {ActionPermit._meta.db_table}
 WHERE status = 'CREATED' AND expires_at <= %(now)s AND (%(golem)s::uuid IS NULL OR golem_id = %(golem)s::uuid)
 ORDER BY expires_at LIMIT %(limit)s
"""  # noqa: S608


def expire_lapsed(*, golem_id: UUID | None, now: datetime, limit: int = 200) -> int:
    """Expire CREATED permits with `expires_at` at or before `now`, of one golem or of all. Returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(_LAPSED_SQL, {"now": now, "golem": golem_id, "limit": limit})
        lapsed = [pk for (pk,) in cursor.fetchall()]
    return sum(expire_permit(permit_id=pk, now=now) for pk in lapsed)


def expire_permit(*, permit_id: UUID, now: datetime) -> bool:
    """Expire one permit if its time is over; True when this call did it."""
    with transaction.atomic():
        done = lifecycle.transition(
            permit_id=permit_id,
            leaving=PermitStatus.CREATED,
            to=PermitStatus.EXPIRED,
            actor="system:clock",
            now=now,
            condition={"expires_at__lte": now},
            finished_at=now,
        )
        if done:
            ledger.release(permit_id=permit_id)
    return done
