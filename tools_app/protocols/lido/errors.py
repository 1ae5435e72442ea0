"""Defines what can be wrong with staking and leaving again, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class StakingPaused(
    GolemError, status=409, recovery=Recovery.WAIT, title="Staking is paused", cleared_by="the protocol resumes staking"
):
    """The pool takes no ether now."""


class StakeLimitReached(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The pool does not take that much now",
    cleared_by="the limit grows back with every block, or a smaller amount",
):
    """More than the pool takes at the moment. `data.remaining` is what it still takes, in wei; it grows with blocks."""


class StakeTooSmall(
    GolemError,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The amount is too small to be staked, wrapped or unwrapped",
):
    """So little that rounding would eat it."""


class WithdrawalsPaused(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="Withdrawal requests are paused",
    cleared_by="the protocol resumes withdrawal requests",
):
    """The queue takes no new requests; what is final can be claimed all the same."""


class WithdrawalAmountRefused(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="A withdrawal request cannot be of that amount"
):
    """One of the amounts is below the least or above the most of one request; both are in `data`, in wei of stETH."""


class RequestNotFound(
    GolemError,
    code="WITHDRAWAL_REQUEST_NOT_FOUND",
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="This account has no such withdrawal request",
):
    """No such request, or it belongs to another account; the two are answered alike."""


class RequestNotFinal(
    GolemError,
    code="WITHDRAWAL_NOT_FINAL",
    status=409,
    recovery=Recovery.WAIT,
    title="The withdrawal request cannot be claimed yet",
    cleared_by="a report of the protocol's oracle that finalises the request",
):
    """The queue has not come to it yet. `data.resets_at` is when it is expected to."""


class OracleStalled(
    GolemError,
    code="STAKING_ORACLE_STALLED",
    status=503,
    recovery=Recovery.WAIT,
    title="The protocol's oracle has stalled",
    cleared_by="the next report of the protocol's oracle",
):
    """No report for longer than a frame: what a share is worth is old, so nothing new is begun."""


class NothingToHarvest(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="There is no yield to sell",
    cleared_by="the next rebase that brings something",
):
    """No yield since the last harvest, or none in the form that is sold."""


class NoSecondaryMarket(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="No market here trades that for enough"
):
    """No market of this golem's chain trades it, or none for as much as is asked."""
