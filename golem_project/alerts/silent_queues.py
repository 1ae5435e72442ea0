"""Operators are told that beat or a queue gives no sign of life, by a server that needs neither to tell them.

All other alerts are gathered by work that beat sends: of its own silence it could say nothing. Each web server looks
every few seconds; whoever sees a silence first tells it once, and again after an hour.
"""

from __future__ import annotations

import logging
import threading
from datetime import datetime
from typing import Final

import redis
from django.db import DatabaseError, close_old_connections, connections

from golem_project.alerts.models import AlertChannel
from golem_project.alerts.sending import NotSent, send_lines
from tools_app.core import broker, clock
from tools_app.core.liveness import Silence, list_silent

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS: Final = 10.0
_FIRST_LOOK_SECONDS: Final = 60.0
_TOLD_AGAIN_SECONDS: Final = 3_600


class SilenceWatch:
    """One server's look at the signs of life. What is silent at two looks after each other is told."""

    def __init__(self) -> None:
        self._seen: frozenset[str] = frozenset()
        self._stop = threading.Event()

    def start(self) -> None:
        """Look in a thread of its own until the process ends; the first time when the others had time to start."""
        threading.Thread(target=self._run, name="silence", daemon=True).start()

    def look(self, *, now: datetime) -> list[str]:
        """Tell what is silent now and was at the look before, to whom it was not told lately; the names told."""
        silent = list_silent(now=now)
        told = [each.name for each in silent if each.name in self._seen and _claim(each.name)]
        lines = [_say(each) for each in silent if each.name in told]
        for gone in self._seen - {each.name for each in silent}:
            broker.connect().delete(_key(gone))
        self._seen = frozenset(each.name for each in silent)
        if lines:
            logger.error("silent: %s", "; ".join(lines))
            _tell_operators(lines)
        return told

    def _run(self) -> None:
        pause = _FIRST_LOOK_SECONDS
        while not self._stop.wait(pause):
            pause = LOOK_EVERY_SECONDS
            try:
                close_old_connections()
                self.look(now=clock.now())
            except (DatabaseError, redis.RedisError) as error:
                logger.warning("signs of life cannot be looked for: %s", type(error).__name__)
            finally:
                connections.close_all()


def _tell_operators(lines: list[str]) -> None:
    channels = AlertChannel.objects.filter(
        disabled_at__isnull=True, confirmed_at__isnull=False, person__is_superuser=True, person__is_active=True
    )
    for channel in list(channels):
        connections.close_all()
        try:
            send_lines(channel, lines)
        except NotSent as error:
            logger.warning("channel %s was not told of a silence: %s", channel.pk, error)


def _say(silence: Silence) -> str:
    since = f" since {silence.since:%Y-%m-%d %H:%M:%S} UTC" if silence.since is not None else ""
    return f"This server: {silence.reason}{since}. See /readyz."


def _claim(name: str) -> bool:
    return bool(broker.connect().set(_key(name), "told", nx=True, ex=_TOLD_AGAIN_SECONDS))


def _key(name: str) -> str:
    return f"golem:silence-told:{name}"
