"""Opens, renews and ends subscriptions. Opening one that exists renews it: an agent that asks twice gets one stream."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction

from tools_app.core import event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.hashing import hash_canonical
from tools_app.core.transaction_retry import retry_aborted
from tools_app.models import StreamSubscription
from tools_app.models.subscription import SubscriptionKind
from tools_app.subsystems.stream.errors import SubscriptionLimit, SubscriptionNotFound


@retry_aborted
def open_subscription(
    *,
    golem_id: UUID,
    kind: SubscriptionKind,
    chain_ids: Sequence[int],
    params: Mapping[str, object],
    interval_ms: int,
    now: datetime,
) -> StreamSubscription:
    """The living subscription for these parameters, new or renewed; one row for each chain. Raises SubscriptionLimit.

    Takes the lock of the golem's own rows, so that two calls at once cannot pass the limit. Emits stream:subscribed.
    """
    digest = hash_canonical({"kind": str(kind), "params": dict(params), "chains": sorted(chain_ids)})
    expires_at = now + timedelta(hours=settings.GOLEM_STREAM_SUBSCRIPTION_HOURS)
    with transaction.atomic():
        event_bus.lock_golem(golem_id)
        mine = StreamSubscription.objects.filter(golem_id=golem_id, ended_at__isnull=True)
        found = list(mine.filter(kind=kind, params_hash=digest))
        if found:
            mine.filter(pk__in=[row.pk for row in found]).update(expires_at=expires_at, interval_ms=interval_ms)
            found[0].expires_at, found[0].interval_ms = expires_at, interval_ms
            return found[0]
        most = settings.GOLEM_STREAM_MOST_SUBSCRIPTIONS_PER_GOLEM
        if mine.count() + len(chain_ids) > most:
            raise SubscriptionLimit("end one with stream_unsubscribe first", limit=most, living=mine.count())
        subscription_id = uuid4()
        rows = [
            StreamSubscription(
                subscription_id=subscription_id,
                golem_id=golem_id,
                kind=kind,
                chain_id=chain_id,
                params=dict(params),
                params_hash=digest,
                interval_ms=interval_ms,
                created_at=now,
                expires_at=expires_at,
                next_poll_at=now,
            )
            for chain_id in chain_ids
        ]
        StreamSubscription.objects.bulk_create(rows)
        events = [
            Event(
                EventType.STREAM_SUBSCRIBED,
                {
                    **_facts(row),
                    "expires_at": expires_at.isoformat(),
                    "interval_ms": interval_ms,
                    "target": str(next(iter(params.values()), ""))[:100],
                },
            )
            for row in rows
        ]
        event_bus.emit_all(golem_id=golem_id, events=events, now=now)
    return rows[0]


@retry_aborted
def end_subscriptions(*, golem_id: UUID, ids: Collection[str] | None, now: datetime) -> tuple[list[str], list[str]]:
    """End those of `ids`, or all; the ids that ended and those that still live. Raises SubscriptionNotFound."""
    with transaction.atomic():
        mine = StreamSubscription.objects.select_for_update(no_key=True).filter(
            golem_id=golem_id, ended_at__isnull=True
        )
        rows = list(mine.order_by("created_at", "pk"))
        living = list(dict.fromkeys(str(row.subscription_id) for row in rows))
        wanted = living if ids is None else list(dict.fromkeys(ids))
        unknown = sorted(set(wanted) - set(living))
        if unknown:
            raise SubscriptionNotFound("no living subscription of this golem has this id", subscription_ids=unknown)
        close([row for row in rows if str(row.subscription_id) in wanted], reason="unsubscribed", now=now)
    return wanted, [each for each in living if each not in wanted]


def close(rows: Sequence[StreamSubscription], *, reason: str, now: datetime) -> None:
    """End rows, in the caller's transaction. Emits stream:ended."""
    for row in rows:
        StreamSubscription.objects.filter(pk=row.pk).update(ended_at=now, end_reason=reason)
        event = Event(EventType.STREAM_ENDED, {**_facts(row), "reason": reason})
        event_bus.emit(golem_id=row.golem_id, event=event, now=now)


@retry_aborted
def close_expired(*, now: datetime) -> int:
    """End what was not renewed in time. Returns how many rows."""
    with transaction.atomic():
        late = list(
            StreamSubscription.objects.select_for_update(no_key=True, skip_locked=True).filter(
                ended_at__isnull=True, expires_at__lte=now
            )
        )
        close(late, reason="expired", now=now)
    return len(late)


def _facts(row: StreamSubscription) -> dict[str, object]:
    return {"subscription_id": str(row.subscription_id), "chain_id": row.chain_id, "kind": str(row.kind)}
