"""Defines what the event stream refuses."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class StreamLimitReached(GolemError):
    """The caller, or this server process, has as many open streams as it may."""

    code = "STREAM_LIMIT_REACHED"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "an open stream is closed"
    title = "Too many open event streams"


class StreamUnavailable(GolemError):
    """This server cannot hold a stream open (it runs behind WSGI)."""

    code = "STREAM_UNAVAILABLE"
    http_status = 406
    recovery = Recovery.FIX_PARAMS
    title = "This server answers events as JSON pages only"


class GolemUnknown(GolemError):
    """The caller has no golem of this id."""

    code = "GOLEM_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such golem here"
