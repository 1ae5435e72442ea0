"""set_health_alert: a golem says how healthy its debts at one lender must stay. Appends HealthAlertSet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from permits_app.errors import TooManyHealthAlerts
from permits_app.models import HealthAlert
from tools_app.core import audit_log
from tools_app.core.json_types import JsonObject
from tools_app.core.transaction_retry import retry_aborted

MOST_ALERTS = 32


@dataclass(frozen=True, slots=True)
class WantedAlert:
    """What an alert is to say. Health in basis points of a health factor: 10,000 is liquidation."""

    protocol: str
    chain_id: int
    min_health_bps: int
    notify_on_breach: bool
    auto_action: str


@retry_aborted
def set_health_alert(*, golem_id: UUID, wanted: WantedAlert, actor: str, now: datetime) -> HealthAlert:
    """Store the alert, in place of the one there was for this lender and chain. Raises TooManyHealthAlerts."""
    with transaction.atomic():
        of_golem = HealthAlert.objects.filter(golem_id=golem_id)
        where: JsonObject = {"protocol": wanted.protocol, "chain_id": wanted.chain_id}
        if not of_golem.filter(**where).exists() and of_golem.count() >= MOST_ALERTS:
            raise TooManyHealthAlerts(f"a golem has at most {MOST_ALERTS} health alerts; clear one first")
        row, _ = HealthAlert.objects.update_or_create(
            golem_id=golem_id,
            **where,
            defaults={
                "min_health_bps": wanted.min_health_bps,
                "notify_on_breach": wanted.notify_on_breach,
                "auto_action": wanted.auto_action,
            },
        )
        audit_log.append(
            golem_id=golem_id,
            event="HealthAlertSet",
            actor=actor,
            now=now,
            data={
                "alert_id": str(row.pk),
                **where,
                "min_health_bps": row.min_health_bps,
                "notify_on_breach": row.notify_on_breach,
                "auto_action": row.auto_action,
            },
        )
    return row
