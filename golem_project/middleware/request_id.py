"""Gives every request, its answer and its log lines one id."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

NO_REQUEST = "-"
"""Where there is none."""
_current: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)
_permit: ContextVar[str] = ContextVar("permit_id", default=NO_REQUEST)
_golem: ContextVar[str] = ContextVar("golem_id", default=NO_REQUEST)
_ACCEPTED = re.compile(r"^[A-Za-z0-9._\-]{8,64}$")


def current_request_id() -> str:
    """The id of the request or task being served, `-` outside one."""
    return _current.get()


def set_request_id(value: str) -> None:
    """Carry a request id into a task."""
    _current.set(value)


@contextmanager
def carried(*, request_id: str | None, permit_id: str | None, golem_id: str | None) -> Iterator[None]:
    """Within it every log line carries these ids, as far as they are known."""
    given = ((_current, request_id), (_permit, permit_id), (_golem, golem_id))
    tokens = [(place, place.set(value)) for place, value in given if value]
    try:
        yield
    finally:
        for place, token in reversed(tokens):
            place.reset(token)


class RequestIdMiddleware:
    """Takes a well-formed X-Request-Id from the caller or makes one, and answers it back."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        offered = request.headers.get("X-Request-Id", "")
        request_id = offered if _ACCEPTED.match(offered) else uuid.uuid4().hex
        token = _current.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            _current.reset(token)
        response["X-Request-Id"] = request_id
        return response


class RequestIdFilter(logging.Filter):
    """Adds `request_id`, `permit_id` and `golem_id` to every log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id, record.permit_id, record.golem_id = _current.get(), _permit.get(), _golem.get()
        return True
