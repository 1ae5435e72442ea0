"""Reads a caller's wishes beside the body: not to wait, or a manifest in a provider's shape."""

from __future__ import annotations

from rest_framework.request import Request

from golem_project.pi.provider_tool_formats import Dialect
from golem_project.pi.serializers import UNKNOWN
from tools_app.core.errors import InvalidParams


def prefers_async(request: Request) -> bool:
    """Whether the caller sent `Prefer: respond-async` (RFC 7240)."""
    preferences = request.headers.get("Prefer", "").split(",")
    return any(wish.partition(";")[0].strip().lower() == "respond-async" for wish in preferences)


def read_dialect(request: Request) -> Dialect | None:
    """The dialect asked for with `?dialect=`; None for our own shape. Raises InvalidParams."""
    unknown = sorted(set(request.query_params) - {"dialect"})
    if unknown:
        raise InvalidParams(f"unknown: {', '.join(unknown)}", fields=dict.fromkeys(unknown, UNKNOWN))
    text = request.query_params.get("dialect")
    if text is None:
        return None
    known = [dialect.value for dialect in Dialect]
    if text not in known:
        raise InvalidParams(f"dialect: one of {', '.join(known)}", fields={"dialect": "unknown"}, allowed=known)
    return Dialect(text)
