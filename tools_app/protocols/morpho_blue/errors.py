"""Defines what can be wrong with an action at Morpho Blue, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class TooMuchAsked(GolemError):
    """More is asked than there is: `data.most` base units, or `max`, pass."""

    code = "MORPHO_MORE_THAN_THERE_IS"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "That is more than the account has or owes there"


class OracleUnusable(GolemError):
    """The market's oracle does not answer, or is far from the price feeds; `data` has both prices."""

    code = "MORPHO_ORACLE_UNUSABLE"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the market's oracle and the price feeds agree again"
    title = "The market's oracle cannot be relied on"


class SharesTooDear(GolemError):
    """Rounding would keep a part of the amount: a share of the market is worth too much."""

    code = "MORPHO_SHARES_TOO_DEAR"
    http_status = 409
    recovery = Recovery.GIVE_UP
    title = "The market would keep a part of the amount"


class NotLiquidatable(GolemError):
    """The borrower's debt is covered, or there is none."""

    code = "MORPHO_NOT_LIQUIDATABLE"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "That debt is covered"


class LiquidationAtALoss(GolemError):
    """What would be seized is worth no more than what would be paid for it."""

    code = "MORPHO_LIQUIDATION_AT_A_LOSS"
    http_status = 409
    recovery = Recovery.GIVE_UP
    title = "The liquidation would not pay"
