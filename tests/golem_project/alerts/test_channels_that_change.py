"""A channel that hangs, or is removed while it is told."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from archetypes_app.models import Golem
from tests import factories
from tests.golem_project.alerts.room import make_channel, run
from tests.receiver import Receiver
from tools_app.core import clock, event_bus
from tools_app.core.events import Event, EventType

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def golem() -> Golem:
    return factories.make_golem(owner=factories.make_owner())


def tell(golem: Golem) -> None:
    event_bus.emit(golem_id=golem.pk, event=Event(EventType.HALT_RESUMED, {"reason": "x"}), now=clock.now())


def test_the_pause_after_a_chat_that_hung_begins_when_it_was_given_up(
    golem: Golem, receiver: Receiver, settings: Any
) -> None:
    settings.GOLEM_ALERT_TIMEOUT_SECONDS = 1.0
    channel, over = make_channel(golem, receiver.url), threading.Event()
    tell(golem)
    now = clock.now()
    receiver.before_answer = lambda: over.wait(60)
    assert run(now) == 0
    over.set()
    channel.refresh_from_db()
    assert channel.next_try_at is not None and channel.next_try_at - now >= timedelta(seconds=61)


def test_a_channel_that_is_removed_while_it_is_told_fails_nothing(golem: Golem, receiver: Receiver) -> None:
    channel = make_channel(golem, receiver.url)
    tell(golem)

    def remove() -> None:
        channel.delete()
        connections.close_all()

    receiver.before_answer = remove
    assert run() == 1
    assert run() == 0
