"""Keeps the newest events in a Redis stream, which wakes readers and spares them the database.

It is a copy. Whoever adds to it first fills what is missing before, so a reader meets a hole only after a broker came
back empty; what the ring lacks is read from the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol
from uuid import UUID

from redis.exceptions import NoScriptError, RedisError

from tools_app.core import clock
from tools_app.core.events import LoggedEvent

logger = logging.getLogger(__name__)

STREAM_KEY = "golem:events"
STREAM_LENGTH = 10_000
# A ring that does not answer is left alone this long; readers take the log itself meanwhile.
_REST_MS = 1_000.0
# Positions count from 1, so 0 never is the newest of a ring that has any.
_ADDED = -1

# One command for a whole batch: KEYS[1] the ring; ARGV the first position, the most to keep, whether a hole before the
# first is allowed, then golem, type and event of each. What is there already is left alone, so two writers may add the
# same. Answers the newest position when the ring lacks something before the first, else -1.
_ADD_SCRIPT = """
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local last = newest[1] and tonumber(string.match(newest[1][1], '^%d+')) or 0
local first = tonumber(ARGV[1])
if ARGV[3] == '0' and last > 0 and last < first - 1 then return last end
for index = 4, #ARGV, 3 do
  local place = first + (index - 4) / 3
  if place > last then
    redis.call('XADD', KEYS[1], string.format('%.0f-0', place),
               'golem_id', ARGV[index], 'type', ARGV[index + 1], 'event', ARGV[index + 2])
  end
end
redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[2])
return -1
"""


class RingClient(Protocol):
    """What the ring needs of a Redis client."""

    def evalsha(self, sha: str, numkeys: int, *keys_and_args: object) -> object: ...

    def script_load(self, script: str) -> object: ...

    def xrange(self, name: str, min: str, max: str, count: int) -> list[tuple[bytes, dict[bytes, bytes]]]: ...


_open_client: Callable[[], RingClient] | None = None
_rests_until_ms = 0.0
_add_sha = ""


def configure(open_client: Callable[[], RingClient]) -> None:
    """Hand the ring its client once, at start-up."""
    global _open_client
    _open_client = open_client


def open_ring() -> RingClient | None:
    """The client, or None when this process has none or it failed a moment ago."""
    if _open_client is None or clock.monotonic_ms() < _rests_until_ms:
        return None
    return _open_client()


def rest_ring(error: Exception) -> None:
    """Note that the ring failed: it is left alone for a moment."""
    global _rests_until_ms
    _rests_until_ms = clock.monotonic_ms() + _REST_MS
    logger.warning("the event ring does not answer: %s", type(error).__name__)


def ring_key(log_id: UUID | str) -> str:
    """The Redis key of the ring of one log."""
    return f"{STREAM_KEY}:{log_id}"


def add_events(log_id: UUID, events: Sequence[LoggedEvent], *, allows_hole: bool = False) -> int | None:
    """Add consecutive events. Returns the newest position there is when some before them are missing, and adds none.

    A ring that does not answer is no error: None, and readers take the log.
    """
    ring = open_ring()
    if ring is None or not events:
        return None
    arguments: list[object] = [events[0].position, STREAM_LENGTH, int(allows_hole)]
    for event in events:
        arguments += (event.golem_id, event.type, event.body)
    try:
        answer = int(_run_script(ring, ring_key(log_id), arguments))
    except (RedisError, OSError) as error:
        rest_ring(error)
        return None
    return None if answer == _ADDED else answer


def read_events(log_id: UUID, *, after: int, until: int, limit: int) -> list[LoggedEvent]:
    """The events after a position, up to a hole; empty when it lacks the first or does not answer."""
    ring = open_ring()
    if ring is None:
        return []
    try:
        entries = ring.xrange(ring_key(log_id), f"{after + 1}-0", f"{until}-0", limit)
    except (RedisError, OSError) as error:
        rest_ring(error)
        return []
    return follow(after, entries)


def follow(position: int, entries: Iterable[tuple[bytes, dict[bytes, bytes]]]) -> list[LoggedEvent]:
    """Entries of the ring as events, up to the first hole after `position`."""
    events: list[LoggedEvent] = []
    for entry_id, fields in entries:
        position += 1
        if entry_id != b"%d-0" % position:
            break
        events.append(
            LoggedEvent(position, fields[b"golem_id"].decode(), fields[b"type"].decode(), fields[b"event"].decode())
        )
    return events


def _run_script(
    ring: RingClient,
    key: str,
    arguments: Sequence[object],
) -> Any:  # Any: redis-py's answers have no types
    global _add_sha
    if _add_sha:
        try:
            return ring.evalsha(_add_sha, 1, key, *arguments)
        except NoScriptError:
            # A broker that was restarted has forgotten it.
            _add_sha = ""
    sha = ring.script_load(_ADD_SCRIPT)
    _add_sha = sha.decode() if isinstance(sha, bytes) else str(sha)
    return ring.evalsha(_add_sha, 1, key, *arguments)
