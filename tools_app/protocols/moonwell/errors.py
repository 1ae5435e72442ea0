"""Defines what Moonwell's tools refuse with that no other lender has."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class NoReward(GolemError):
    """Nothing is owed beside interest."""

    code = "MOONWELL_NOTHING_TO_CLAIM"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "time with something lent or owed in a market that pays rewards"
    title = "There is no reward to claim"
