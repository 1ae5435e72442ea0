"""Channels from end to end: made, their lines gathered from the events, sent together, tried again.

Everything happens in a worker of its own queue, behind the transaction of what is told: a channel that fails, or hangs,
delays no permit, and others by turns (`golem_project.stream.delivery_turns`) have their places all the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import NoReverseMatch, reverse

from archetypes_app.models import Golem
from archetypes_app.ownership import list_golems_with
from archetypes_app.roles import Power
from golem_project.alerts.errors import ChannelRefused
from golem_project.alerts.models import Alert, AlertChannel, ChannelKind
from golem_project.alerts.sending import MOST_LINES, NotSent, check_browser, send_lines
from golem_project.alerts.timing import is_due, wait_after
from golem_project.alerts.topics import find_topic, list_events, rank_topic, tell_event
from golem_project.stream import delivery_turns, sealed_secrets
from golem_project.stream.delivery_turns import DeliveryTurn, Wanting
from golem_project.stream.models import TurnKind
from tools_app.core import clock, event_log, guarded_http
from tools_app.core.event_body import EventBody, read_body
from tools_app.core.event_log import EventFilter
from tools_app.core.guarded_http import AddressRefused, ExchangeFailed
from tools_app.core.transaction_retry import retry_aborted

_PAGE = 500
_LEASE = timedelta(seconds=90)
KEPT = timedelta(days=30)
_PAGES = (
    ("request_id", "admin:permits_app_changerequest_short"),
    ("permit_id", "admin:permits_app_actionpermit_change"),
)


def create_channel(
    *,
    person: Any,  # Any: which model accounts have is a setting
    kind: ChannelKind,
    target: Mapping[str, str],
    now: datetime,
    **columns: Any,  # Any: JSON of an event
) -> AlertChannel:
    """A channel that is told what happens from now on. `target` holds address, url, token and chat_id, or
    of a browser url, p256dh and auth.

    A mailbox is told nothing until its addressee confirmed it (`mail_confirmation`). Raises ChannelRefused.
    """
    most = settings.GOLEM_ALERT_MOST_CHANNELS_PER_PERSON
    if AlertChannel.objects.filter(person=person).count() >= most:
        raise ChannelRefused(f"a person has at most {most} channels", limit=most)
    if kind is ChannelKind.PUSH:
        check_browser(target)
    if kind in (ChannelKind.WEBHOOK, ChannelKind.PUSH):
        try:
            guarded_http.resolve(target["url"], allows_private=settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES)
        except (AddressRefused, ExchangeFailed) as error:
            raise ChannelRefused(str(error)) from None
    head = event_log.read_head()
    channel = AlertChannel(
        person=person,
        kind=kind,
        log_id=head.log_id,
        position=head.position,
        created_at=now,
        confirmed_at=None if kind is ChannelKind.EMAIL else now,
        **columns,
    )
    channel.sealed_target = sealed_secrets.seal(json.dumps(dict(target)).encode(), bound_to=channel.pk.bytes)
    channel.save()
    return channel


def try_channel(*, channel: AlertChannel) -> None:
    """Send one line now, whatever the hour; one that arrives ends the pause after failures, and what waits follows.

    Raises NotSent, also while the addressee has not confirmed.
    """
    if channel.confirmed_at is None:
        raise NotSent("its address is not confirmed yet; type the code that was mailed there")
    try:
        send_lines(channel, [f"This is {channel.label}. Alerts of your golems come here."])
    except NotSent as error:
        # It is told beside the channel, and nothing that waits is held back for it.
        AlertChannel.objects.filter(pk=channel.pk, failures=0).update(last_error=str(error)[:200])
        raise
    # Not where a worker sends at this moment: the lease it has is no pause.
    failing = AlertChannel.objects.filter(pk=channel.pk, failures=channel.failures, next_try_at=channel.next_try_at)
    failing.filter(failures__gt=0).update(failures=0, last_error="", next_try_at=None)
    AlertChannel.objects.filter(pk=channel.pk, failures=0).update(last_error="")


def gather_alerts(*, now: datetime) -> int:
    """Write a line for every new event and channel that wants it; forget lines that were sent a month ago. How many."""
    Alert.objects.filter(sent_at__lt=now - KEPT).delete()
    channels = _list_told().values_list("pk", flat=True)
    return sum(_gather(pk) for pk in list(channels))


def list_wanting(*, now: datetime) -> list[Wanting]:
    """Channels with lines whose time has come, each with its person."""
    rows = _list_told().filter(Q(next_try_at__isnull=True) | Q(next_try_at__lte=now))
    waiting = rows.filter(pk__in=Alert.objects.filter(sent_at__isnull=True).values("channel"))
    return [Wanting(receiver=each.pk, person_id=each.person_id) for each in waiting if _is_due(each, now)]


def take_turn(*, turn: DeliveryTurn, read_clock: Callable[[], datetime]) -> bool:
    """Send what waits for the channel whose turn it is; True when it got there."""
    begun = delivery_turns.begin_turn(kind=TurnKind.ALERT, turn=turn, now=read_clock())
    if begun is None:
        return False
    began, is_sent = clock.monotonic_ms(), False
    try:
        is_sent = send_channel(channel_id=turn.receiver, now=read_clock())
    finally:
        # How long a channel that failed waits is its own affair; its turn only remembers who is slow.
        took = clock.monotonic_ms() - began
        delivery_turns.end_turn(kind=TurnKind.ALERT, turn=begun, now=read_clock(), failed=False, longest_ms=took)
    return is_sent


def send_channel(*, channel_id: UUID, now: datetime) -> bool:
    """Send what waits for one channel as one message; True when it got there. A second worker finds it claimed."""
    free = _list_told().filter(Q(next_try_at__isnull=True) | Q(next_try_at__lte=now))
    if not free.filter(pk=channel_id).update(next_try_at=now + _LEASE):
        return False
    channel = AlertChannel.objects.select_related("person").filter(pk=channel_id).first()
    if channel is None:
        return False
    seen = _list_seen(channel)
    waiting = list(channel.alerts.filter(sent_at__isnull=True).order_by("happened_at", "pk"))
    if not waiting:
        AlertChannel.objects.filter(pk=channel.pk).update(next_try_at=None)
        return False
    began_ms = clock.monotonic_ms()
    try:
        # Of a golem that was lost from sight in between nothing is told any more.
        told = _put_foremost_first([alert for alert in waiting if str(alert.golem_id) in seen])
        if told:
            send_lines(channel, told, path=_find_foremost(waiting, seen).path)
    except NotSent as error:
        failures = channel.failures + 1
        # The pause begins when this try ended, not when it began.
        ended = now + timedelta(milliseconds=int(clock.monotonic_ms() - began_ms))
        AlertChannel.objects.filter(pk=channel.pk).update(
            failures=failures, last_error=str(error)[:200], next_try_at=ended + wait_after(failures)
        )
        return False
    Alert.objects.filter(pk__in=[alert.pk for alert in waiting]).update(sent_at=now)
    AlertChannel.objects.filter(pk=channel.pk).update(failures=0, last_error="", next_try_at=None, last_sent_at=now)
    return True


def _list_told() -> QuerySet[AlertChannel]:
    return AlertChannel.objects.filter(disabled_at__isnull=True, confirmed_at__isnull=False)


def _put_foremost_first(alerts: Sequence[Alert]) -> list[str]:
    """The lines in the order of time, after those that a message has no place for were put last."""
    shown = {alert.pk for alert in sorted(alerts, key=lambda alert: alert.rank)[:MOST_LINES]}
    return [_add_link(alert) for alert in sorted(alerts, key=lambda alert: alert.pk not in shown)]


def _find_foremost(alerts: Sequence[Alert], seen: Mapping[str, str]) -> Alert:
    return min((alert for alert in alerts if str(alert.golem_id) in seen), key=lambda alert: alert.rank)


def _add_link(alert: Alert) -> str:
    """The line with the address of its page, where the server knows its own; a browser is given it apart."""
    has_link = settings.GOLEM_PUBLIC_URL and alert.path and alert.channel.kind != ChannelKind.PUSH
    return f"{alert.text} {settings.GOLEM_PUBLIC_URL}{alert.path}" if has_link else alert.text


def _find_page(event: EventBody) -> str:
    """Where what an event tells is seen or decided: its request, its permit, else its golem."""
    # Protocols have requests too; only an approval's is a page of ours.
    pages = _PAGES if event.type.startswith("approval:") else _PAGES[1:]
    for name, page in pages:
        if isinstance(row_id := event.payload.get(name), str):
            with suppress(NoReverseMatch):
                return reverse(page, args=[row_id])
    return reverse("admin:archetypes_app_golem_change", args=[event.golem_id])


def _is_due(channel: AlertChannel, now: datetime) -> bool:
    waiting = channel.alerts.filter(sent_at__isnull=True)
    oldest = waiting.order_by("happened_at").values_list("happened_at", flat=True).first()
    return oldest is not None and is_due(
        oldest=oldest,
        has_urgent=waiting.filter(is_urgent=True).exists(),
        now=now,
        digest_minutes=channel.digest_minutes,
        quiet_from=channel.quiet_from,
        quiet_until=channel.quiet_until,
        time_zone=channel.time_zone,
    )


@retry_aborted
def _gather(channel_id: UUID) -> int:
    with transaction.atomic():
        rows = _list_told().select_for_update(no_key=True, skip_locked=True, of=("self",))
        channel = rows.select_related("person").filter(pk=channel_id).first()
        if channel is None:
            return 0
        head = event_log.read_head()
        # What is no longer kept, or of another database, is not told late.
        start = channel.position if channel.log_id == head.log_id else head.position
        names = _list_seen(channel)
        wanted = EventFilter(golem_ids=frozenset(names), types=list_events(channel.topics))
        page = event_log.read_after(max(start, head.forgotten), head=head, wanted=wanted, limit=_PAGE)
        events = [read_body(event.body) for event in page.events]
        alerts = [_make_alert(channel, event, names) for event in events if _is_wanted(channel, event)]
        Alert.objects.bulk_create(alerts, ignore_conflicts=True)
        AlertChannel.objects.filter(pk=channel.pk).update(log_id=head.log_id, position=page.reached)
    return len(alerts)


def _is_wanted(channel: AlertChannel, event: EventBody) -> bool:
    return not channel.topics or find_topic(event.type, event.payload) in channel.topics


def _make_alert(channel: AlertChannel, event: EventBody, names: Mapping[str, str]) -> Alert:
    text, is_urgent = tell_event(event.type, event.payload, golem=names[event.golem_id])
    return Alert(
        channel=channel,
        golem_id=UUID(event.golem_id),
        event_id=event.event_id,
        text=text,
        path=_find_page(event),
        is_urgent=is_urgent,
        rank=rank_topic(find_topic(event.type, event.payload)),
        happened_at=datetime.fromisoformat(event.occurred_at),
    )


def _list_seen(channel: AlertChannel) -> dict[str, str]:
    """Names of the golems it tells of, by id; looked up each time, since roles end."""
    golems = list_golems_with(channel.person, Power.SEE) if channel.person.is_active else Golem.objects.none()
    if channel.golem_id is not None:
        golems = golems.filter(pk=channel.golem_id)
    return {str(pk): name for pk, name in golems.values_list("pk", "name")}


def find_channels(person: Any) -> Sequence[AlertChannel]:  # Any: which model accounts have is a setting
    """A person's channels, in order of their labels."""
    return list(AlertChannel.objects.filter(person=person).select_related("golem").order_by("label"))
