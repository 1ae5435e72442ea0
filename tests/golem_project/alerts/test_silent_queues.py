"""Operators are told of a silence by a server that needs neither beat nor a queue for it: once, within a minute."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.contrib.auth import get_user_model

from golem_project.alerts.channels import create_channel
from golem_project.alerts.models import AlertChannel, ChannelKind
from golem_project.alerts.silent_queues import LOOK_EVERY_SECONDS, SilenceWatch
from tests.receiver import Receiver
from tools_app.core import clock, liveness

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def alive(settings: Any) -> Iterator[None]:
    broker = redis.Redis.from_url(settings.REDIS_URL)
    names = (liveness.BEAT, *liveness.list_queues())
    for name in names:
        liveness.beat(name, now=clock.now())
    broker.delete(*(f"golem:silence-told:{name}" for name in names))
    yield
    broker.delete("golem:pulses", *(f"golem:silence-told:{name}" for name in names))


@pytest.fixture
def channel(receiver: Receiver) -> AlertChannel:
    root = get_user_model().objects.create_superuser(username="root", password="x")
    made = create_channel(
        person=root, kind=ChannelKind.WEBHOOK, target={"url": receiver.url}, now=clock.now(), label="ops"
    )
    owner = get_user_model().objects.create(username="ana", is_staff=True)
    create_channel(person=owner, kind=ChannelKind.WEBHOOK, target={"url": receiver.url}, now=clock.now(), label="hers")
    return made


def test_a_silence_of_two_looks_is_told_to_operators_once_with_what_stands_still(
    channel: AlertChannel, receiver: Receiver
) -> None:
    watch, other = SilenceWatch(), SilenceWatch()
    assert watch.look(now=clock.now()) == other.look(now=clock.now()) == []
    liveness.beat(liveness.BEAT, now=clock.now() - timedelta(seconds=50))
    assert watch.look(now=clock.now()) == other.look(now=clock.now()) == []
    assert watch.look(now=clock.now()) == [liveness.BEAT]
    assert other.look(now=clock.now()) == watch.look(now=clock.now()) == []
    (told,) = receiver.got
    assert b"no heartbeat, sweep, reconciler or webhook begins" in told[1] and b"UTC" in told[1]


def test_a_silence_that_ended_and_comes_again_is_told_again(channel: AlertChannel, receiver: Receiver) -> None:
    watch = SilenceWatch()
    for _ in range(2):
        liveness.beat("queue commit", now=clock.now() - timedelta(seconds=50))
        watch.look(now=clock.now())
        assert watch.look(now=clock.now()) == ["queue commit"]
        liveness.beat("queue commit", now=clock.now())
        watch.look(now=clock.now())
    assert len(receiver.got) == 2


def test_from_the_last_sign_to_the_message_it_takes_less_than_a_minute() -> None:
    assert liveness.SILENT_AFTER.total_seconds() + 2 * LOOK_EVERY_SECONDS <= 60
