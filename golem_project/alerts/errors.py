"""Defines why a channel of alerts cannot be made, or its address not be confirmed."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ChannelRefused(
    GolemError,
    code="ALERT_CHANNEL_REFUSED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="This channel cannot be set up",
):
    """A channel cannot be made like this."""


class CodeRefused(
    GolemError,
    code="ALERT_CODE_REFUSED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="This code confirms no address",
):
    """A code that confirms an address is wrong, too old, or was tried too often."""


class TooManyCodes(
    GolemError,
    code="ALERT_CODES_SPENT",
    status=429,
    recovery=Recovery.WAIT,
    title="No further code is mailed today",
    cleared_by="the next day (UTC)",
):
    """As many codes were mailed today as one address, or one person, may have."""
