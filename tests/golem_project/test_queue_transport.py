"""A task that a worker took is noted until it is acknowledged, and handed out again when it never is."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from django.conf import settings

from golem_project.celery import app
from golem_project.runtime.queue_transport import QoS
from tests.dropping_proxy import DroppingProxy


def take(name: str, taken: list[Any]) -> tuple[Any, Any]:
    connection = app.connection_for_write()
    queue = connection.SimpleQueue(name)
    queue.consumer.callbacks = [lambda body, message: taken.append(message)]
    queue.consumer.consume()
    return connection, queue


def test_what_was_taken_is_noted_and_struck_off_once_it_is_acknowledged() -> None:
    name, taken = f"test-{uuid.uuid4().hex}", list[Any]()
    server = redis.Redis.from_url(settings.REDIS_URL)
    connection, queue = take(name, taken)
    with connection:
        qos = queue.channel.qos
        assert type(qos) is QoS
        queue.put({"permit_id": "é", "waits": None})
        connection.drain_events(timeout=10)
        (message,) = taken
        tag = message.delivery_tag
        assert server.hexists(qos.unacked_key, tag)
        assert server.zscore(qos.unacked_index_key, tag) is not None
        message.ack()
        assert not server.hexists(qos.unacked_key, tag)
        assert server.zscore(qos.unacked_index_key, tag) is None
        assert message.payload == {"permit_id": "é", "waits": None}


def test_what_is_never_acknowledged_is_handed_out_again() -> None:
    name, taken = f"test-{uuid.uuid4().hex}", list[Any]()
    connection, queue = take(name, taken)
    with connection:
        queue.put({"permit_id": "one"})
        connection.drain_events(timeout=10)
        queue.channel.qos.restore_by_tag(taken[0].delivery_tag)
        connection.drain_events(timeout=10)
        assert [message.payload for message in taken] == [{"permit_id": "one"}] * 2
        taken[1].ack()


def test_what_a_worker_has_in_hand_when_the_broker_is_lost_is_a_lost_connection_and_no_end_of_it() -> None:
    name, taken = f"test-{uuid.uuid4().hex}", list[Any]()
    connection, queue = take(name, taken)
    queue.put({"permit_id": "one"})
    connection.drain_events(timeout=10)
    errors, channel = connection.connection_errors, queue.channel
    # As a worker does it that lost its broker: the connection is given up while a thread still works on the task.
    channel._disconnect_pools()
    connection._do_close_transport()
    with pytest.raises(errors):
        taken[0].ack()
    with pytest.raises(errors):
        channel.qos.restore_unacked()
    # What the library forgives of a lost connection it forgives of this.
    connection.maybe_close_channel(channel)


def test_a_worker_tries_its_broker_again_every_second_however_long_it_was_away() -> None:
    """A worker, and beat, would take nothing for as long as they wait before the try that succeeds."""
    address = urlsplit(settings.REDIS_URL)
    proxy = DroppingProxy(str(address.hostname), int(address.port or 6379))
    line = address._replace(netloc=address.netloc.rpartition("@")[0] + f"@127.0.0.1:{proxy.port}").geturl()
    waits = list[float]()

    def note(_: Exception, seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            proxy.come_back()

    proxy.go_away()
    with app.connection_for_read(url=line) as connection:
        connection.ensure_connection(note, app.conf.broker_connection_max_retries)
        assert connection.connected
    proxy.close()
    assert set(waits) == {1.0} and len(waits) >= 3
    assert app.conf.broker_connection_max_retries is None, "it gives up never"
