"""The sweep: expire lapsed permits, find those a dead worker left, and outcomes memory has not seen."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from permits_app.actions.expire import expire_lapsed
from permits_app.models import ActionPermit, IdempotencyRecord, OutcomeRecord
from permits_app.models.permit import PermitStatus

_START_GRACE = timedelta(seconds=3)
_UNKNOWN_PAUSE = timedelta(seconds=10)
_MEMORY_WINDOW = timedelta(days=1)
_MEMORY_GRACE = timedelta(seconds=20)
_BATCH = 50


def sweep_permits(*, now: datetime) -> int:
    """Expire every lapsed permit; returns how many."""
    return expire_lapsed(golem_id=None, now=now)


def forget_answers(*, now: datetime) -> int:
    """Delete kept answers whose day is over; returns how many."""
    return IdempotencyRecord.objects.filter(expires_at__lte=now).delete()[0]


def list_unfinished(*, now: datetime) -> list[UUID]:
    """Permits nobody works on: COMMITTING without a live lease, UNKNOWN not looked at for a while."""
    free = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=now)
    started = Q(status=PermitStatus.COMMITTING, committing_at__lte=now - _START_GRACE)
    unseen = Q(status=PermitStatus.UNKNOWN, updated_at__lte=now - _UNKNOWN_PAUSE)
    rows = ActionPermit.objects.filter(free & (started | unseen)).order_by("committing_at")
    return list(rows.values_list("pk", flat=True)[:_BATCH])


def list_unremembered(*, now: datetime) -> list[UUID]:
    """Permits of the last day whose outcome has no episode yet although their golem remembers."""
    rows = OutcomeRecord.objects.filter(
        episode_id__isnull=True,
        permit__golem__is_memory_enabled=True,
        permit__halt_epoch__isnull=True,
        created_at__range=(now - _MEMORY_WINDOW, now - _MEMORY_GRACE),
    )
    return list(rows.order_by("created_at").values_list("permit_id", flat=True)[:_BATCH])
