"""Looks at Valkey or Redis: version, durability, whether it throws anything away, and what gives signs of life."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import redis

from golem_project.doctor.findings import Finding, bad, doubtful, good
from golem_project.runtime.queue_waits import list_late
from tools_app.core import broker, liveness

OLDEST: Final = (6, 2)


def examine_broker(*, now: datetime) -> Iterator[Finding]:
    """Raises RedisError where it does not answer."""
    client = broker.open_client(silence_seconds=3, connect_seconds=3)
    try:
        told = client.info()
        policy = _read_setting(client, "maxmemory-policy") or str(told.get("maxmemory_policy", ""))
    finally:
        client.close()
    version = str(told.get("valkey_version") or told["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        yield bad("broker", f"version {version}", "install Valkey, or Redis 6.2 or newer")
    else:
        yield good("broker", f"version {version}")
    if policy != "noeviction":
        yield bad("broker memory", f"maxmemory-policy is {policy}: tasks are thrown away", "set it to noeviction")
    else:
        yield good("broker memory", "throws nothing away")
    if not told.get("aof_enabled"):
        yield doubtful(
            "broker durability",
            "appendonly is off: tasks in a queue are lost with the server, and found again by sweeps",
            "set appendonly yes",
        )
    else:
        yield good("broker durability", "queues outlive a restart")
    silent = liveness.list_silent(now=now)
    if silent:
        names = ", ".join(each.name for each in silent)
        yield doubtful("signs of life", f"none of {names}", "start beat and a worker of each queue")
    else:
        yield good("signs of life", "beat and every queue")
    late = list_late(now=now)
    if late:
        words = ", ".join(f"{queue.name}: {queue.depth}, {queue.oldest_seconds:.0f} s" for queue in late)
        yield doubtful("queues", words, "start more workers of them")
    else:
        yield good("queues", "nothing waits long")


def _read_setting(client: Any, name: str) -> str:  # Any: a value of any type
    try:
        return str(client.config_get(name).get(name, ""))
    except redis.RedisError:
        # Hosted servers hide it.
        return ""
