"""Defines what can be wrong with staking and leaving again, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class StakingPaused(GolemError):
    """The pool takes no ether now."""

    code = "STAKING_PAUSED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the protocol resumes staking"
    title = "Staking is paused"


class StakeLimitReached(GolemError):
    """More than the pool takes at the moment. `data.remaining` is what it still takes, in wei; it grows with blocks."""

    code = "STAKE_LIMIT_REACHED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the limit grows back with every block, or a smaller amount"
    title = "The pool does not take that much now"


class StakeTooSmall(GolemError):
    """So little that rounding would eat it."""

    code = "STAKE_TOO_SMALL"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The amount is too small to be staked, wrapped or unwrapped"


class WithdrawalsPaused(GolemError):
    """The queue takes no new requests; what is final can be claimed all the same."""

    code = "WITHDRAWALS_PAUSED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the protocol resumes withdrawal requests"
    title = "Withdrawal requests are paused"


class WithdrawalAmountRefused(GolemError):
    """One of the amounts is below the least or above the most of one request; both are in `data`, in wei of stETH."""

    code = "WITHDRAWAL_AMOUNT_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "A withdrawal request cannot be of that amount"


class RequestNotFound(GolemError):
    """No such request, or it belongs to another account; the two are answered alike."""

    code = "WITHDRAWAL_REQUEST_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "This account has no such withdrawal request"


class RequestNotFinal(GolemError):
    """The queue has not come to it yet. `data.resets_at` is when it is expected to."""

    code = "WITHDRAWAL_NOT_FINAL"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "a report of the protocol's oracle that finalises the request"
    title = "The withdrawal request cannot be claimed yet"


class OracleStalled(GolemError):
    """No report for longer than a frame: what a share is worth is old, so nothing new is begun."""

    code = "STAKING_ORACLE_STALLED"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the next report of the protocol's oracle"
    title = "The protocol's oracle has stalled"


class NothingToHarvest(GolemError):
    """No yield since the last harvest, or none in the form that is sold."""

    code = "NOTHING_TO_HARVEST"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the next rebase that brings something"
    title = "There is no yield to sell"


class NoSecondaryMarket(GolemError):
    """No market of this golem's chain trades it, or none for as much as is asked."""

    code = "NO_SECONDARY_MARKET"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "No market here trades that for enough"
