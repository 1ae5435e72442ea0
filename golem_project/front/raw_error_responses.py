"""Writes a refusal out for who is answered below the application, where a connection ends with the answer."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass

from golem_project.pi.exception_handler import PROBLEM_JSON, describe_problem
from tools_app.core.errors import GolemError


@dataclass(frozen=True, slots=True)
class LastRefusal:
    """A status, headers in lower case, and a body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


def write_refusal(error: GolemError, *, instance: str) -> LastRefusal:
    """What is said of `error` at the path `instance`, under a request id of its own."""
    problem, headers = describe_problem(error, instance=instance)
    request_id = uuid.uuid4().hex
    body = json.dumps({**problem, "request_id": request_id}).encode()
    lines = {
        **headers,
        "Content-Type": PROBLEM_JSON,
        "Content-Length": str(len(body)),
        "X-Request-Id": request_id,
        "Cache-Control": "no-store",
        "Connection": "close",
    }
    pairs = tuple((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in lines.items())
    return LastRefusal(error.http_status, pairs, body)
