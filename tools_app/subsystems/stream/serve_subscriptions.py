"""Serves subscriptions: claims those that are due, looks at the chain, and writes events and place in one transaction.

Nothing is told twice and nothing is left out: a poll that another overtook writes nothing, one that dies is done again
from the same place, and when the chain reorganises, what the new branch lacks is taken back before it is read.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import F

from tools_app.core import event_bus
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.json_types import JsonObject
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.core.transaction_retry import retry_aborted
from tools_app.models import StreamSubscription
from tools_app.models.subscription import SubscriptionKind
from tools_app.runner import open_reader
from tools_app.subsystems.stream import new_pools, pool_events, snapshots, subscriptions, trades
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import LogEntry

logger = logging.getLogger(__name__)

POLL_BUDGET_MS = 5_000
_LEASE = timedelta(seconds=30)
_MOST_PAUSE = timedelta(minutes=5)
_MOST_FAILURES = 200
_TRAIL = 128
_OF_LOGS: Final = {
    SubscriptionKind.POOL_EVENTS: EventType.POOL_EVENT,
    SubscriptionKind.TRADES: EventType.TRADE_EXECUTED,
    SubscriptionKind.NEW_POOLS: EventType.POOL_CREATED,
}
"""What is read from logs, and the event that tells it."""


@dataclass
class PolledEvents:
    """What one poll found: events to tell, and the row's new place and memory."""

    events: list[Event] = field(default_factory=list)
    trail: list[list[Any]] = field(default_factory=list)  # Any: JSON of an answer
    told: list[JsonObject] = field(default_factory=list)
    state: JsonObject = field(default_factory=dict)
    end_reason: str = ""


def poll_due(*, now: datetime, limit: int = 50) -> int:
    """Serve subscriptions whose time has come, the latest first. Returns how many were looked at."""
    subscriptions.close_expired(now=now)
    done = 0
    while done < limit and (row := claim_next(now=now)) is not None:
        poll(row, now=now)
        done += 1
    return done


@retry_aborted
def claim_next(*, now: datetime) -> StreamSubscription | None:
    """Take one due subscription for the time of a lease."""
    with transaction.atomic():
        row = (
            StreamSubscription.objects.select_for_update(no_key=True, skip_locked=True)
            .filter(ended_at__isnull=True, next_poll_at__lte=now)
            .order_by("next_poll_at")
            .first()
        )
        if row is not None:
            StreamSubscription.objects.filter(pk=row.pk).update(next_poll_at=now + _LEASE)
    return row


def poll(row: StreamSubscription, *, now: datetime) -> None:
    """Look once and write what was found; a failure of the node waits and is told by the first and every tenth."""
    try:
        reader = open_reader(row.chain_id, now=now, deadline=Deadline.after_ms(POLL_BUDGET_MS))
        found = look(row, reader)
    except GolemError as error:
        _record_failure(row, error, now)
        return
    _record_look(row, found, now)


@retry_aborted
def _record_look(row: StreamSubscription, found: PolledEvents, now: datetime) -> None:
    with transaction.atomic():
        changed = StreamSubscription.objects.filter(pk=row.pk, version=row.version, ended_at__isnull=True).update(
            version=F("version") + 1,
            failures=0,
            trail=found.trail,
            told=found.told,
            state=found.state,
            next_poll_at=now + timedelta(milliseconds=row.interval_ms),
        )
        if not changed:
            return
        if found.events:
            event_bus.emit_all(golem_id=row.golem_id, events=found.events, now=now)
        if found.end_reason:
            subscriptions.close([row], reason=found.end_reason, now=now)


def look(row: StreamSubscription, reader: ChainReader) -> PolledEvents:
    """What is new for a subscription at the reader's block. Reads only. Raises GolemError."""
    if row.kind in _OF_LOGS:
        return _look_at_logs(row, reader)
    found = PolledEvents(trail=row.trail, told=row.told, state=dict(row.state))
    block = {"block_number": reader.block.number, "block_hash": reader.block.hash}
    if row.kind == SubscriptionKind.POOL_STATE:
        payloads, kind = [snapshots.describe_pool_state(reader, row.params)], EventType.POOL_STATE
    elif row.kind == SubscriptionKind.PRICE_FEED:
        payloads, kind = [snapshots.describe_price(reader, row.params, found.state)], EventType.PRICE_UPDATE
    elif row.kind == SubscriptionKind.JAR:
        payloads, kind = [snapshots.describe_jar(reader, row.params, found.state)], EventType.TOKENJAR_UPDATE
    else:
        payloads, kind = snapshots.describe_alerts(reader, row.params, found.state), EventType.POSITION_ALERT
        if any(payload["alert"] == snapshots.CLOSED for payload in payloads):
            found.end_reason = "the position is closed"
    found.events = [Event(kind, {**_name(row), **block, **payload}) for payload in payloads]
    return found


