"""Defines the refusals of the A2A interface itself, before or around a tool."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class AgentUnknown(GolemError):
    """No golem of this server has this address, or the caller's key is for another."""

    code = "A2A_AGENT_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such agent here"


class TaskUnknown(GolemError):
    """No task of the caller's has this id; another's answers the same."""

    code = "A2A_TASK_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "You have no such task"


class TaskNotCancelable(GolemError):
    """The task has ended, or what it does cannot be taken back any more."""

    code = "A2A_TASK_NOT_CANCELABLE"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "This task cannot be cancelled"


class TaskTakesNoMessage(GolemError):
    """A task is one call: nothing that a message says changes it."""

    code = "A2A_TASK_TAKES_NO_MESSAGE"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "This task takes no further message"


class TooManyTasks(GolemError):
    """The caller has as many open tasks, or asked as often in a minute, as may be."""

    code = "A2A_TOO_MANY_TASKS"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "a task ends, or the minute is over"
    title = "Too many tasks at once"


class PartNotTaken(GolemError):
    """A message holds a part that is no text and no data."""

    code = "A2A_PART_NOT_TAKEN"
    http_status = 415
    recovery = Recovery.FIX_PARAMS
    title = "Only text and data parts are taken"


class NumberNotExact(GolemError):
    """A number would not arrive as it was written; as text it does."""

    code = "A2A_NUMBER_NOT_EXACT"
    http_status = 400
    recovery = Recovery.FIX_PARAMS
    title = "Write this number as text"


class NotForStrangers(GolemError):
    """Without a key of this golem only opened reads are answered."""

    code = "A2A_NOT_FOR_STRANGERS"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "A key of this golem is needed"


class ChallengeRefused(GolemError):
    """The challenge is unknown, over, used, or not signed by this wallet."""

    code = "A2A_CHALLENGE_REFUSED"
    http_status = 401
    recovery = Recovery.FIX_PARAMS
    title = "This signature proves nothing"


class VisitOver(GolemError):
    """The token of a visit is unknown or over; a wallet can sign a new challenge."""

    code = "A2A_VISIT_OVER"
    http_status = 401
    recovery = Recovery.FIX_PARAMS
    title = "This visit is over"


class PushRefused(GolemError):
    """Notifications cannot be sent there, or to nobody else."""

    code = "A2A_PUSH_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "Notifications cannot be sent there"


class PushUnknown(GolemError):
    """The task has no such address to notify."""

    code = "A2A_PUSH_UNKNOWN"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such notification address"


class PaymentNeeded(GolemError):
    """The read has a price. `data` has `x402`, what is asked for, as the header PAYMENT-REQUIRED holds it."""

    code = "PAYMENT_REQUIRED"
    http_status = 402
    recovery = Recovery.FIX_PARAMS
    cleared_by = "a signed payment of what is asked for"
    title = "This answer has a price"


class PaymentUsed(GolemError):
    """The payment was handed in for something else, or its answer is not kept any more."""

    code = "PAYMENT_USED_ALREADY"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "This payment was used already"


class AskerUnproven(GolemError):
    """The payment was handed in before, by somebody who is not known to be this asker."""

    code = "PAYMENT_ASKER_UNPROVEN"
    http_status = 403
    recovery = Recovery.FIX_PARAMS
    cleared_by = "the payment-identifier of the first time, or a token of the wallet that pays"
    title = "The answer is told to whoever paid for it"


class PaymentInWork(GolemError):
    """Another request with the same payment is worked on, or the chain did not show it yet."""

    code = "PAYMENT_IN_WORK"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the end of that work; hand the same payment in again"
    title = "This payment is being worked on"


class SaleNotPossible(GolemError):
    """The golem cannot be paid: it has no account, or its home chain has no node or no such token."""

    code = "SALE_NOT_POSSIBLE"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "an account, a node and a token to be paid in"
    title = "Nothing can be sold here now"
