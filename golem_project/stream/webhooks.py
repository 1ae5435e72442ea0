"""Makes and switches webhooks, and spreads events to their deliveries.

An endpoint that fails for 24 hours without one success is switched off, and its owner is told by an event, an audit
entry and the admin.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from archetypes_app.models import Golem
from archetypes_app.ownership import list_golems_with
from archetypes_app.roles import Power
from golem_project.stream import delivery_turns, webhook_signatures
from golem_project.stream.models import DeliveryState, TurnKind, WebhookDelivery, WebhookEndpoint
from golem_project.stream.webhook_secret_rotation import seal_secret
from tools_app.core import audit_log, event_bus, event_log, guarded_http
from tools_app.core.errors import GolemError, Recovery
from tools_app.core.event_body import read_body
from tools_app.core.event_log import EventFilter, LogHead
from tools_app.core.events import Event, EventType
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.taint import Secret
from tools_app.core.transaction_retry import retry_aborted

logger = logging.getLogger(__name__)

GIVE_UP_AFTER = timedelta(hours=24)
_SPREAD_PAGE = 1_000


class WebhookRefused(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="This webhook cannot be set up"):
    """A webhook cannot be made or changed like this."""


def create_endpoint(
    *,
    owner: Any,  # Any: which model accounts have is a setting
    golem: Golem | None,
    label: str,
    url: str,
    types: Sequence[str],
    now: datetime,
) -> tuple[WebhookEndpoint, Secret]:
    """Make an endpoint that gets what happens from now on; the secret is shown once. Raises WebhookRefused."""
    try:
        guarded_http.resolve(url, allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES)
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
    endpoint.sealed_secret = seal_secret(endpoint, secret)
    endpoint.save()
    return endpoint, Secret(secret)


@retry_aborted
def enable_endpoint(*, endpoint: WebhookEndpoint, now: datetime) -> None:
    """Switch an endpoint on again; it goes on where it was, so nothing that happened meanwhile is left out.

    What waits for it has its 24 hours anew.
    """
    with transaction.atomic():
        changed = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=False).update(
            disabled_at=None, disabled_reason="", failing_since=None
        )
        if not changed:
            return
        waiting = WebhookDelivery.objects.filter(endpoint_id=endpoint.pk, state=DeliveryState.WAITING)
        waiting.update(attempts=0, first_tried_at=None, next_attempt_at=now)
        delivery_turns.forgive(kind=TurnKind.WEBHOOK, receivers=[endpoint.pk])


@retry_aborted
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


def note_health(*, endpoint: WebhookEndpoint, is_well: bool, error: str, now: datetime) -> None:
    """Write down that the receiver took a delivery or did not; after 24 hours without a success it is switched off."""
    rows = WebhookEndpoint.objects.filter(pk=endpoint.pk)
    if is_well:
        rows.filter(failing_since__isnull=False).update(failing_since=None)
        return
    rows.filter(failing_since__isnull=True).update(failing_since=now)
    if rows.filter(failing_since__lte=now - GIVE_UP_AFTER).exists():
        disable_endpoint(endpoint=endpoint, reason=f"failing for 24 hours, last: {error}", now=now)


def spread_events(*, now: datetime) -> int:
    """Make a delivery for every new event and endpoint that wants it. Returns how many."""
    endpoints = list(WebhookEndpoint.objects.filter(disabled_at__isnull=True).values_list("pk", flat=True))
    return sum(_spread_to(pk, now) for pk in endpoints)


def list_golems(endpoint: WebhookEndpoint) -> QuerySet[Golem]:
    """The golems of which an endpoint hears, looked up each time: who sold a golem hears no more of it, nor does an
    account that was switched off.
    """
    if not endpoint.owner.is_active:
        return Golem.objects.none()
    golems = list_golems_with(endpoint.owner, Power.SEE)
    return golems if endpoint.golem_id is None else golems.filter(pk=endpoint.golem_id)


def _golem_ids(endpoint: WebhookEndpoint) -> list[UUID]:
    return list(list_golems(endpoint).values_list("pk", flat=True))


@retry_aborted
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
                event_id=read_body(event.body).event_id,
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


def list_disabled(owner: object) -> Any:  # Any: a query of annotated rows
    """Endpoints of `owner` that were switched off, for the notice in the admin."""
    return WebhookEndpoint.objects.filter(Q(owner=owner) & Q(disabled_at__isnull=False)).order_by("-disabled_at")
