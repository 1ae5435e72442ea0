"""Defines what Compound V3's tools refuse with that no other lender has."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class DebtTooSmall(
    GolemError,
    code="COMPOUND_DEBT_TOO_SMALL",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The market lends no debts this small",
    cleared_by="a larger debt",
):
    """The market lends no less than so much to one account; `data.least` is that in base units."""


class OwesHere(
    GolemError,
    code="COMPOUND_REPAY_FIRST",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="What would be lent would repay a debt",
    cleared_by="compound_v3_repay with max",
):
    """Putting in what the market lends would repay the account's debt there instead of lending it."""


class LendsHere(
    GolemError,
    code="COMPOUND_WITHDRAW_FIRST",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="What would be borrowed is lent there already",
    cleared_by="compound_v3_withdraw with max",
):
    """Borrowing while something is lent there would take that out first; `data.supplied` is how much."""


class NoReward(
    GolemError,
    code="COMPOUND_NOTHING_TO_CLAIM",
    status=409,
    recovery=Recovery.WAIT,
    title="There is no reward to claim",
    cleared_by="time with something lent or owed in a market that pays rewards",
):
    """Nothing is owed beside interest."""
