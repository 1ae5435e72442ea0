"""How deep each queue is, and how long its oldest task waits: tasks carry the time at which they were sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tools_app.core import broker, liveness

SENT_AT: Final = "golem_sent_at"
"""The header of a task's message: seconds since 1970."""

LATE_SECONDS: Final = 30.0
"""Longer than an agent waits for a preview: whoever waits behind it was answered that no worker came."""


@dataclass(frozen=True, slots=True)
class QueueState:
    """One queue; `oldest_seconds` is 0 where nothing waits, and where the oldest does not say when it was sent."""

    name: str
    depth: int
    oldest_seconds: float


def stamp(headers: dict[str, object], *, now: datetime) -> None:
    """Write into a message's headers when it was sent; what is sent again keeps its first time."""
    headers.setdefault(SENT_AT, now.timestamp())


def read_waited(headers: Mapping[str, object], *, now: datetime) -> float | None:
    """Seconds since the message with these headers was sent; None where it does not say."""
    sent_at = headers.get(SENT_AT)
    return max(0.0, now.timestamp() - sent_at) if isinstance(sent_at, int | float) else None


def list_queues(*, now: datetime) -> list[QueueState]:
    """Every queue of the product, by name. Raises RedisError."""
    names = [name.removeprefix("queue ") for name in liveness.list_queues()]
    pipe = broker.connect().pipeline(transaction=False)
    for name in names:
        # The transport puts new ones in front and takes from the end.
        pipe.llen(name)
        pipe.lindex(name, -1)
    answers = pipe.execute()
    return [
        QueueState(name, int(depth), _read_oldest(oldest, now))
        for name, depth, oldest in zip(names, answers[::2], answers[1::2], strict=True)
    ]


def list_late(*, now: datetime) -> list[QueueState]:
    """The queues whose oldest task waits for longer than LATE_SECONDS. Raises RedisError."""
    return [queue for queue in list_queues(now=now) if queue.oldest_seconds >= LATE_SECONDS]


def _read_oldest(message: bytes | None, now: datetime) -> float:
    try:
        headers = json.loads(message or b"{}").get("headers", {})
        return read_waited(headers, now=now) or 0.0
    except (ValueError, AttributeError):
        return 0.0
