"""The API as uvicorn runs it: the ASGI application, asked through its own protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from django.db import connections

from golem_project.asgi import application
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
