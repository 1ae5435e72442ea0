"""Gives every request, its answer and its log lines one id."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

NO_REQUEST = "-"
"""Where there is none."""
_current: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)
_ACCEPTED = re.compile(r"^[A-Za-z0-9._\-]{8,64}$")


def current_request_id() -> str:
    """The id of the request or task being served, `-` outside one."""
    return _current.get()


def set_request_id(value: str) -> None:
    """Carry a request id into a task."""
    _current.set(value)


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
    """Adds `request_id` to every log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _current.get()
        return True
