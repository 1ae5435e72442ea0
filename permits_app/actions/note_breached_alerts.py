"""note_breached_alerts: a tick found debts below what these alerts ask for."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from permits_app.models import HealthAlert


def note_breached_alerts(*, golem_id: UUID, alert_ids: Collection[UUID], now: datetime) -> None:
    """Write down when they last were; nothing for none."""
    if alert_ids:
        HealthAlert.objects.filter(golem_id=golem_id, pk__in=alert_ids).update(last_triggered_at=now, updated_at=now)
