"""Defines what Moonwell's tools refuse with that no other lender has."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class NoReward(
    GolemError,
    code="MOONWELL_NOTHING_TO_CLAIM",
    status=409,
    recovery=Recovery.WAIT,
    title="There is no reward to claim",
    cleared_by="time with something lent or owed in a market that pays rewards",
):
    """Nothing is owed beside interest."""
