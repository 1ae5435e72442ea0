"""Defines what can be wrong with an owner's settings of a heartbeat."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class HeartbeatOff(GolemError):
    """The golem does not tick."""

    code = "HEARTBEAT_OFF"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The golem's heartbeat is off"


class SteersPending(GolemError):
    """Words for the next tick are waiting already."""

    code = "STEERS_PENDING"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the next heartbeat tick"
    title = "Enough words wait for the next tick"
