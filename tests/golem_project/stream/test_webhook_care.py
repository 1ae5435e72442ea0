"""What a webhook promises while people, roles and rows change under it: asked again, paused, rotated, removed, well."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse

from archetypes_app.models import GolemMember
from archetypes_app.roles import Role
from golem_project.stream import webhook_secret_rotation, webhooks
from golem_project.stream.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tests import factories
from tests.golem_project.pi.conftest import Agent, MakeAgent
from tests.golem_project.stream.conftest import emit
from tests.golem_project.stream.delivering import deliver_all
from tests.golem_project.stream.test_webhooks import make_endpoint, receive
from tests.receiver import Receiver
from tools_app.core import clock

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def make_viewers_endpoint(agent: Agent, url: str, name: str = "vera") -> WebhookEndpoint:
    """An endpoint of somebody who may look at the agent's golem."""
    viewer = factories.make_owner(name=name)
    GolemMember.objects.create(golem=agent.golem, person=viewer, role=Role.VIEWER, since=NOW)
    endpoint, _ = webhooks.create_endpoint(
        owner=viewer, golem=None, label="hook", url=url, types=["tool:*"], now=clock.now()
    )
    return endpoint


def end_role(endpoint: WebhookEndpoint) -> None:
    GolemMember.objects.filter(person=endpoint.owner).delete()


def deactivate(endpoint: WebhookEndpoint) -> None:
    # In the database alone, so that nothing but the delivery's own look can notice it.
    type(endpoint.owner).objects.filter(pk=endpoint.owner.pk).update(is_active=False)


def narrow_to_another_golem(endpoint: WebhookEndpoint) -> None:
    WebhookEndpoint.objects.update(golem=factories.make_golem(owner=endpoint.owner, name="Another"))


@pytest.mark.parametrize("end", [end_role, deactivate, narrow_to_another_golem])
def test_what_waits_for_somebody_who_may_not_see_the_golem_any_more_is_not_sent(
    make_agent: MakeAgent, receiver: Receiver, end: object
) -> None:
    agent = make_agent()
    endpoint = make_viewers_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    assert webhooks.spread_events(now=NOW) == 1
    assert callable(end)
    end(endpoint)
    assert deliver_all(NOW) == 0
    delivery = WebhookDelivery.objects.get()
    assert receiver.got == []
    assert (delivery.state, delivery.last_status) == (DeliveryState.DEAD, None)
    assert "may not see" in delivery.last_error
    assert WebhookEndpoint.objects.get(pk=endpoint.pk).failing_since is None, "its receiver did nothing wrong"


def test_an_account_that_was_switched_off_gets_no_event_of_that_time(make_agent: MakeAgent, receiver: Receiver) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    agent.golem.owner.is_active = False
    agent.golem.owner.save(update_fields=["is_active"])
    emit(agent.golem.pk, 1)
    assert webhooks.spread_events(now=NOW) == 0


@pytest.mark.parametrize("is_ticked", [True, False])
def test_what_was_given_up_is_not_sent_again_to_somebody_whose_role_ended_and_the_page_says_so(
    make_agent: MakeAgent, receiver: Receiver, is_ticked: bool
) -> None:
    agent = make_agent()
    endpoint = make_viewers_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    deliver_all(NOW)
    assert len(receiver.got) == 1
    end_role(endpoint)
    client, delivery = Client(), WebhookDelivery.objects.get()
    client.force_login(endpoint.owner)
    if is_ticked:
        page, body = "admin:stream_webhookdelivery_changelist", {"action": "replay_selected"}
        answer = client.post(reverse(page), {**body, "_selected_action": [str(delivery.pk)]}, follow=True)
    else:
        answer = client.post(reverse("admin:stream_webhookdelivery_replay", args=[delivery.pk]), follow=True)
    assert "may not see their golem any more" in answer.content.decode()
    deliver_all(clock.now())
    delivery.refresh_from_db()
    assert (delivery.state, len(receiver.got)) == (DeliveryState.DELIVERED, 1)

    GolemMember.objects.create(golem=agent.golem, person=endpoint.owner, role=Role.VIEWER, since=NOW)
    client.post(reverse("admin:stream_webhookdelivery_replay", args=[delivery.pk]))
    deliver_all(clock.now())
    assert len(receiver.got) == 2


def test_after_two_rotations_in_a_day_every_secret_is_good_for_its_24_hours(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    endpoint, first = make_endpoint(agent, receiver.url)
    at = clock.now()
    second = webhook_secret_rotation.rotate_secret(endpoint=endpoint, now=at - timedelta(hours=2))
    third = webhook_secret_rotation.rotate_secret(endpoint=endpoint, now=at - timedelta(hours=1))
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=at)
    assert deliver_all(at) == 1
    [(headers, body)] = receiver.got
    for secret in (first, second, third):
        receive(secret.reveal(), headers, body)
    later = at + timedelta(hours=22, minutes=30)
    assert webhook_secret_rotation.reveal_secrets(endpoint, now=later) == [third.reveal(), second.reveal()]
    assert webhook_secret_rotation.reveal_secrets(endpoint, now=at + timedelta(hours=23)) == [third.reveal()]


