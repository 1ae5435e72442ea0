"""Defines why depositing, delegating or leaving is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class StrategyUnknown(
    GolemError,
    code="RESTAKING_STRATEGY_UNKNOWN",
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="No strategy takes this token",
):
    """No strategy takes this token. `data.tokens` are those that are taken."""


class RestakingPaused(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="EigenLayer has paused this",
    cleared_by="EigenLayer takes it up again",
):
    """EigenLayer stopped this for now. `data.stopped` says what: deposit, delegate, queue, complete."""


class OperatorRefused(
    GolemError,
    code="RESTAKING_OPERATOR_REFUSED",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="This operator cannot be delegated to",
):
    """The account is no operator, takes only whom it signed for, or was slashed to nothing. `data.why` says which."""


class AlreadyDelegated(
    GolemError,
    code="RESTAKING_ALREADY_DELEGATED",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The account is delegated already",
):
    """All of an account is delegated to one operator. `data.operator` is it: undelegate first, which queues all."""


class NotDelegated(
    GolemError,
    code="RESTAKING_NOT_DELEGATED",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The account is delegated to nobody",
):
    """The account is delegated to nobody."""


class WithdrawalUnknown(
    GolemError,
    code="RESTAKING_WITHDRAWAL_UNKNOWN",
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="No such withdrawal waits",
):
    """Nothing of the account waits under this root; it may have been completed. `data.waiting` are roots that wait."""


class WithdrawalWaits(
    GolemError,
    code="RESTAKING_WITHDRAWAL_WAITS",
    status=409,
    recovery=Recovery.WAIT,
    title="The withdrawal still waits",
    cleared_by="the blocks of the queue have passed",
):
    """The withdrawal can be completed from block `data.free_block` on, about at `data.resets_at`."""
