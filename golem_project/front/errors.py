"""Defines what is refused before the application sees a request."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class HeadTooLarge(GolemError, status=431, recovery=Recovery.FIX_PARAMS, title="The headers are too large"):
    """The request line and the headers are longer, or more, than any client of ours sends."""


class RequestTooSlow(GolemError, status=408, recovery=Recovery.FIX_PARAMS, title="The request did not come in time"):
    """The headers or the body did not come within their seconds."""


class TooManyConnections(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="Too many connections at once",
    cleared_by="one of the connections that are open ends",
):
    """This address, or everybody, has as many connections open as may be. `data` has limit, retry_after_seconds."""


class ServerStopping(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="This server stops",
    cleared_by="another server answers, or this one when it started again",
):
    """The server's time to finish was over before the answer was there. `data` has retry_after_seconds."""


class TooManyFromHere(
    GolemError,
    code="TOO_MANY_WAITING_HERE",
    status=429,
    recovery=Recovery.WAIT,
    title="Too many requests wait",
    cleared_by="one of the requests that wait is answered",
):
    """More requests from this address, or without a token, wait than may. `data` has retry_after_seconds."""


class LoginsTooFast(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="Too many passwords from this address",
    cleared_by="a few seconds pass",
):
    """This address tried more passwords within a minute than a person does. `data` has retry_after_seconds."""
