"""Webhooks in the admin: the secret is shown once, a switched off one says so, and a dead letter is sent again."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from archetypes_app.models import Golem
from golem_project.stream import webhook_secret_rotation, webhooks
from golem_project.stream.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tests import factories
from tools_app.core import clock

pytestmark = pytest.mark.django_db
LIST = "admin:stream_webhookendpoint_changelist"


def log_in(name: str) -> tuple[Client, Golem]:
    owner = factories.make_owner(name=name)
    client = Client()
    client.force_login(owner)
    return client, factories.make_golem(owner=owner)


def test_a_new_webhook_shows_its_secret_once_and_never_again() -> None:
    client, golem = log_in("ana")
    body = {"label": "mine", "url": "http://127.0.0.1:9/hook", "golem": golem.pk, "types": ["permit:*"]}
    made = client.post(reverse("admin:stream_webhookendpoint_add"), body)
    endpoint = WebhookEndpoint.objects.get()
    secret = webhook_secret_rotation.reveal_secrets(endpoint, now=clock.now())[0]
    assert secret in made.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    assert secret not in client.get(reverse("admin:stream_webhookendpoint_change", args=[endpoint.pk])).content.decode()
    assert (endpoint.golem, endpoint.types) == (golem, ["permit:*"])


@pytest.mark.parametrize("url", ["nonsense", "ftp://example.org/", "https://user:pw@example.org/"])
def test_a_url_that_cannot_be_is_said_at_its_field(url: str) -> None:
    client, _golem = log_in("ana")
    answer = client.post(reverse("admin:stream_webhookendpoint_add"), {"label": "x", "url": url})
    assert "url" in answer.context["form"].errors
    assert not WebhookEndpoint.objects.exists()


def test_another_owners_golem_cannot_be_chosen() -> None:
    client, _golem = log_in("ana")
    _, other = log_in("ben")
    body = {"label": "x", "url": "http://127.0.0.1:9/", "golem": other.pk}
    assert "golem" in client.post(reverse("admin:stream_webhookendpoint_add"), body).context["form"].errors


def test_a_switched_off_webhook_gives_notice_and_is_switched_on_again() -> None:
    client, golem = log_in("ana")
    endpoint = factories.make_webhook(golem=golem)
    webhooks.disable_endpoint(endpoint=endpoint, reason="failing for 24 hours".ljust(201, "."), now=clock.now())
    endpoint.refresh_from_db()
    assert len(endpoint.disabled_reason) == 200
    assert "failing for 24 hours" in client.get(reverse(LIST)).content.decode()
    switch = reverse("admin:stream_webhookendpoint_switch", args=[endpoint.pk])
    assert client.get(switch).status_code == 200
    client.post(switch)
    endpoint.refresh_from_db()
    assert endpoint.disabled_at is None
    stranger, _ = log_in("ben")
    assert stranger.post(switch).status_code in (302, 403, 404)
    endpoint.refresh_from_db()
    assert endpoint.disabled_at is None


def test_the_secret_rotates_from_its_page() -> None:
    client, golem = log_in("ana")
    body = {"label": "mine", "url": "http://127.0.0.1:9/hook"}
    client.post(reverse("admin:stream_webhookendpoint_add"), body)
    endpoint = WebhookEndpoint.objects.get()
    before = webhook_secret_rotation.reveal_secrets(endpoint, now=clock.now())
    answer = client.post(reverse("admin:stream_webhookendpoint_rotate", args=[endpoint.pk]))
    endpoint.refresh_from_db()
    after = webhook_secret_rotation.reveal_secrets(endpoint, now=clock.now())
    assert after[0] in answer.content.decode()
    assert after[1:] == before
    assert golem.owner_id == endpoint.owner_id


def test_a_dead_letter_is_sent_again_one_by_one_or_ticked() -> None:
    client, golem = log_in("ana")
    delivery = factories.make_webhook_delivery(golem=golem)
    dead = {"state": DeliveryState.DEAD, "next_attempt_at": None, "attempts": 11}
    for send in (
        lambda: client.post(reverse("admin:stream_webhookdelivery_replay", args=[delivery.pk])),
        lambda: client.post(
            reverse("admin:stream_webhookdelivery_changelist"),
            {"action": "replay_selected", "_selected_action": [str(delivery.pk)]},
        ),
    ):
        WebhookDelivery.objects.filter(pk=delivery.pk).update(**dead)
        send()
        delivery.refresh_from_db()
        assert (delivery.state, delivery.attempts) == (DeliveryState.WAITING, 0)
        assert delivery.next_attempt_at is not None and delivery.next_attempt_at <= clock.now()


def test_a_webhook_is_removed_by_its_owner_alone() -> None:
    client, golem = log_in("ana")
    stranger, _ = log_in("ben")
    endpoint = factories.make_webhook(golem=golem)
    remove = reverse("admin:stream_webhookendpoint_remove", args=[endpoint.pk])
    stranger.post(remove)
    assert WebhookEndpoint.objects.filter(pk=endpoint.pk).exists()
    client.post(remove)
    assert not WebhookEndpoint.objects.filter(pk=endpoint.pk).exists()
