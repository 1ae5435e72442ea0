"""Defines what can be wrong with an action at Morpho Blue, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class TooMuchAsked(
    GolemError,
    code="MORPHO_MORE_THAN_THERE_IS",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="That is more than the account has or owes there",
):
    """More is asked than there is: `data.most` base units, or `max`, pass."""


class OracleUnusable(
    GolemError,
    code="MORPHO_ORACLE_UNUSABLE",
    status=409,
    recovery=Recovery.WAIT,
    title="The market's oracle cannot be relied on",
    cleared_by="the market's oracle and the price feeds agree again",
):
    """The market's oracle does not answer, or is far from the price feeds; `data` has both prices."""


class SharesTooDear(
    GolemError,
    code="MORPHO_SHARES_TOO_DEAR",
    status=409,
    recovery=Recovery.GIVE_UP,
    title="The market would keep a part of the amount",
):
    """Rounding would keep a part of the amount: a share of the market is worth too much."""


class NotLiquidatable(
    GolemError, code="MORPHO_NOT_LIQUIDATABLE", status=409, recovery=Recovery.CHECK_STATE, title="That debt is covered"
):
    """The borrower's debt is covered, or there is none."""


class LiquidationAtALoss(
    GolemError,
    code="MORPHO_LIQUIDATION_AT_A_LOSS",
    status=409,
    recovery=Recovery.GIVE_UP,
    title="The liquidation would not pay",
):
    """What would be seized is worth no more than what would be paid for it."""
