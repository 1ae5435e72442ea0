"""clear_health_alert: a golem no longer wants one of its health alerts. Appends HealthAlertCleared."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction

from permits_app.errors import HealthAlertNotFound
from permits_app.models import HealthAlert
from tools_app.core import audit_log
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def clear_health_alert(*, golem_id: UUID, alert_id: UUID, actor: str, now: datetime) -> None:
    """Delete the alert. Raises HealthAlertNotFound."""
    with transaction.atomic():
        gone, _ = HealthAlert.objects.filter(golem_id=golem_id, pk=alert_id).delete()
        if not gone:
            raise HealthAlertNotFound("this golem has no such health alert", alert_id=str(alert_id))
        audit_log.append(
            golem_id=golem_id, event="HealthAlertCleared", actor=actor, now=now, data={"alert_id": str(alert_id)}
        )
