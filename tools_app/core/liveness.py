"""Signs of life of beat and of each queue, seen by whoever asks and not by those who give them.

A sign is the time of whoever gave it. One from the future is as little worth as an old one: somebody's clock is wrong.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import redis
from django.conf import settings

from tools_app.core import broker

logger = logging.getLogger(__name__)

BEAT: Final = "beat"
EVERY_SECONDS: Final = 5.0
SILENT_AFTER: Final = timedelta(seconds=40)
"""Of beat and of a queue: within a minute somebody who asks every few seconds knows."""
_KEY: Final = "golem:pulses"


@dataclass(frozen=True, slots=True)
class Silence:
    """What gives no sign of life; `since` None where it never did, `is_ahead` where its last one is yet to come."""

    name: str
    since: datetime | None
    is_ahead: bool = False

    @property
    def reason(self) -> str:
        """Why, in words."""
        if self.name == BEAT:
            what = "beat sends no scheduled work: no heartbeat, sweep, reconciler or webhook begins"
        else:
            what = f"no worker takes what is scheduled on the queue {self.name.removeprefix('queue ')}"
        return f"{what}; its clock is ahead of this server's" if self.is_ahead else what


def beat(name: str, *, now: datetime) -> None:
    """`name` is alive. A broker that is away is nothing to fail for: then nothing goes on anyway."""
    try:
        broker.connect().hset(_KEY, name, now.isoformat())
    except redis.RedisError as error:
        logger.warning("a sign of life was not noted: %s", type(error).__name__)


def list_queues() -> list[str]:
    """The queues of the product, by their names as they pulse."""
    return sorted({f"queue {route['queue']}" for route in settings.CELERY_TASK_ROUTES.values()})


def list_silent(*, now: datetime) -> list[Silence]:
    """What gives no sign of life now, beat first. Raises RedisError."""
    found = {name.decode(): text.decode() for name, text in broker.connect().hgetall(_KEY).items()}
    silent = []
    for name in (BEAT, *list_queues()):
        at = _read(found.get(name))
        if at is None or abs(now - at) > SILENT_AFTER:
            silent.append(Silence(name, since=at, is_ahead=at is not None and at > now))
    # Without beat nobody sends the queues their pulse: that they are silent says nothing of them.
    return silent[:1] if silent and silent[0].name == BEAT else silent


def _read(text: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
