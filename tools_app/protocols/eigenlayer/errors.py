"""Defines why depositing, delegating or leaving is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class StrategyUnknown(GolemError):
    """No strategy takes this token. `data.tokens` are those that are taken."""

    code = "RESTAKING_STRATEGY_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "No strategy takes this token"


class RestakingPaused(GolemError):
    """EigenLayer stopped this for now. `data.stopped` says what: deposit, delegate, queue, complete."""

    code = "RESTAKING_PAUSED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "EigenLayer takes it up again"
    title = "EigenLayer has paused this"


class OperatorRefused(GolemError):
    """The account is no operator, takes only whom it signed for, or was slashed to nothing. `data.why` says which."""

    code = "RESTAKING_OPERATOR_REFUSED"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "This operator cannot be delegated to"


class AlreadyDelegated(GolemError):
    """All of an account is delegated to one operator. `data.operator` is it: undelegate first, which queues all."""

    code = "RESTAKING_ALREADY_DELEGATED"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The account is delegated already"


class NotDelegated(GolemError):
    """The account is delegated to nobody."""

    code = "RESTAKING_NOT_DELEGATED"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The account is delegated to nobody"


class WithdrawalUnknown(GolemError):
    """Nothing of the account waits under this root; it may have been completed. `data.waiting` are roots that wait."""

    code = "RESTAKING_WITHDRAWAL_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "No such withdrawal waits"


class WithdrawalWaits(GolemError):
    """The withdrawal can be completed from block `data.free_block` on, about at `data.resets_at`."""

    code = "RESTAKING_WITHDRAWAL_WAITS"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the blocks of the queue have passed"
    title = "The withdrawal still waits"
