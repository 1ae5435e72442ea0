"""Quiet ticks are not kept for ever: a fleet writes hundreds of thousands a day, and nothing happened in them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from archetypes_app.models import HeartbeatTick
from archetypes_app.models.archetype import InferenceTier


def forget_quiet_ticks(*, now: datetime, limit: int = 2_000) -> int:
    """Delete ticks of tier T0 that are older than the setting and took no action. Returns how many."""
    before = now - timedelta(days=settings.GOLEM_HEARTBEAT_KEEP_QUIET_DAYS)
    old = HeartbeatTick.objects.filter(
        decision__decided_at__lt=before, decision__tier=InferenceTier.T0, decision__mutations=[], actions__isnull=True
    ).values_list("pk", flat=True)[:limit]
    HeartbeatTick.objects.filter(pk__in=list(old)).delete()
    return len(old)
