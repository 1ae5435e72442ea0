"""Gives Celery one broker client per channel, where the library makes a new one for every command.

Making one takes longer than sending its command, and each task is published, noted and acknowledged by commands of
their own. A client is only a wrapper of the channel's connection pool, and may be used by many threads.

What is noted of a task that was taken, for whoever hands it out again when its worker died, is written first and listed
second, and struck off the list first: one without the other is never handed out, and no transaction of the broker is
needed around the two.
"""

from __future__ import annotations

import json
from typing import Any, Final

from celery.app.amqp import AMQP
from kombu import connection as kombu_connection
from kombu.transport import redis as kombu_redis
from kombu.transport import virtual
from redis import exceptions as redis_errors

from tools_app.core import clock

_RETRY_SECONDS: Final = 1.0


class QoS(kombu_redis.QoS):
    """What was taken and is not acknowledged yet, noted and struck off in one round trip each."""

    def append(self, message: Any, delivery_tag: str) -> None:  # Any: the library has no types
        """Note a message that was taken."""
        info = message.delivery_info
        # The library's own encoder is made for more than what came as JSON, and many times slower.
        noted = json.dumps([message._raw, info["exchange"], info["routing_key"]])
        taken_at = clock.now().timestamp()
        self._send(
            ("HSET", self.unacked_key, delivery_tag, noted), ("ZADD", self.unacked_index_key, taken_at, delivery_tag)
        )
        virtual.QoS.append(self, message, delivery_tag)

    def ack(self, delivery_tag: str) -> None:
        """Strike one off."""
        self._send(("ZREM", self.unacked_index_key, delivery_tag), ("HDEL", self.unacked_key, delivery_tag))
        virtual.QoS.ack(self, delivery_tag)

    def _send(self, *commands: tuple[object, ...]) -> None:
        channel: Any = self.channel  # Any: the library has no types
        with channel.conn_or_acquire() as client:
            pool = client.connection_pool
            connection = pool.get_connection()

            def exchange() -> None:
                connection.send_packed_command(connection.pack_commands(commands))
                for _ in commands:
                    connection.read_response()

            try:
                # Each of them done twice is done once, so one that may have arrived is sent again.
                connection.retry.call_with_retry(exchange, lambda _: connection.disconnect())
            except BaseException:
                # What is left unread would be taken for the answer to the next command.
                connection.disconnect()
                raise
            finally:
                pool.release(connection)


class Channel(kombu_redis.Channel):
    """A channel that keeps its client as long as its pool."""

    QoS = QoS
    connection: Any  # Any: the library has no types
    _kept: Any = None  # Any: the library has no types

    def _connparams(self, asynchronous: bool = False) -> object:
        if self.connection is None or self.connection.client is None:
            # The library would fail by an attribute of nothing, which ends a worker: what it has in hand when the
            # broker dies is struck off, or handed back, by a channel whose connection was given up meanwhile.
            raise redis_errors.ConnectionError("the connection of this channel was closed")
        return super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]

    def _create_client(self, asynchronous: bool = False) -> object:
        if asynchronous:
            return super()._create_client(asynchronous=True)  # type: ignore[misc]
        kept = self._kept
        if kept is None or kept.connection_pool is not self.pool:
            kept = self._kept = super()._create_client()  # type: ignore[misc]
        return kept


class Transport(kombu_redis.Transport):
    """`CELERY_BROKER_TRANSPORT = "golem_project.runtime.queue_transport:Transport"`."""

    Channel = Channel


class WatchedChannel(Channel, kombu_redis.SentinelChannel):
    """The same to a broker that Sentinels watch: each new connection asks them which server it is now."""


class WatchedTransport(kombu_redis.SentinelTransport):
    """`CELERY_BROKER_TRANSPORT` where REDIS_URL names Sentinels."""

    Channel = WatchedChannel


class Connection(kombu_connection.Connection):
    """A connection that is tried again every second: the library waits half a minute and more between two tries, and
    as long after the broker is back a worker takes nothing.
    """

    def ensure_connection(self, *args: Any, **named: Any) -> Any:  # Any: as the library has them
        """Itself, once it is connected."""
        paces = {"interval_start": _RETRY_SECONDS, "interval_step": 0, "interval_max": _RETRY_SECONDS}
        return super().ensure_connection(*args, **{**paces, **named})


class Queues(AMQP):
    """Celery's queues, reached by such connections."""

    Connection = Connection
