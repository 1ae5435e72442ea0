"""Set a golem's limits and extend its allowlist in one step. Appends LimitsSet; emits policy:cage_updated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.limits import ledger
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import SpendingLimits
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted


@retry_aborted
def set_limits(
    *, golem: Golem, limits: Mapping[str, object], choices: Iterable[AllowlistChoice], actor: str, now: datetime
) -> SpendingLimits:
    """Write `limits` (column: value, USD in micro-USD) and allow `choices`.

    Takes the lock that reservations take, so no permit is opened under half of the change.
    """
    with transaction.atomic():
        row = ledger.lock_limits(golem.pk)
        for column, value in limits.items():
            setattr(row, column, value)
        row.save(update_fields=[*limits, "updated_at"])
        allow_addresses(golem=golem, choices=choices, actor=actor, now=now)
        audit_log.append(
            golem_id=golem.pk,
            event="LimitsSet",
            actor=actor,
            now=now,
            data={"limits": {column: str(value) for column, value in limits.items()}},
        )
        payload = {"row": "spending limits", "fields": sorted(limits)}
        event_bus.emit(golem_id=golem.pk, event=Event(EventType.POLICY_CAGE_UPDATED, payload), now=now)
    return row
