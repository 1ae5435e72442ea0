"""Requests share a few kept threads, and each request is whole in one of them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path

from golem_project.runtime.threaded_handler import ThreadedHandler
from tools_app.core import clock

seen: list[str] = []


def note(_: HttpRequest) -> HttpResponse:
    seen.append(threading.current_thread().name)
    response = HttpResponse(b"noted")
    response.set_cookie("who", "me")
    return response


def stream(_: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(iter([b"one ", b"two"]))


urlpatterns = [path("note", note), path("stream", stream)]


async def ask(*paths: str) -> list[httpx.Response]:
    """The answers, each asked for once the thread of the one before has nothing to do."""
    handler = ThreadedHandler()
    answers = []
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=handler), base_url="http://testserver") as client:
        for path in paths:
            answers.append(await client.get(path))
            await wait_until_idle(handler)
    return answers


async def wait_until_idle(handler: ThreadedHandler) -> None:
    """A thread says that it is idle a moment after it gave its answer; its pool tells nobody else."""
    deadline = clock.Deadline.after_ms(60_000)
    while not handler._threads._idle_semaphore._value:
        assert not deadline.is_over, "the thread of an answered request is not idle"
        await asyncio.sleep(0.001)


def test_one_request_after_another_finds_the_thread_and_its_connections_again(
    transactional_db: None, settings: Any
) -> None:
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []
    seen.clear()
    answers = asyncio.run(ask("/note", "/note", "/stream", "/note"))
    assert [answer.content for answer in answers] == [b"noted", b"noted", b"one two", b"noted"]
    assert answers[0].cookies["who"] == "me"
    assert len(set(seen)) == 1, "a request that came when the thread was idle got another one"


def test_what_is_not_http_is_refused(settings: Any) -> None:
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []

    async def nothing(*_: Any) -> Any:
        raise AssertionError("nothing is read from it")

    with pytest.raises(ValueError, match="websocket"):
        asyncio.run(ThreadedHandler()({"type": "websocket"}, nothing, nothing))
