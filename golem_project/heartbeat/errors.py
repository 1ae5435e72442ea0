"""Defines what can be wrong with an owner's settings of a heartbeat."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class HeartbeatOff(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The golem's heartbeat is off"):
    """The golem does not tick."""


class SteersPending(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="Enough words wait for the next tick",
    cleared_by="the next heartbeat tick",
):
    """Words for the next tick are waiting already."""
