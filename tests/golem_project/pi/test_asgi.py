"""The API as uvicorn runs it: the ASGI application, asked through its own protocol."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from django.db import connections

from golem_project.asgi import application
from golem_project.embedded.process import free_port
from tests.golem_project.pi.conftest import PI, MakeAgent


async def send(path: str, body: bytes, token: str, *, in_chunks: bool) -> httpx.Response:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 10_000):
            yield body[start : start + 10_000]

    transport = httpx.ASGITransport(app=application)
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        return await client.post(path, content=pieces() if in_chunks else body, headers=headers)


@pytest.mark.parametrize("in_chunks", [False, True], ids=["whole", "in chunks"])
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"query": "golem"}', 200, None),
        (b"{", 400, "BODY_NOT_JSON"),
        (b"", 422, "INVALID_PARAMS"),
        (b"{" + b" " * 100_000 + b"}", 413, "BODY_TOO_LARGE"),
        (b"{" + b" " * 300_000 + b"}", 413, "BODY_TOO_LARGE"),
    ],
    ids=["good", "broken", "empty", "large", "very large"],
)
def test_a_body_is_read_the_same_whole_or_in_chunks(
    transactional_db: None, make_agent: MakeAgent, body: bytes, status: int, code: str | None, in_chunks: bool
) -> None:
    token = make_agent().key.token
    response = asyncio.run(send(f"{PI}/query_state", body, token, in_chunks=in_chunks))
    connections.close_all()
    answer: dict[str, Any] = response.json()
    assert (response.status_code, answer.get("code")) == (status, code), answer
    if code is None:
        assert answer["data"]["phase"] == "THRIVING"
    else:
        assert response.headers["Content-Type"] == "application/problem+json"
        assert answer["recovery"] == "FIX_PARAMS"


def ask_raw(port: int, *lines: str) -> httpx.Response:
    """What a server on this port answers to exactly these lines."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, f"Host: 127.0.0.1:{port}", "", ""]).encode())
        head, _, body = b"".join(iter(lambda: connection.recv(65_536), b"")).partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in rest)]
    return httpx.Response(int(first.split()[1]), headers=headers, content=body)


@pytest.fixture
def served() -> Iterator[int]:
    """The application under uvicorn, as it is run; gives the port."""
    port = free_port()
    config = uvicorn.Config(application, host="127.0.0.1", port=port, log_level="warning", log_config=None)
    server = uvicorn.Server(config)
    running = threading.Thread(target=server.run)
    running.start()
    while not server.started and running.is_alive():
        time.sleep(0.01)
    yield port
    server.should_exit = True
    running.join(10)


@pytest.mark.parametrize("path", ["/api/v1/events", "/api/v1/pi/query_state", "/admin/", "/nothing"])
def test_a_websocket_is_refused_in_words_and_leaves_no_trace(
    served: int, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    answer = ask_raw(served, f"GET {path} HTTP/1.1", *upgrade, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    assert answer.headers["Content-Type"] == "application/problem+json", answer.content
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["recovery"]) == (400, "UPGRADE_NOT_SERVED", "FIX_PARAMS")
    assert (problem["instance"], problem["request_id"]) == (path, answer.headers["X-Request-Id"])
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_server_that_cannot_answer_an_upgrade_is_told_to_close_it() -> None:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(application({"type": "websocket", "path": "/", "headers": []}, receive, send))
    assert [(message["type"], message["code"]) for message in sent] == [("websocket.close", 1003)]
