"""Alerts in batches of five minutes: one batch per golem, window and duty, and one event for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from archetypes_app.models import AlertBatch, Golem
from tools_app.core import event_bus
from tools_app.core.events import Event, EventType


@dataclass(frozen=True, slots=True)
class RuleAlert:
    """One rule that does not hold, with what was observed and the limit."""

    rule: str
    observed: str
    limit: str

    def as_dict(self) -> dict[str, str]:
        """For the batch and the event."""
        return {"rule": self.rule, "observed": self.observed, "limit": self.limit}


def floor_to_window(now: datetime) -> datetime:
    """The beginning of the five minutes `now` lies in."""
    seconds = settings.GOLEM_HEARTBEAT_ALERT_WINDOW_SECONDS
    return now - timedelta(seconds=int(now.timestamp()) % seconds, microseconds=now.microsecond)


def tell_alerts(
    *, golem: Golem, source: str, alerts: Sequence[RuleAlert], now: datetime, waits_for_window: bool = True
) -> bool:
    """Store and emit the window's batch, once; True when this call did. Joins the caller's transaction.

    Without `waits_for_window` it is a batch of this moment, whatever was told in the window before: for what a golem's
    own tick tells, of which there is one at a time.
    """
    start = floor_to_window(now) if waits_for_window else now
    rows = [alert.as_dict() for alert in alerts]
    _, is_new = AlertBatch.objects.get_or_create(
        golem=golem, window_start=start, source=source, defaults={"alerts": rows, "created_at": now}
    )
    if is_new:
        seconds = settings.GOLEM_HEARTBEAT_ALERT_WINDOW_SECONDS
        facts = {
            "alerts": rows,
            "window_seconds": seconds,
            "source": source,
            "window_start": start.isoformat(),
            "window_end": (start + timedelta(seconds=seconds)).isoformat(),
        }
        event_bus.emit(
            golem_id=golem.pk,
            event=Event(EventType.HEARTBEAT_ALERT, facts),
            now=now,
            heartbeat_tick=golem.heartbeat_tick,
        )
    return is_new
