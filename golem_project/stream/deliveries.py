"""Delivers events to webhooks: tried at growing intervals for 24 hours, given up, sent again.

A delivery has one `webhook-id`, which is the event's own id, so that a receiver can drop what it has. Endpoints come by
turns (`turns`): one has one request at most, and one that hangs holds up no other. Whether the endpoint's owner may see
the golem is asked before each request.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any
from uuid import UUID
from zlib import crc32

from django.conf import settings
from django.db.models import Exists, F, OuterRef, QuerySet

from golem_project.stream import delivery_turns, sealed_secrets, webhook_signatures
from golem_project.stream.delivery_turns import DeliveryTurn, Wanting
from golem_project.stream.models import DeliveryState, TurnKind, WebhookDelivery, WebhookEndpoint
from golem_project.stream.webhook_secret_rotation import reveal_secrets
from golem_project.stream.webhooks import GIVE_UP_AFTER, disable_endpoint, list_golems, note_health
from tools_app.core import clock, guarded_http
from tools_app.core.events import encode_event
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.models import OutboxEvent

# Seconds before the second, third, … try: 24 hours in all.
RETRY_AFTER_SECONDS = (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600, 36_000)
_LEASE = timedelta(seconds=60)
# A turn ends after so many deliveries or so long, so that others get theirs.
_MOST_IN_A_ROW = 100
_LONGEST_TURN_MS = 10_000
_GONE = 410
_NO_LONGER_SEEN = "the webhook's owner may not see this golem any more"


class TriedDelivery(Enum):
    """What became of one delivery when its time came."""

    TAKEN = auto()
    FAILED = auto()
    NOT_SENT = auto()


def list_wanting(*, now: datetime) -> list[Wanting]:
    """Endpoints with a delivery whose time has come."""
    due = WebhookDelivery.objects.filter(
        endpoint_id=OuterRef("pk"), state=DeliveryState.WAITING, next_attempt_at__lte=now
    )
    rows = WebhookEndpoint.objects.filter(Exists(due), disabled_at__isnull=True).order_by("pk")
    return [Wanting(receiver=pk, person_id=owner_id) for pk, owner_id in rows.values_list("pk", "owner_id")]


def take_turn(*, turn: DeliveryTurn, read_clock: Callable[[], datetime]) -> int:
    """Deliver what is due for the endpoint whose turn it is, until it fails or others are to come. Returns how many."""
    begun = delivery_turns.begin_turn(kind=TurnKind.WEBHOOK, turn=turn, now=read_clock())
    if begun is None:
        return 0
    over = clock.Deadline.after_ms(_LONGEST_TURN_MS)
    taken, failed, longest = 0, True, 0.0
    try:
        for _ in range(_MOST_IN_A_ROW):
            now = read_clock()
            if over.is_over or not delivery_turns.keep_turn(kind=TurnKind.WEBHOOK, turn=begun, now=now):
                break
            delivery_id = _list_due_of(begun.receiver, now).values_list("pk", flat=True).first()
            if delivery_id is None:
                break
            began = clock.monotonic_ms()
            tried = try_delivery(delivery_id=delivery_id, now=now)
            longest = max(longest, clock.monotonic_ms() - began)
            if tried is TriedDelivery.FAILED:
                return taken
            taken += tried is TriedDelivery.TAKEN
        failed = False
    finally:
        delivery_turns.end_turn(kind=TurnKind.WEBHOOK, turn=begun, now=read_clock(), failed=failed, longest_ms=longest)
    return taken


def _list_due_of(endpoint_id: UUID, now: datetime) -> QuerySet[WebhookDelivery]:
    rows = WebhookDelivery.objects.filter(endpoint_id=endpoint_id, state=DeliveryState.WAITING)
    return rows.filter(endpoint__disabled_at__isnull=True, next_attempt_at__lte=now).order_by(
        "next_attempt_at", "position"
    )


def try_delivery(*, delivery_id: UUID, now: datetime) -> TriedDelivery:
    """Try one delivery whose time has come, and write down what became of it.

    The claim is a lease: a process that dies in between is followed by another try, never by silence. Whatever was
    removed meanwhile is left alone.
    """
    is_on = WebhookEndpoint.objects.filter(pk=OuterRef("endpoint_id"), disabled_at__isnull=True)
    # A filter across the relation would become `id IN (SELECT …)`, which PostgreSQL does not look at again when it
    # has waited for a row: two claims at once would both hold. Conditions on the row's own columns are looked at again.
    claimed = WebhookDelivery.objects.filter(
        Exists(is_on), pk=delivery_id, state=DeliveryState.WAITING, next_attempt_at__lte=now
    ).update(next_attempt_at=now + _LEASE, attempts=F("attempts") + 1)
    delivery = WebhookDelivery.objects.select_related("endpoint__owner").filter(pk=delivery_id).first()
    if not claimed or delivery is None:
        return TriedDelivery.NOT_SENT
    event = OutboxEvent.objects.filter(pk=delivery.event_id).first()
    if event is None:
        _record(delivery, began=now, now=now, error="the event is no longer kept", is_final=True)
        return TriedDelivery.NOT_SENT
    # Roles end while deliveries wait; whoever may not see the golem now hears nothing of it.
    if not list_golems(delivery.endpoint).filter(pk=event.golem_id).exists():
        _record(delivery, began=now, now=now, error=_NO_LONGER_SEEN, is_final=True)
        return TriedDelivery.NOT_SENT
    body = make_body(event)
    began_ms = clock.monotonic_ms()
    answer: guarded_http.Answer | None = None
    try:
        headers = _headers(delivery, body=body, now=now)
        target = guarded_http.resolve(
            delivery.endpoint.url, allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES
        )
        answer = guarded_http.post(target, headers=headers, body=body, seconds=settings.GOLEM_WEBHOOK_TIMEOUT_SECONDS)
        error = "" if 200 <= answer.status < 300 else f"answered {answer.status}"
    except (AddressRefused, ExchangeFailed, sealed_secrets.SealBroken) as problem:
        error = str(problem)
    # The pause before the next try begins when this one ended, not when it began.
    ended = now + timedelta(milliseconds=int(clock.monotonic_ms() - began_ms))
    _record(delivery, began=now, now=ended, answer=answer, is_taken=not error, error=error)
    if answer is not None and answer.status == _GONE:
        disable_endpoint(endpoint=delivery.endpoint, reason="the receiver answered 410 Gone", now=ended)
    return TriedDelivery.FAILED if error else TriedDelivery.TAKEN


def replay(*, deliveries: Any, now: datetime) -> int:  # Any: rows of any model
    """Try deliveries again from the start, whatever became of them; `deliveries` is a queryset. Returns how many.

    Left out is what tells of golems that the webhook's owner may not see now.
    """
    changed = 0
    endpoints = WebhookEndpoint.objects.filter(pk__in=deliveries.values("endpoint_id")).select_related("owner")
    for endpoint in endpoints:
        unseen = OutboxEvent.objects.filter(pk=OuterRef("event_id")).exclude(
            golem_id__in=list_golems(endpoint).values("pk")
        )
        rows = deliveries.filter(~Exists(unseen), endpoint_id=endpoint.pk).exclude(state=DeliveryState.WAITING)
        changed += rows.update(
            state=DeliveryState.WAITING,
            next_attempt_at=now,
            attempts=0,
            first_tried_at=None,
            delivered_at=None,
            last_error="",
        )
    delivery_turns.forgive(kind=TurnKind.WEBHOOK, receivers=[endpoint.pk for endpoint in endpoints])
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


def _record(
    delivery: WebhookDelivery,
    *,
    began: datetime,
    now: datetime,
    error: str,
    answer: guarded_http.Answer | None = None,
    is_taken: bool = False,
    is_final: bool = False,
) -> None:
    first_tried_at = delivery.first_tried_at or began
    next_at = None if is_taken or is_final else _next_attempt(delivery, answer, first_tried_at, now)
    state = DeliveryState.DELIVERED if is_taken else DeliveryState.WAITING if next_at else DeliveryState.DEAD
    # Only this try writes what became of it: a later one, a replay or a removal stays as it is.
    mine = WebhookDelivery.objects.filter(pk=delivery.pk, state=DeliveryState.WAITING, attempts=delivery.attempts)
    mine.update(
        first_tried_at=first_tried_at,
        last_status=answer.status if answer is not None else None,
        last_duration_ms=answer.duration_ms if answer is not None else None,
        last_error=error[:200],
        state=state,
        next_attempt_at=next_at,
        delivered_at=now if is_taken else None,
    )
    if not is_final:
        note_health(endpoint=delivery.endpoint, is_well=is_taken, error=error, now=now)


def _next_attempt(
    delivery: WebhookDelivery, answer: guarded_http.Answer | None, first_tried_at: datetime, now: datetime
) -> datetime | None:
    over_at = first_tried_at + GIVE_UP_AFTER
    if delivery.attempts > len(RETRY_AFTER_SECONDS) or now >= over_at:
        return None
    seconds = RETRY_AFTER_SECONDS[delivery.attempts - 1]
    # A share of up to a tenth that differs between deliveries, so that they do not all come back at once.
    seconds += seconds * (crc32(delivery.pk.bytes) % 100) // 1_000
    if answer is not None and answer.retry_after_seconds is not None:
        seconds = max(seconds, min(answer.retry_after_seconds, 3_600))
    return min(now + timedelta(seconds=seconds), over_at)
