"""Defines what is refused before the application sees a request."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class HeadTooLarge(GolemError):
    """The request line and the headers are longer, or more, than any client of ours sends."""

    code = "HEAD_TOO_LARGE"
    http_status = 431
    recovery = Recovery.FIX_PARAMS
    title = "The headers are too large"


class RequestTooSlow(GolemError):
    """The headers or the body did not come within their seconds."""

    code = "REQUEST_TOO_SLOW"
    http_status = 408
    recovery = Recovery.FIX_PARAMS
    title = "The request did not come in time"


class TooManyConnections(GolemError):
    """This address, or everybody, has as many connections open as may be. `data` has limit, retry_after_seconds."""

    code = "TOO_MANY_CONNECTIONS"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "one of the connections that are open ends"
    title = "Too many connections at once"


class TooManyFromHere(GolemError):
    """More requests from this address, or without a token, wait than may. `data` has retry_after_seconds."""

    code = "TOO_MANY_WAITING_HERE"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "one of the requests that wait is answered"
    title = "Too many requests wait"


class LoginsTooFast(GolemError):
    """This address tried more passwords within a minute than a person does. `data` has retry_after_seconds."""

    code = "LOGINS_TOO_FAST"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "a few seconds pass"
    title = "Too many passwords from this address"
