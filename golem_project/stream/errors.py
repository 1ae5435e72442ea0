"""Defines what the event stream refuses."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class StreamLimitReached(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="Too many open event streams",
    cleared_by="an open stream is closed",
):
    """The caller, or this server process, has as many open streams as it may."""


class StreamUnavailable(
    GolemError, status=406, recovery=Recovery.FIX_PARAMS, title="This server answers events as JSON pages only"
):
    """This server cannot hold a stream open (it runs behind WSGI)."""


class GolemUnknown(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such golem here"):
    """The caller has no golem of this id."""
