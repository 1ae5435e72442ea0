"""Old events are forgotten, never those a webhook has still to deliver, and a reader from before is told so."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from golem_project.stream import tasks, webhooks
from golem_project.stream.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from golem_project.stream.retention import forget_old_events
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.stream.conftest import PATH, EventSource, emit, numbers_of
from tests.golem_project.stream.delivering import deliver, list_due
from tests.receiver import Receiver
from tests.receiver import receiver as receiver
from tools_app.core import clock, event_bus, event_log, event_ring
from tools_app.core.event_log import CursorExpired
from tools_app.core.models import AuditEntry, OutboxEvent

pytestmark = pytest.mark.django_db(transaction=True)

LATER = timedelta(days=91)


def age(count: int, *, days: int = 100) -> None:
    """Make the first `count` events that old."""
    OutboxEvent.objects.filter(position__lte=count).update(published_at=clock.now() - timedelta(days=days))


def kept() -> list[int]:
    return list(OutboxEvent.objects.order_by("sequence").values_list("sequence", flat=True))


def make_endpoint(agent: Agent, url: str) -> WebhookEndpoint:
    return webhooks.create_endpoint(
        owner=agent.golem.owner, golem=None, label="hook", url=url, types=(), now=clock.now()
    )[0]


def test_only_what_is_older_than_the_setting_is_forgotten(settings: Any) -> None:
    golem_id = uuid.uuid4()
    emit(golem_id, *range(6))
    age(4)
    settings.GOLEM_EVENT_RETENTION_DAYS = 0
    assert forget_old_events(now=clock.now()) == 0
    settings.GOLEM_EVENT_RETENTION_DAYS = 90
    assert tasks.forget_old_events_task() == 4
    assert kept() == [5, 6]
    assert forget_old_events(now=clock.now()) == 0
    emit(golem_id, 7)
    assert kept() == [5, 6, 7]


def test_what_was_not_published_is_kept_however_old_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    golem_id = uuid.uuid4()
    emit(golem_id, 1)
    monkeypatch.setattr(event_bus, "_after_commit", lambda: None)
    emit(golem_id, 2)
    assert forget_old_events(now=clock.now() + LATER) == 1
    assert kept() == [2]


def test_what_a_webhook_has_still_to_deliver_is_kept_until_it_is_delivered(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1, 2, 3)
    now = clock.now()
    # Nothing was handed over yet, then everything waits, then the first was delivered, then all.
    assert forget_old_events(now=now + LATER) == 0
    webhooks.spread_events(now=now)
    assert forget_old_events(now=now + LATER) == 0
    first = WebhookDelivery.objects.order_by("position").values_list("pk", flat=True)[0]
    assert deliver(first, now)
    assert forget_old_events(now=now + LATER) == 1
    for pk in list_due(now):
        assert deliver(pk, now)
    assert forget_old_events(now=now + LATER) == 2
    assert len(receiver.got) == 3
    assert not WebhookDelivery.objects.exists()


def test_a_webhook_that_is_off_holds_nothing_back_and_what_it_missed_is_audited(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    endpoint = make_endpoint(agent, receiver.url)
    webhooks.disable_endpoint(endpoint=endpoint, reason="switched off by its owner", now=clock.now())
    emit(agent.golem.pk, 1, 2, 3)
    # One more than those: that it was switched off is an event too.
    age(4)
    assert forget_old_events(now=clock.now()) == 4
    emit(agent.golem.pk, 4)
    webhooks.enable_endpoint(endpoint=endpoint, now=clock.now())
    assert webhooks.spread_events(now=clock.now()) == 1
    entry = AuditEntry.objects.get(golem_id=agent.golem.pk, event="WebhookSkipped")
    assert (entry.data["from"], entry.data["to"]) == (0, 4)
    assert WebhookDelivery.objects.filter(state=DeliveryState.WAITING).count() == 1


def test_a_cursor_from_before_the_oldest_event_is_refused_with_the_place_to_go_on_from(
    web_port: int, make_agent: MakeAgent
) -> None:
    agent = make_agent()
    emit(agent.golem.pk, *range(5))
    old = event_log.read_head().cursor(1)
    age(3)
    forget_old_events(now=clock.now())
    headers = {"Authorization": f"Bearer {agent.key.token}"}
    page = agent.client.get(PATH, {"cursor": old}, headers=headers)
    assert (page.status_code, page.json()["code"]) == (410, "CURSOR_EXPIRED")
    stream = EventSource(web_port, token=agent.key.token, last_id=old)
    problem = stream.problem()
    assert (stream.status, problem["code"]) == (410, "CURSOR_EXPIRED")
    for query in ({"cursor": problem["oldest_cursor"]}, {}, {"since": "2020-01-01T00:00:00Z"}):
        events = agent.client.get(PATH, query, headers=headers).json()["events"]
        assert [event["payload"]["duration_ms"] for event in events] == [3, 4]
    source = EventSource(web_port, token=agent.key.token, last_id=problem["oldest_cursor"])
    assert numbers_of(source.take(2)) == [3, 4]
    source.close()


def test_a_reader_that_the_forgetting_overtakes_is_told_and_never_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_ring, "open_ring", lambda: None)
    emit(uuid.uuid4(), *range(10))
    page = event_log.read_after(0, head=event_log.read_head(), limit=3)
    assert page.reached == 3
    age(6)
    forget_old_events(now=clock.now())
    with pytest.raises(CursorExpired):
        event_log.read_after(page.reached, head=event_log.read_head(), limit=3)