def test_a_secret_that_is_rotated_without_end_says_when_it_can_be_again(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    endpoint, _ = make_endpoint(agent, receiver.url)
    owner = agent.golem.owner
    owner.is_staff = True
    owner.save()
    owner.groups.add(*factories.make_owner(name="x").groups.all())
    client = Client()
    client.force_login(owner)
    rotate = reverse("admin:stream_webhookendpoint_rotate", args=[endpoint.pk])
    pages = [client.post(rotate).content.decode() for _ in range(webhook_secret_rotation.MOST_OLD_SECRETS + 1)]
    assert all("whsec_" in page for page in pages[:-1])
    assert "rotate again when the oldest ends" in pages[-1]
    assert "whsec_" not in pages[-1]


def test_two_rotations_at_once_keep_each_others_secrets(make_agent: MakeAgent, receiver: Receiver) -> None:
    agent = make_agent()
    endpoint, first = make_endpoint(agent, receiver.url)
    at, made, start = clock.now(), [], threading.Barrier(3)

    def rotate() -> None:
        mine = WebhookEndpoint.objects.get(pk=endpoint.pk)
        start.wait(30)
        made.append(webhook_secret_rotation.rotate_secret(endpoint=mine, now=at).reveal())
        connections.close_all()

    threads = [threading.Thread(target=rotate) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    kept = webhook_secret_rotation.reveal_secrets(WebhookEndpoint.objects.get(), now=at)
    assert sorted(kept) == sorted([first.reveal(), *made])


def test_the_pause_after_a_receiver_that_hung_begins_when_it_was_given_up(
    make_agent: MakeAgent, receiver: Receiver, settings: object
) -> None:
    settings.GOLEM_WEBHOOK_TIMEOUT_SECONDS = 1.0  # type: ignore[attr-defined]
    agent, over = make_agent(), threading.Event()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    receiver.before_answer = lambda: over.wait(60)
    deliver_all(NOW)
    over.set()
    delivery = WebhookDelivery.objects.get()
    assert delivery.next_attempt_at is not None
    assert delivery.next_attempt_at - NOW >= timedelta(seconds=6), "a second of waiting, and five of pause"


def test_a_delivery_that_is_older_than_a_day_is_given_up_with_its_next_failure(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    receiver.statuses = [500] * 20
    deliver_all(NOW)
    late = NOW + timedelta(hours=24)
    for _ in range(12):
        deliver_all(late)
    delivery = WebhookDelivery.objects.get()
    assert len(receiver.got) == 2
    assert (delivery.state, delivery.attempts) == (DeliveryState.DEAD, 2)


def test_switched_on_again_what_waited_has_its_day_anew(make_agent: MakeAgent, receiver: Receiver) -> None:
    agent = make_agent()
    endpoint, _ = make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    receiver.statuses = [500] * 3
    deliver_all(NOW)
    webhooks.disable_endpoint(endpoint=endpoint, reason="by hand", now=NOW)
    late = NOW + timedelta(days=3)
    webhooks.enable_endpoint(endpoint=endpoint, now=late)
    deliver_all(late)
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.first_tried_at) == (DeliveryState.WAITING, 1, late)
    assert delivery.next_attempt_at is not None and delivery.next_attempt_at >= late + timedelta(seconds=5)


@pytest.mark.parametrize("status", [200, 410, 500])
def test_a_webhook_that_is_removed_while_it_is_sent_to_fails_nothing(
    make_agent: MakeAgent, receiver: Receiver, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1, 2)
    webhooks.spread_events(now=NOW)
    receiver.statuses = [status]

    def remove() -> None:
        try:
            WebhookEndpoint.objects.all().delete()
        finally:
            connections.close_all()

    receiver.before_answer = remove
    deliver_all(NOW)
    assert len(receiver.got) == 1, "what was not sent yet is not sent any more"
    assert not WebhookDelivery.objects.exists()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_webhook_that_is_removed_while_it_has_failed_for_a_day_fails_nothing(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    WebhookEndpoint.objects.update(failing_since=NOW - timedelta(days=2))
    receiver.statuses = [500]

    def remove() -> None:
        WebhookEndpoint.objects.all().delete()
        connections.close_all()

    receiver.before_answer = remove
    deliver_all(NOW)
    assert not WebhookEndpoint.objects.exists()


def test_one_success_clears_what_failed_before_so_the_next_24_hours_begin_anew(
    make_agent: MakeAgent, receiver: Receiver
) -> None:
    agent = make_agent()
    endpoint, _ = make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    receiver.statuses = [500, 200, 500]
    deliver_all(NOW)
    endpoint.refresh_from_db()
    assert endpoint.failing_since is not None
    deliver_all(NOW + timedelta(hours=1))
    endpoint.refresh_from_db()
    assert endpoint.failing_since is None
    emit(agent.golem.pk, 2)
    late = NOW + timedelta(hours=25)
    webhooks.spread_events(now=late)
    deliver_all(late)
    endpoint.refresh_from_db()
    assert (endpoint.disabled_at, len(receiver.got)) == (None, 3)
    assert endpoint.failing_since is not None and endpoint.failing_since >= late


def test_what_a_late_try_says_does_not_undo_what_a_later_one_did(make_agent: MakeAgent, receiver: Receiver) -> None:
    agent = make_agent()
    make_endpoint(agent, receiver.url)
    emit(agent.golem.pk, 1)
    webhooks.spread_events(now=NOW)
    receiver.statuses = [200, 500]
    calls: list[bool] = []

    def be_overtaken() -> None:
        """The lease of the first runs out while it hangs, and the second is taken."""
        if calls:
            return
        calls.append(True)
        deliver_all(NOW + timedelta(seconds=61))
        connections.close_all()

    receiver.before_answer = be_overtaken
    deliver_all(NOW)
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts, len(receiver.got)) == (DeliveryState.DELIVERED, 2, 2)
