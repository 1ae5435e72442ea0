"""Defines what Compound V3's tools refuse with that no other lender has."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class DebtTooSmall(GolemError):
    """The market lends no less than so much to one account; `data.least` is that in base units."""

    code = "COMPOUND_DEBT_TOO_SMALL"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "a larger debt"
    title = "The market lends no debts this small"


class OwesHere(GolemError):
    """Putting in what the market lends would repay the account's debt there instead of lending it."""

    code = "COMPOUND_REPAY_FIRST"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    cleared_by = "compound_v3_repay with max"
    title = "What would be lent would repay a debt"


class LendsHere(GolemError):
    """Borrowing while something is lent there would take that out first; `data.supplied` is how much."""

    code = "COMPOUND_WITHDRAW_FIRST"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    cleared_by = "compound_v3_withdraw with max"
    title = "What would be borrowed is lent there already"


class NoReward(GolemError):
    """Nothing is owed beside interest."""

    code = "COMPOUND_NOTHING_TO_CLAIM"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "time with something lent or owed in a market that pays rewards"
    title = "There is no reward to claim"
