"""Webhooks from end to end: made, their events spread to deliveries, delivered at least once, given up, replayed.

A delivery is tried at growing intervals for 24 hours under one `webhook-id`, which is the event's own id, so that a
receiver can drop what it has. An endpoint that fails for 24 hours without one success is switched off, and its owner
is told by an event, an audit entry and the admin.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zlib import crc32

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from archetypes_app.models import Golem
from archetypes_app.ownership import list_golems_with
from archetypes_app.roles import Power
from golem_project.stream import sealed, webhook_signatures
from golem_project.stream.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tools_app.core import audit_log, event_bus, event_log, outgoing
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.event_log import EventFilter, LogHead
from tools_app.core.events import Event, EventType, encode_event
from tools_app.core.models import OutboxEvent
from tools_app.core.outgoing import AddressRefused, ExchangeFailed
from tools_app.core.taint import Secret
from tools_app.core.whole import whole

logger = logging.getLogger(__name__)

# Seconds before the second, third, … try: 24 hours in all.
RETRY_AFTER_SECONDS = (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 36_000)
GIVE_UP_AFTER = timedelta(hours=24)
OLD_SECRET_LIVES = timedelta(hours=24)
_LEASE = timedelta(seconds=60)
_SPREAD_PAGE = 1_000
_DUE_PER_ENDPOINT = 20
# A worker goes on with one endpoint this long at most, so that others get their turn.
_MOST_IN_A_ROW = 100
_GONE = 410


class WebhookRefused(GolemError):
    """A webhook cannot be made or changed like this."""

    code = "WEBHOOK_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "This webhook cannot be set up"


def create_endpoint(
    *, owner: Any, golem: Golem | None, label: str, url: str, types: Sequence[str], now: datetime
) -> tuple[WebhookEndpoint, Secret]:
    """Make an endpoint that gets what happens from now on; the secret is shown once. Raises WebhookRefused."""
    try:
        outgoing.resolve(url, allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES)
    except (AddressRefused, ExchangeFailed) as error:
        raise WebhookRefused(str(error)) from None
    most = settings.GOLEM_WEBHOOK_MOST_ENDPOINTS_PER_OWNER
    if WebhookEndpoint.objects.filter(owner=owner).count() >= most:
        raise WebhookRefused(f"an owner has at most {most} webhooks", limit=most)
    head, secret = event_log.read_head(), webhook_signatures.make_secret()
    endpoint = WebhookEndpoint(
        owner=owner,
        golem=golem,
        label=label,
        url=url,
        types=sorted(types),
        log_id=head.log_id,
        position=head.position,
        created_at=now,
    )
    endpoint.sealed_secret = _seal(endpoint, secret)
    endpoint.save()
    return endpoint, Secret(secret)


def rotate_secret(*, endpoint: WebhookEndpoint, now: datetime) -> Secret:
    """A new secret; the old one signs along for 24 hours."""
    secret = webhook_signatures.make_secret()
    endpoint.old_sealed_secret, endpoint.old_secret_until = endpoint.sealed_secret, now + OLD_SECRET_LIVES
    endpoint.sealed_secret = _seal(endpoint, secret)
    endpoint.save(update_fields=["sealed_secret", "old_sealed_secret", "old_secret_until"])
    return Secret(secret)


def enable_endpoint(*, endpoint: WebhookEndpoint) -> None:
    """Switch an endpoint on again; it goes on where it was, so nothing that happened meanwhile is left out."""
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(disabled_at=None, disabled_reason="", failing_since=None)


@whole
def disable_endpoint(*, endpoint: WebhookEndpoint, reason: str, now: datetime) -> None:
    """Switch an endpoint off and tell its owner. Switched on it goes on from here, or with the oldest event kept."""
    with transaction.atomic():
        changed = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=True).update(
            disabled_at=now, disabled_reason=reason[:200]
        )
        if not changed:
            return
        facts = {"endpoint_id": str(endpoint.pk), "label": endpoint.label, "reason": reason[:200]}
        for golem_id in _golem_ids(endpoint):
            event_bus.emit(golem_id=golem_id, event=Event(EventType.STREAM_WEBHOOK_DISABLED, facts), now=now)
            audit_log.append(golem_id=golem_id, event="WebhookDisabled", actor="system:stream", data=facts, now=now)


def spread_events(*, now: datetime) -> int:
    """Make a delivery for every new event and endpoint that wants it. Returns how many."""
    endpoints = list(WebhookEndpoint.objects.filter(disabled_at__isnull=True).values_list("pk", flat=True))
    return sum(_spread_to(pk, now) for pk in endpoints)


def list_due(*, now: datetime) -> list[UUID]:
    """Deliveries whose time has come, a few of each endpoint, so that one that is slow holds up no other."""
    due: list[UUID] = []
    waiting = WebhookDelivery.objects.filter(
        state=DeliveryState.WAITING, next_attempt_at__lte=now, endpoint__disabled_at__isnull=True
    )
    for endpoint_id in waiting.values_list("endpoint_id", flat=True).distinct():
        rows = waiting.filter(endpoint_id=endpoint_id).order_by("next_attempt_at", "position")
        due += rows.values_list("pk", flat=True)[:_DUE_PER_ENDPOINT]
    return due


def deliver(*, delivery_id: UUID, now: datetime) -> bool:
    """Try one delivery whose time has come; True when the receiver took it.

    The claim is a lease: a process that dies in between is followed by another try, never by silence.
    """
    is_on = WebhookEndpoint.objects.filter(pk=OuterRef("endpoint_id"), disabled_at__isnull=True)
    # A filter across the relation would become `id IN (SELECT …)`, which PostgreSQL does not look at again when it
    # has waited for a row: two claims at once would both hold. Conditions on the row's own columns are looked at again.
    claimed = WebhookDelivery.objects.filter(
        Exists(is_on), pk=delivery_id, state=DeliveryState.WAITING, next_attempt_at__lte=now
    ).update(next_attempt_at=now + _LEASE, attempts=F("attempts") + 1)
    if not claimed:
        return False
    delivery = WebhookDelivery.objects.select_related("endpoint").get(pk=delivery_id)
    event = OutboxEvent.objects.filter(pk=delivery.event_id).first()
    if event is None:
        _record(delivery, now=now, error="the event is no longer kept", is_final=True)
        return False
    body = make_body(event)
    try:
        headers = _headers(delivery, body=body, now=now)
        target = outgoing.resolve(delivery.endpoint.url, allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES)
        answer = outgoing.post(target, headers=headers, body=body, seconds=settings.GOLEM_WEBHOOK_TIMEOUT_SECONDS)
    except (AddressRefused, ExchangeFailed, sealed.SealBroken) as error:
        _record(delivery, now=now, error=str(error))
        return False
    is_taken = 200 <= answer.status < 300
    _record(delivery, now=now, answer=answer, is_taken=is_taken, error="" if is_taken else f"answered {answer.status}")
    if answer.status == _GONE:
        disable_endpoint(endpoint=delivery.endpoint, reason="the receiver answered 410 Gone", now=now)
    return is_taken


def deliver_in_a_row(*, delivery_id: UUID, read_clock: Callable[[], datetime]) -> int:
    """Try a delivery, and while the receiver takes them what else is due for the same endpoint. Returns how many."""
    endpoint_id = WebhookDelivery.objects.filter(pk=delivery_id).values_list("endpoint_id", flat=True).first()
    due = WebhookDelivery.objects.filter(endpoint_id=endpoint_id, state=DeliveryState.WAITING)
    taken = 0
    following: UUID | None = delivery_id
    while following is not None and taken < _MOST_IN_A_ROW and deliver(delivery_id=following, now=read_clock()):
        taken += 1
        rows = due.filter(next_attempt_at__lte=read_clock()).order_by("next_attempt_at", "position")
        following = rows.values_list("pk", flat=True).first()
    return taken


def replay(*, deliveries: Any, now: datetime) -> int:
    """Try deliveries again from the start, whatever became of them; `deliveries` is a queryset. Returns how many."""
    changed: int = deliveries.exclude(state=DeliveryState.WAITING).update(
        state=DeliveryState.WAITING,
        next_attempt_at=now,
        attempts=0,
        first_tried_at=None,
        delivered_at=None,
        last_error="",
    )
    return changed


def make_body(event: OutboxEvent) -> bytes:
    """The payload of a webhook: type, timestamp and data, where data is the event as the stream has it."""
    data = json.loads(
        encode_event(
            (
                event.pk,
                event.golem_id,
                event.sequence,
                event.type,
                event.version,
                event.heartbeat_tick,
                event.occurred_at,
                event.payload,
            )
        )
    )
    body = {"type": event.type, "timestamp": event.occurred_at.isoformat(), "data": data}
    return json.dumps(body, separators=(",", ":")).encode()


def reveal_secrets(endpoint: WebhookEndpoint, *, now: datetime) -> list[str]:
    """The secrets that sign now. Raises SealBroken."""
    sealed_secrets = [endpoint.sealed_secret]
    if endpoint.old_sealed_secret is not None and endpoint.old_secret_until is not None:
        if now < endpoint.old_secret_until:
            sealed_secrets.append(endpoint.old_sealed_secret)
    return [sealed.unseal(bytes(text), bound_to=endpoint.pk.bytes).decode() for text in sealed_secrets]


def _seal(endpoint: WebhookEndpoint, secret: str) -> bytes:
    return sealed.seal(secret.encode(), bound_to=endpoint.pk.bytes)


def _headers(delivery: WebhookDelivery, *, body: bytes, now: datetime) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "User-Agent": "golem-webhooks/1",
        **webhook_signatures.sign_headers(
            secrets=reveal_secrets(delivery.endpoint, now=now),
            message_id=f"msg_{delivery.event_id.hex}",
            now=now,
            body=body,
        ),
    }


def _golem_ids(endpoint: WebhookEndpoint) -> list[UUID]:
    # Ownership is looked up each time: who sold a golem hears no more of it.
    golems = list_golems_with(endpoint.owner, Power.SEE)
    if endpoint.golem_id is not None:
        golems = golems.filter(pk=endpoint.golem_id)
    return list(golems.values_list("pk", flat=True))


@whole
def _spread_to(endpoint_id: UUID, now: datetime) -> int:
    with transaction.atomic():
        endpoint = (
            WebhookEndpoint.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
            .select_related("owner")
            .filter(pk=endpoint_id, disabled_at__isnull=True)
            .first()
        )
        if endpoint is None:
            return 0
        head = event_log.read_head()
        if endpoint.log_id != head.log_id:
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(log_id=head.log_id, position=head.position)
            return 0
        start = _find_start(endpoint, head, now)
        wanted = EventFilter(
            golem_ids=frozenset(str(pk) for pk in _golem_ids(endpoint)), types=frozenset(endpoint.types) or None
        )
        page = event_log.read_after(start, head=head, wanted=wanted, limit=_SPREAD_PAGE)
        rows = [
            WebhookDelivery(
                endpoint=endpoint,
                event_id=json.loads(event.body)["event_id"],
                event_type=event.type,
                position=event.position,
                next_attempt_at=now,
                created_at=now,
            )
            for event in page.events
        ]
        WebhookDelivery.objects.bulk_create(rows, ignore_conflicts=True)
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(position=page.reached)
    return len(rows)


def _find_start(endpoint: WebhookEndpoint, head: LogHead, now: datetime) -> int:
    """Where the endpoint goes on: where it was, or with the oldest event that is kept, and then that is audited."""
    if endpoint.position >= head.forgotten:
        return endpoint.position
    facts = {"endpoint_id": str(endpoint.pk), "from": endpoint.position, "to": head.forgotten}
    for golem_id in _golem_ids(endpoint):
        audit_log.append(golem_id=golem_id, event="WebhookSkipped", actor="system:stream", data=facts, now=now)
    return head.forgotten


def _record(
    delivery: WebhookDelivery,
    *,
    now: datetime,
    error: str,
    answer: outgoing.Answer | None = None,
    is_taken: bool = False,
    is_final: bool = False,
) -> None:
    delivery.first_tried_at = delivery.first_tried_at or now
    delivery.last_status = answer.status if answer is not None else None
    delivery.last_duration_ms = answer.duration_ms if answer is not None else None
    delivery.last_error = error[:200]
    if is_taken:
        delivery.state, delivery.next_attempt_at, delivery.delivered_at = DeliveryState.DELIVERED, None, now
    else:
        next_at = _next_attempt(delivery, answer, now)
        is_dead = is_final or next_at is None
        delivery.state = DeliveryState.DEAD if is_dead else DeliveryState.WAITING
        delivery.next_attempt_at = None if is_dead else next_at
    delivery.save(
        update_fields=[
            "first_tried_at",
            "last_status",
            "last_duration_ms",
            "last_error",
            "state",
            "next_attempt_at",
            "delivered_at",
        ]
    )
    endpoint = delivery.endpoint
    if is_taken:
        WebhookEndpoint.objects.filter(pk=endpoint.pk, failing_since__isnull=False).update(failing_since=None)
    elif not is_final:
        WebhookEndpoint.objects.filter(pk=endpoint.pk, failing_since__isnull=True).update(failing_since=now)
        endpoint.refresh_from_db(fields=["failing_since"])
        if endpoint.failing_since is not None and now - endpoint.failing_since >= GIVE_UP_AFTER:
            disable_endpoint(endpoint=endpoint, reason=f"failing for 24 hours, last: {error}", now=now)


def _next_attempt(delivery: WebhookDelivery, answer: outgoing.Answer | None, now: datetime) -> datetime | None:
    if delivery.attempts > len(RETRY_AFTER_SECONDS) or delivery.first_tried_at is None:
        return None
    seconds = RETRY_AFTER_SECONDS[delivery.attempts - 1]
    # A share of up to a tenth that differs between deliveries, so that they do not all come back at once.
    seconds += seconds * (crc32(delivery.pk.bytes) % 100) // 1_000
    if answer is not None and answer.retry_after_seconds is not None:
        seconds = max(seconds, min(answer.retry_after_seconds, 3_600))
    return min(now + timedelta(seconds=seconds), max(now, delivery.first_tried_at + GIVE_UP_AFTER))


def list_disabled(owner: Any) -> Any:
    """Endpoints of `owner` that were switched off, for the notice in the admin."""
    return WebhookEndpoint.objects.filter(Q(owner=owner) & Q(disabled_at__isnull=False)).order_by("-disabled_at")
