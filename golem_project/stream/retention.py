"""Forgets old events, but for those a webhook has still to deliver, and what became of old deliveries.

Only the oldest are forgotten, so the log stays one piece; a reader that comes from before its beginning is told so.
A webhook that is switched off holds nothing back: it goes on with the oldest event that is kept, and that is audited.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min

from golem_project.stream import delivery_turns, webhook_secret_rotation
from golem_project.stream.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tools_app.core import event_log


def forget_old_events(*, now: datetime) -> int:
    """Delete events that were published more than GOLEM_EVENT_RETENTION_DAYS ago; returns how many. Replaced secrets
    and turns that are over go as well.
    """
    webhook_secret_rotation.forget_old_secrets(now=now)
    delivery_turns.forget_turns(now=now)
    days = settings.GOLEM_EVENT_RETENTION_DAYS
    if days <= 0:
        return 0
    before = now - timedelta(days=days)
    until = min([event_log.find_position_before(before), *_find_places_still_needed()])
    WebhookDelivery.objects.exclude(state=DeliveryState.WAITING).filter(created_at__lt=before).delete()
    return event_log.forget_until(until)


def _find_places_still_needed() -> list[int]:
    """The places that endpoints which are on have reached, and the ones just before what waits to be delivered."""
    on = WebhookEndpoint.objects.filter(disabled_at__isnull=True)
    places = list(on.filter(log_id=event_log.read_head().log_id).values_list("position", flat=True))
    waiting = WebhookDelivery.objects.filter(state=DeliveryState.WAITING, endpoint__in=on)
    first = waiting.aggregate(first=Min("position"))["first"]
    return places if first is None else [*places, first - 1]
