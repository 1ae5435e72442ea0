"""Receivers and files of strangers whose names nobody answers: whoever asks waits for seconds and no longer."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.stream import webhooks
from golem_project.stream.models import WebhookDelivery, WebhookEndpoint
from tests.golem_project.pi.conftest import MakeAgent
from tests.golem_project.stream.conftest import emit
from tests.golem_project.stream.delivering import deliver_all
from tests.receiver import Receiver
from tests.silent_names import SilentNames
from tests.silent_names import silent_names as silent_names
from tools_app.core import clock
from tools_app.protocols.erc8004.registration_file import fetch_file


@pytest.mark.django_db(transaction=True)
def test_a_receiver_whose_name_hangs_holds_its_place_for_seconds(
    make_agent: MakeAgent, receiver: Receiver, settings: Any, silent_names: SilentNames
) -> None:
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True
    agent = make_agent()
    made, _ = webhooks.create_endpoint(
        owner=agent.golem.owner, golem=None, label="hook", url=receiver.url, types=(), now=clock.now()
    )
    # The name answered when it was written down.
    WebhookEndpoint.objects.filter(pk=made.pk).update(url="https://hooks.silent/")
    emit(agent.golem.pk, 1)
    assert webhooks.spread_events(now=clock.now()) == 1
    deliver_all(clock.now())
    assert silent_names.ended == 0
    delivery = WebhookDelivery.objects.get()
    assert delivery.last_error == "the host name was not resolved in time"


def test_a_file_of_an_agent_whose_name_hangs_costs_the_tool_its_own_time(silent_names: SilentNames) -> None:
    fetch_file("https://agents.silent/card.json", seconds=0.5)
    assert silent_names.ended == 0
