"""Types of an ASGI application and of what it is called with, and what of that is read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

Message = MutableMapping[str, Any]  # Any: ASGI leaves the values of a message to its sender
Scope = Message
Send = Callable[[dict[str, Any]], Awaitable[None]]  # Any: as above
Receive = Callable[[], Awaitable[Message]]
App = Callable[[Any, Any, Any], Awaitable[None]]  # Any: Django and the library type the three each in their way

Headers = Iterable[tuple[bytes, bytes]]
_NO_STATE: Final[Mapping[str, Any]] = {}  # Any: what applications tell each other is of their own types


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """What a request over HTTP asks."""

    path: str
    method: str
    query_string: bytes
    headers: Headers


@dataclass(frozen=True, slots=True)
class BegunAnswer:
    """The first message of an answer."""

    status: int
    headers: Headers


@dataclass(frozen=True, slots=True)
class BodyPiece:
    """A piece of a request's body, and whether another follows."""

    body: bytes
    more_body: bool


def read_request(scope: Mapping[str, object]) -> AskedRequest | None:
    """What is asked; None of a scope that is no request over HTTP."""
    match scope:
        case {"type": "http", "path": str(path), "method": str(method)}:
            return AskedRequest(path, method, _read_query(scope), _read_headers(scope))
        case {"type": "http"}:
            raise ValueError("a request has a path and a method")
    return None


def read_start(message: Mapping[str, object]) -> BegunAnswer | None:
    """The beginning of an answer; None of another message."""
    match message:
        case {"type": "http.response.start", "status": int(status)}:
            return BegunAnswer(status, _read_headers(message))
        case {"type": "http.response.start"}:
            raise ValueError("an answer begins with a status")
    return None


def read_piece(message: Mapping[str, object]) -> BodyPiece | None:
    """A piece of a body; None where whoever sends it is gone."""
    match message:
        case {"type": "http.disconnect"}:
            return None
        case {"body": bytes(body)}:
            return BodyPiece(body, _has_more(message))
    return BodyPiece(b"", _has_more(message))


def goes_on(message: Mapping[str, object]) -> bool:
    """Whether an answer has not ended with this message."""
    return read_start(message) is not None or _has_more(message)


def read_state(scope: Mapping[str, object]) -> Mapping[str, Any]:  # Any: as above
    """What the applications of a request tell each other."""
    match scope:
        case {"state": Mapping() as state}:
            return state
    return _NO_STATE


def _has_more(message: Mapping[str, object]) -> bool:
    match message:
        case {"more_body": more}:
            return bool(more)
    return False


def _read_query(scope: Mapping[str, object]) -> bytes:
    match scope:
        case {"query_string": bytes(query)}:
            return query
    return b""


def _read_headers(told: Mapping[str, object]) -> Headers:
    match told:
        case {"headers": None}:
            return ()
        case {"headers": headers} if isinstance(headers, Iterable):
            return headers
    return ()
