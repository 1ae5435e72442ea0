"""Reads a request's body whole into memory, within bounds of size and time, before anybody works on it.

Who sends it slowly, or without end, holds a connection and its few kilobytes, and no thread, no place and no disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from golem_project.front.errors import RequestTooSlow, TooManyFromHere
from golem_project.pi.errors import BadRequest, BodyTooLarge
from golem_project.runtime.asgi_types import Message, Receive, Scope


class CallerLeft(Exception):
    """The connection ended before the body did: nobody waits for an answer."""


class Bodies:
    """How much this process holds of all bodies together."""

    def __init__(self) -> None:
        self._held = 0

    @property
    def held_bytes(self) -> int:
        """Of all bodies that are read or worked on now."""
        return self._held

    @contextmanager
    def hold(self) -> Iterator[Body]:
        """Room for one body, given back at the end."""
        body = Body(self)
        try:
            yield body
        finally:
            self._held -= body.size

    def grow(self, size: int) -> None:
        """So many bytes more. Raises TooManyFromHere."""
        if self._held + size > settings.GOLEM_MOST_BODIES_BYTES:
            raise TooManyFromHere("this server reads as many bodies as it may; send yours again", retry_after_seconds=2)
        self._held += size


class Body:
    """One body, and what it holds of the process's room."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self.size = 0

    async def read(self, scope: Scope, receive: Receive, *, most: int) -> bytes:
        """All of it. Raises BodyTooLarge, before it is read where its length is told; RequestTooSlow, CallerLeft."""
        check_declared(scope, most=most)
        pieces: list[bytes] = []
        try:
            async with asyncio.timeout(settings.GOLEM_BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise CallerLeft
                    piece: bytes = message.get("body", b"")
                    if self.size + len(piece) > most:
                        raise too_large(most)
                    self._bodies.grow(len(piece))
                    self.size += len(piece)
                    pieces.append(piece)
                    if not message.get("more_body", False):
                        return b"".join(pieces)
        except TimeoutError:
            raise RequestTooSlow(
                f"a body comes within {settings.GOLEM_BODY_SECONDS:g} seconds; nothing was begun"
            ) from None


def has_body(scope: Scope) -> bool:
    """Whether the headers announce one."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
        for name, value in scope["headers"]
    )


def check_declared(scope: Scope, *, most: int) -> None:
    """Raises BodyTooLarge for a length that is told and too much, BadRequest for one that is none."""
    for name, value in scope["headers"]:
        if name != b"content-length":
            continue
        if not value.strip().isdigit():
            raise BadRequest("Content-Length is a whole number")
        if int(value[:20]) > most:
            raise too_large(most)


def too_large(most: int) -> BodyTooLarge:
    """The refusal of a body of more than `most` bytes."""
    return BodyTooLarge(f"a body is at most {most} bytes", limit_bytes=most)


def replay(raw: bytes, receive: Receive) -> Receive:
    """Give the body once, as one message, then what the connection says."""
    waiting: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def give() -> Message:
        return waiting.pop() if waiting else await receive()

    return give
