"""Hostile connections in a process of their own, all on loopback: so many, of one kind, for so many seconds.

Run by path with the standard library only; reads one JSON line (port, kind, connections, seconds, tokens), writes
`ready` when all have begun, and at the end one JSON line with what they met. It ends by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

# Four addresses, each with fewer connections than one may have: the bound of connections alone must not save the day.
ADDRESSES = ("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5")
_HOST = b"Host: 127.0.0.1\r\n"
_PAGES = (b"/admin/login/", b"/api/v1/schema", b"/readyz", b"/llms-full.txt", b"/nothing/here")
_PIECE = b"4000\r\n" + b"x" * 16_384 + b"\r\n"
_PAUSE_SECONDS = 0.02

met: Counter[str] = Counter()
Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def send_body_without_end(line: Line, number: int, tokens: list[str]) -> None:
    _, writer = line
    writer.write(b"POST /nothing/here HTTP/1.1\r\n" + _HOST + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(_PIECE)
        await writer.drain()
        met["kilobytes"] += 16


async def send_head_without_end(line: Line, number: int, tokens: list[str]) -> None:
    _, writer = line
    writer.write(b"GET /healthz HTTP/1.1\r\n" + _HOST)
    while True:
        writer.write(b"X-Long: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n" * 50)
        await writer.drain()
        met["kilobytes"] += 2


async def write_slowly(line: Line, number: int, tokens: list[str]) -> None:
    _, writer = line
    writer.write(b"POST /admin/login/ HTTP/1.1\r\n" + _HOST + b"Content-Length: 60000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.5)


async def read_slowly(line: Line, number: int, tokens: list[str]) -> None:
    reader, writer = line
    while True:
        writer.write(
            b"GET /static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js HTTP/1.1\r\n" + _HOST + b"\r\n"
        )
        await writer.drain()
        if not await reader.read(64):
            return
        await asyncio.sleep(0.5)


async def log_in(line: Line, number: int, tokens: list[str]) -> None:
    status, head, body = await ask(line, b"GET /admin/login/ HTTP/1.1\r\n" + _HOST + b"\r\n")
    cookie = next((part.split(b";")[0] for part in head.split(b"csrftoken=")[1:]), b"")
    mark = body.partition(b'name="csrfmiddlewaretoken" value="')[2].partition(b'"')[0]
    form = b"csrfmiddlewaretoken=" + mark + b"&username=name%d&password=wrong" % number
    while status:
        status, _, _ = await ask(
            line,
            b"POST /admin/login/ HTTP/1.1\r\n"
            + _HOST
            + b"Cookie: csrftoken="
            + cookie
            + b"\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            + b"Content-Length: %d\r\n\r\n" % len(form)
            + form,
        )
        await asyncio.sleep(_PAUSE_SECONDS)


async def open_pages(line: Line, number: int, tokens: list[str]) -> None:
    turn = number
    while True:
        await ask(line, b"GET " + _PAGES[turn % len(_PAGES)] + b" HTTP/1.1\r\n" + _HOST + b"\r\n")
        turn += 1
        await asyncio.sleep(_PAUSE_SECONDS)


async def preview(line: Line, number: int, tokens: list[str]) -> None:
    amount = 10_000_000 + number * 100_000
    while True:
        amount += 1
        body = json.dumps(
            {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": str(amount)}
        ).encode()
        head = (
            b"POST /api/v1/pi/preview_action HTTP/1.1\r\n" + _HOST + b"Content-Type: application/json\r\n"
            b"Authorization: Bearer " + tokens[number % len(tokens)].encode() + b"\r\nContent-Length: %d\r\n\r\n"
        )
        await ask(line, head % len(body) + body)
        await asyncio.sleep(_PAUSE_SECONDS)


async def stream(line: Line, number: int, tokens: list[str]) -> None:
    reader, writer = line
    token = tokens[number % len(tokens)].encode()
    writer.write(
        b"GET /api/v1/events HTTP/1.1\r\n"
        + _HOST
        + b"Accept: text/event-stream\r\nAuthorization: Bearer "
        + token
        + b"\r\n\r\n"
    )
    await writer.drain()
    first = await reader.readline()
    met[first.split()[1].decode() if first else "hung up"] += 1
    while await reader.read(65_536):
        pass


KINDS: dict[str, Callable[[Line, int, list[str]], Awaitable[None]]] = {
    "bodies": send_body_without_end,
    "heads": send_head_without_end,
    "slow_writers": write_slowly,
    "slow_readers": read_slowly,
    "logins": log_in,
    "pages": open_pages,
    "previews": preview,
    "streams": stream,
}


async def ask(line: Line, data: bytes) -> tuple[int, bytes, bytes]:
    """One request, its status, head and body. Raises ConnectionError where the server hung up."""
    reader, writer = line
    writer.write(data)
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    status, body = int(head.split()[1]), b""
    for header in head.lower().split(b"\r\n"):
        if header.startswith(b"content-length:"):
            body = await reader.readexactly(int(header.partition(b":")[2]))
    met[str(status)] += 1
    if b"\r\nconnection: close" in head.lower():
        raise ConnectionError
    return status, head, body


async def be_hostile(told: dict[str, Any], number: int, until: float, begun: asyncio.Event) -> None:
    act = KINDS[told["kind"]]
    while time.monotonic() < until:
        writer = None
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            line = await asyncio.open_connection(
                "127.0.0.1", told["port"], local_addr=(ADDRESSES[number % len(ADDRESSES)], 0)
            )
            writer = line[1]
            begun.set()
            await act(line, number, told["tokens"])
        begun.set()
        met["ended"] += 1
        if writer is not None:
            writer.transport.abort()
        await asyncio.sleep(0.1)


async def main() -> None:
    told = json.loads(sys.stdin.readline())
    until = time.monotonic() + told["seconds"]
    begun = [asyncio.Event() for _ in range(told["connections"])]
    tasks = [asyncio.create_task(be_hostile(told, number, until, each)) for number, each in enumerate(begun)]
    await asyncio.wait([asyncio.create_task(each.wait()) for each in begun], timeout=10)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.wait(tasks, timeout=max(0.0, until - time.monotonic()))
    for task in tasks:
        task.cancel()
    sys.stdout.write(json.dumps(dict(met)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