def _look_at_logs(row: StreamSubscription, reader: ChainReader) -> PolledEvents:
    head = [reader.block.number, reader.block.hash]
    if not row.trail:
        # The first look sets the place: what happens from the next block on is told.
        return PolledEvents(trail=[head], state=dict(row.state))
    base, trail = _find_common_block(row.trail, reader)
    found = PolledEvents(
        state=dict(row.state), told=[told for told in row.told if _identify(told).block_number <= base]
    )
    first, last = base + 1, reader.block.number
    if last - base > settings.GOLEM_STREAM_MOST_BLOCKS_BEHIND:
        first = last - settings.GOLEM_STREAM_MOST_BLOCKS_BEHIND + 1
        found.events.append(_tell_gap(row, base + 1, first - 1))
    fresh, last = _read_logs(row, reader, first, min(last, first + settings.GOLEM_STREAM_BLOCKS_PER_READ - 1), found)
    known = {at: told for told in row.told if (at := _identify(told)).block_number > base}
    seen = {_identify(payload) for payload in fresh}
    kind = _OF_LOGS[SubscriptionKind(row.kind)]
    for identity, told in known.items():
        if identity not in seen and identity.block_number <= last:
            found.events.append(Event(kind, {**told, "is_removed": True}))
        elif identity not in seen:
            found.told.append(told)
    for payload in fresh:
        if _identify(payload) not in known:
            found.events.append(Event(kind, payload))
        found.told.append(payload)
    deepest = reader.block.number - settings.GOLEM_STREAM_REORG_DEPTH_BLOCKS
    found.told = [told for told in found.told if _identify(told).block_number >= deepest]
    end = head if last == reader.block.number else [last, reader.block_at(last).hash]
    found.trail = ([place for place in trail if place[0] < last] + [end])[-_TRAIL:]
    return found


def _find_common_block(
    trail: Sequence[list[Any]],  # Any: JSON of a subscription
    reader: ChainReader,
) -> tuple[int, list[list[Any]]]:  # Any: as above
    """The highest block already looked at that is still in the chain, and the trail up to it."""
    for index in range(len(trail) - 1, -1, -1):
        number, block_hash = trail[index]
        if number <= reader.block.number and reader.block_at(number).hash == block_hash:
            return number, list(trail[: index + 1])
    # Deeper than the trail reaches: read again as far back as a reorganisation is followed.
    oldest = min(trail[0][0], reader.block.number) - settings.GOLEM_STREAM_REORG_DEPTH_BLOCKS
    return max(oldest, 0), []


def _read_logs(
    row: StreamSubscription, reader: ChainReader, first: int, last: int, found: PolledEvents
) -> tuple[list[JsonObject], int]:
    """The payloads of a range of blocks, and the last block they are of; `found` gets what is given up on the way."""
    if first > last:
        return [], last
    if row.kind == SubscriptionKind.NEW_POOLS:
        made = new_pools.find_new_pools(reader, row.params, from_block=first, to_block=last)
        if made.left_out:
            found.events.append(_tell_left_out(row, made.last_block, "POOLS_SKIPPED", skipped_pools=made.left_out))
        return [{**_name(row), **payload} for payload in made.payloads], made.last_block
    if row.kind == SubscriptionKind.TRADES:
        read = trades.find_trades(reader, row.params["wallet_address"], from_block=first, to_block=last)
    else:
        read = pool_events.find_events(reader, row.params, from_block=first, to_block=last)
    if read.left_out:
        found.events.append(_tell_left_out(row, read.last_block, "EVENTS_SKIPPED", skipped_events=read.left_out))
    return [{**_name(row), **_place(log), **payload} for log, payload in read.told], read.last_block


@dataclass(frozen=True, slots=True)
class _StreamPlace:
    """Where a log stands, as its payload says it."""

    block_number: int
    block_hash: str
    transaction_hash: str
    log_index: int


def _place(log: LogEntry) -> dict[str, object]:
    return write_stored(_StreamPlace(log.block_number, log.block_hash, log.tx_hash, log.log_index))


def _identify(payload: dict[str, object]) -> _StreamPlace:
    return read_stored(_StreamPlace, payload)


def _name(row: StreamSubscription) -> JsonObject:
    return {"subscription_id": str(row.subscription_id), "chain_id": row.chain_id}


def _tell_gap(row: StreamSubscription, first: int, last: int) -> Event:
    facts = {"error_code": "BLOCKS_SKIPPED", "skipped_from_block": first, "skipped_to_block": last}
    return Event(EventType.STREAM_FAILED, {**_name(row), "kind": str(row.kind), **facts})


def _tell_left_out(row: StreamSubscription, block: int, code: str, **counts: int) -> Event:
    facts = {"error_code": code, "skipped_from_block": block, "skipped_to_block": block}
    return Event(EventType.STREAM_FAILED, {**_name(row), "kind": str(row.kind), **facts, **counts})


@retry_aborted
def _record_failure(row: StreamSubscription, error: GolemError, now: datetime) -> None:
    failures = row.failures + 1
    pause = min(timedelta(milliseconds=row.interval_ms) * 2 ** min(failures, 8), _MOST_PAUSE)
    with transaction.atomic():
        changed = StreamSubscription.objects.filter(pk=row.pk, version=row.version, ended_at__isnull=True).update(
            version=F("version") + 1, failures=failures, next_poll_at=now + pause
        )
        if not changed:
            return
        if failures % 10 == 1:
            facts = {**_name(row), "kind": str(row.kind), "error_code": error.code, "failures": failures}
            event_bus.emit(golem_id=row.golem_id, event=Event(EventType.STREAM_FAILED, facts), now=now)
        if failures >= _MOST_FAILURES:
            subscriptions.close([row], reason=f"failed {failures} times, last {error.code}", now=now)
