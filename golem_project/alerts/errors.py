"""Defines why a channel of alerts cannot be made, or its address not be confirmed."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ChannelRefused(GolemError):
    """A channel cannot be made like this."""

    code = "ALERT_CHANNEL_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "This channel cannot be set up"


class CodeRefused(GolemError):
    """A code that confirms an address is wrong, too old, or was tried too often."""

    code = "ALERT_CODE_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "This code confirms no address"


class TooManyCodes(GolemError):
    """As many codes were mailed today as one address, or one person, may have."""

    code = "ALERT_CODES_SPENT"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "the next day (UTC)"
    title = "No further code is mailed today"
