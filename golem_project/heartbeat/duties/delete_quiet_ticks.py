"""Quiet ticks are not kept for ever: a fleet writes hundreds of thousands a day, and nothing happened in them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from archetypes_app.models import HeartbeatTick
from archetypes_app.models.archetype import InferenceTier
from tools_app.core import clock

_SECONDS: Final = 10.0
"""Of each round, of which there is one a minute: the rate is what the database makes of it."""


def forget_quiet_ticks(*, now: datetime, limit: int = 2_000) -> int:
    """Delete ticks of tier T0 that are older than the setting and took no action, `limit` at once, as long as there are
    any and the round has time. Returns how many.
    """
    deadline, forgotten = clock.Deadline.after_ms(_SECONDS * 1_000), 0
    while True:
        count = _forget_some(now=now, limit=limit)
        forgotten += count
        if count < limit or deadline.is_over:
            return forgotten


def _forget_some(*, now: datetime, limit: int) -> int:
    before = now - timedelta(days=settings.GOLEM_HEARTBEAT_KEEP_QUIET_DAYS)
    old = HeartbeatTick.objects.filter(
        decision__decided_at__lt=before, decision__tier=InferenceTier.T0, decision__mutations=[], actions__isnull=True
    ).values_list("pk", flat=True)[:limit]
    HeartbeatTick.objects.filter(pk__in=list(old)).delete()
    return len(old)
