"""Webhooks against a real receiver on a socket: signed, retried, given up, replayed, switched off, never inside."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.db import connection, connections, transaction
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from golem_project.stream import deliveries, tasks, webhook_secret_rotation, webhook_signatures, webhooks
from golem_project.stream.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tests import factories
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.stream.conftest import emit
from tests.golem_project.stream.delivering import deliver, deliver_all, list_due
from tests.receiver import Receiver
from tools_app.core import clock, event_bus, worker_dispatch
from tools_app.core.events import Event, EventType
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.core.taint import Secret

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def make_endpoint(agent: Agent, url: str, types: tuple[str, ...] = ()) -> tuple[WebhookEndpoint, Secret]:
    return webhooks.create_endpoint(
        owner=agent.golem.owner, golem=None, label="hook", url=url, types=types, now=clock.now()
    )


def receive(secret: str, headers: Mapping[str, str], body: bytes) -> None:
    """What a receiver does. Raises WebhookVerificationError."""
    Webhook(secret).verify(body, dict(headers), json_parse=False)


def test_a_signature_is_that_of_the_published_example() -> None:
    """What the specification's reference library answers for its own example, and by hand."""
    secret, message_id, body = (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        b'{"test": 2432232314}',
    )
    at = datetime.fromtimestamp(1_614_265_330, tz=UTC)
    headers = webhook_signatures.sign_headers(secrets=[secret], message_id=message_id, now=at, body=body)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    by_hand = hmac.new(key, f"{message_id}.1614265330.".encode() + body, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(by_hand).decode()
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    elsewhere = at.astimezone(timezone(timedelta(hours=9)))
    assert webhook_signatures.sign_headers(secrets=[secret], message_id=message_id, now=elsewhere, body=body) == headers


@given(body=st.text(max_size=200), flip=st.integers(min_value=0, max_value=10_000), late=st.sampled_from((-6, 6)))
def test_a_receiver_with_the_published_package_refuses_a_changed_body_and_another_time(
    body: str, flip: int, late: int
) -> None:
    secret, now = webhook_signatures.make_secret(), clock.now()
    headers = webhook_signatures.sign_headers(secrets=[secret], message_id="msg_1", now=now, body=body.encode())
    receive(secret, headers, body.encode())
    place = flip % (len(body) + 1)
    changed = f"{body[:place]}!{body[place:]}"
    old = webhook_signatures.sign_headers(
        secrets=[secret], message_id="msg_1", now=now + timedelta(minutes=late), body=body.encode()
    )
    for text, given_headers in ((changed, headers), (body, old)):
        with pytest.raises(WebhookVerificationError):
            receive(secret, given_headers, text.encode())


@pytest.mark.django_db(transaction=True)
def test_an_event_reaches_the_receiver_signed_and_once(make_agent: MakeAgent, receiver: Receiver) -> None:
    agent, other = make_agent(), make_agent()
    emit(agent.golem.pk, 1)
    _endpoint, secret = make_endpoint(agent, receiver.url, ("tool:*",))
    emit(agent.golem.pk, 2)
    emit(other.golem.pk, 3)
    event_bus.emit(golem_id=agent.golem.pk, event=Event(EventType.HALT_STARTED, {"reason": "x"}), now=clock.now())
    assert webhooks.spread_events(now=clock.now()) == 1
    assert webhooks.spread_events(now=clock.now()) == 0
    assert deliver_all(clock.now()) == 1
    assert deliver_all(clock.now()) == 0
    [(headers, body)] = receiver.got
    receive(secret.reveal(), headers, body)
    event = OutboxEvent.objects.get(payload__duration_ms=2)
    assert headers["webhook-id"] == f"msg_{event.pk.hex}"
    data = json.loads(body)
    assert (data["type"], data["data"]["event_id"], data["data"]["sequence"]) == ("tool:end", str(event.pk), 2)


@pytest.mark.django_db(transaction=True)
def test_an_endpoint_of_one_golem_hears_of_no_other_of_its_owner(make_agent: MakeAgent, receiver: Receiver) -> None:
    agent = make_agent()
    sister = factories.make_golem(owner=agent.golem.owner, name="Sister")
    webhooks.create_endpoint(
        owner=agent.golem.owner, golem=agent.golem, label="hook", url=receiver.url, types=(), now=clock.now()
    )
    emit(sister.pk, 1)
    assert webhooks.spread_events(now=clock.now()) == 0
    emit(agent.golem.pk, 2)
    assert webhooks.spread_events(now=clock.now()) == 1


@pytest.mark.django_db(transaction=True)
def test_the_tasks_deliver_too_and_two_of_them_try_once(
    make_agent: MakeAgent, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    asked: list[dict[str, str]] = []
    monkeypatch.setattr(worker_dispatch, "enqueue", lambda _task, **told: asked.append(told))
    assert tasks.spread_webhooks_task() == 1
    threads = [threading.Thread(target=_run_task, args=(asked[0],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receiver.got) == 1


@pytest.mark.django_db(transaction=True)
def test_a_delivery_that_another_worker_claims_while_this_one_waits_for_the_row_is_left_to_it(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    delivery = WebhookDelivery.objects.get()
    late = threading.Thread(target=_deliver_and_close, args=(delivery.pk,))
    with transaction.atomic():
        WebhookDelivery.objects.update(next_attempt_at=NOW + timedelta(seconds=60), attempts=1)
        late.start()
        give_up = clock.Deadline.after_ms(60_000)
        while not _somebody_waits_for_a_row():
            assert not give_up.is_over, "the second worker never came to the row"
    late.join()
    delivery.refresh_from_db()
    assert (delivery.attempts, receiver.got) == (1, [])


def _somebody_waits_for_a_row() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT 1 FROM pg_locks AS waiting JOIN pg_stat_activity AS who USING (pid) "
            "WHERE NOT waiting.granted AND who.datname = current_database())"
        )
        return bool(cursor.fetchone()[0])


def _deliver_and_close(delivery_id: Any) -> None:
    try:
        deliver(delivery_id, NOW)
    finally:
        connections.close_all()


def _run_task(told: dict[str, str]) -> None:
    try:
        tasks.deliver_webhooks_task(**told)
    finally:
        connections.close_all()


@pytest.mark.django_db(transaction=True)
def test_a_failing_receiver_is_tried_for_a_day_then_given_up_switched_off_and_replayed(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    endpoint, _ = make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    receiver.statuses = [500] * 20
    delivery, now, tries = WebhookDelivery.objects.get(), NOW, []
    while delivery.state == DeliveryState.WAITING:
        now = delivery.next_attempt_at or now
        assert not deliver(delivery.pk, now - timedelta(seconds=1))
        deliver(delivery.pk, now)
        tries.append((now - NOW).total_seconds())
        delivery.refresh_from_db()
    gaps = [later - earlier for earlier, later in zip(tries, tries[1:], strict=False)]
    assert len(receiver.got) == len(tries) == len(deliveries.RETRY_AFTER_SECONDS) + 1
    assert gaps[:-1] == sorted(gaps[:-1])
    assert 23 * 3600 < tries[-1] <= 24 * 3600
    assert (delivery.state, delivery.last_status, delivery.attempts) == (DeliveryState.DEAD, 500, len(tries))
    assert {headers["webhook-id"] for headers, _ in receiver.got} == {f"msg_{delivery.event_id.hex}"}

    emit(agent.golem.pk, 2)
    webhooks.spread_events(now=now)
    receiver.statuses = [500]
    deliver_all(now + timedelta(hours=1))
    endpoint.refresh_from_db()
    assert endpoint.disabled_at is not None
    assert "24 hours" in endpoint.disabled_reason
    assert list(webhooks.list_disabled(agent.golem.owner)) == [endpoint]
    assert OutboxEvent.objects.filter(golem_id=agent.golem.pk, type="stream:webhook_disabled").count() == 1
    assert AuditEntry.objects.filter(golem_id=agent.golem.pk, event="WebhookDisabled").count() == 1
    assert list_due(now + timedelta(days=2)) == []

    receiver.statuses, receiver.got = [], []
    webhooks.enable_endpoint(endpoint=endpoint, now=now)
    assert deliveries.replay(deliveries=WebhookDelivery.objects.filter(pk=delivery.pk), now=now) == 1
    webhooks.spread_events(now=now)
    deliver_all(now + timedelta(days=2))
    numbers = [json.loads(body)["data"]["payload"].get("duration_ms") for _, body in receiver.got]
    # What happened while it was off, the notice included, is not left out.
    assert sorted(str(number) for number in numbers) == ["1", "2", "None"]


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_dies_in_the_middle_is_followed_by_another_try(
    make_agent: MakeAgent, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    [delivery_id] = list_due(NOW)
    with monkeypatch.context() as patch:
        patch.setattr(deliveries, "_record", _die)
        with pytest.raises(SystemExit):
            deliver(delivery_id, NOW)
    assert list_due(NOW + timedelta(seconds=30)) == []
    assert deliver(delivery_id, NOW + timedelta(seconds=61))
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert len(receiver.got) == 2


def _die(*_args: Any, **_options: Any) -> None:
    raise SystemExit


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("status", "extra"), [(302, {"Location": "http://169.254.169.254/"}), (410, {}), (429, {"Retry-After": "900"})]
)
def test_redirects_are_not_followed_gone_switches_off_and_retry_after_is_kept(
    make_agent: MakeAgent, receiver: Receiver, status: int, extra: dict[str, str]
) -> None:
    agent = make_agent()
    endpoint, _ = make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    receiver.statuses, receiver.extra = [status], extra
    deliver_all(NOW)
    endpoint.refresh_from_db()
    delivery = WebhookDelivery.objects.get()
    assert (len(receiver.got), delivery.last_status) == (1, status)
    assert (endpoint.disabled_at is not None) == (status == 410)
    assert delivery.next_attempt_at is not None
    assert delivery.next_attempt_at - NOW >= timedelta(seconds=900 if status == 429 else 5)


@pytest.mark.django_db(transaction=True)
def test_who_no_longer_owns_a_golem_hears_no_more_of_it(make_agent: MakeAgent, receiver: Receiver) -> None:
    agent, buyer = make_agent(), make_agent()
    make_endpoint(agent, receiver.url)
    agent.golem.owner = buyer.golem.owner
    agent.golem.save()
    emit(agent.golem.pk, 1)
    assert webhooks.spread_events(now=NOW) == 0


@pytest.mark.django_db(transaction=True)
def test_a_secret_is_sealed_in_its_row_rotates_with_an_overlap_and_is_in_no_body(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    endpoint, first = make_endpoint(agent, receiver.url)
    row = bytes(WebhookEndpoint.objects.get().sealed_secret)
    assert base64.b64decode(first.reveal().removeprefix("whsec_")) not in row
    assert first.reveal().encode() not in row
    second = webhook_secret_rotation.rotate_secret(endpoint=endpoint, now=clock.now())
    payload = {"alerts": [{"note": f"see {second.reveal()} and {agent.key.token}"}]}
    event_bus.emit(golem_id=agent.golem.pk, event=Event(EventType.HEARTBEAT_ALERT, payload), now=clock.now())
    webhooks.spread_events(now=clock.now())
    assert deliver_all(clock.now()) == 1
    [(headers, body)] = receiver.got
    for secret in (first, second):
        receive(secret.reveal(), headers, body)
    assert second.reveal() not in body.decode()
    assert agent.key.token not in body.decode()
    later = clock.now() + timedelta(hours=25)
    assert webhook_secret_rotation.reveal_secrets(WebhookEndpoint.objects.get(), now=later) == [second.reveal()]
