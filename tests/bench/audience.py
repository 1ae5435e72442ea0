"""Clients of the event stream in a process of their own: they note when which event came, and resume when cut off.

Run by path with the standard library only; reads one JSON line (port, tokens, clients, cursor, events), writes `ready`
when all are connected and, when each has heard every event, one JSON line with the times. Times are milliseconds on the
machine's monotonic clock, which all its processes share.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any

_NUMBER = re.compile(rb'\nid: (\S+)\nevent: tool:end\ndata: .*?"duration_ms": ?(\d+)')
_READ_BYTES = 1 << 16


@dataclass
class Listener:
    """One client."""

    port: int
    token: str
    cursor: str
    events: int
    heard: dict[int, float] = field(default_factory=dict)
    repeated: int = 0
    connections: int = 0
    is_live: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self) -> None:
        """Follow the stream until every event was heard, coming back where it was cut off."""
        while len(self.heard) < self.events:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(
                f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
                f"Authorization: Bearer {self.token}\r\nLast-Event-ID: {self.cursor}\r\n\r\n".encode()
            )
            self.connections += 1
            try:
                await self._read(reader)
            finally:
                writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        rest = b""
        while len(self.heard) < self.events and (read := await reader.read(_READ_BYTES)):
            now = time.perf_counter() * 1000
            whole, ends, rest = (rest + read).rpartition(b"\n\n")
            if b"retry: " in whole:
                self.is_live.set()
            for found in _NUMBER.finditer(b"\n" + whole + ends):
                number = int(found[2])
                self.repeated += number in self.heard
                self.heard[number] = now
                self.cursor = found[1].decode()
            if b"event: stream:resume" in whole:
                return


async def attend(question: dict[str, Any]) -> dict[str, Any]:
    """All clients at once; what they heard."""
    tokens = question["tokens"]
    listeners = [
        Listener(question["port"], tokens[index % len(tokens)], question["cursor"], question["events"])
        for index in range(question["clients"])
    ]
    tasks = [asyncio.create_task(listener.listen()) for listener in listeners]
    await asyncio.gather(*(listener.is_live.wait() for listener in listeners))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.gather(*tasks)
    return {
        "heard": [sorted(listener.heard.items()) for listener in listeners],
        "repeated": sum(listener.repeated for listener in listeners),
        "connections": sum(listener.connections for listener in listeners),
    }


if __name__ == "__main__":
    answer = asyncio.run(attend(json.loads(sys.stdin.readline())))
    sys.stdout.write(json.dumps(answer) + "\n")
