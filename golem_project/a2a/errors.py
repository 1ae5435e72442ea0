"""Defines the refusals of the A2A interface itself, before or around a tool."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class AgentUnknown(
    GolemError, code="A2A_AGENT_UNKNOWN", status=404, recovery=Recovery.FIX_PARAMS, title="There is no such agent here"
):
    """No golem of this server has this address, or the caller's key is for another."""


class TaskUnknown(
    GolemError, code="A2A_TASK_UNKNOWN", status=404, recovery=Recovery.FIX_PARAMS, title="You have no such task"
):
    """No task of the caller's has this id; another's answers the same."""


class TaskNotCancelable(
    GolemError,
    code="A2A_TASK_NOT_CANCELABLE",
    status=409,
    recovery=Recovery.CHECK_STATE,
    title="This task cannot be cancelled",
):
    """The task has ended, or what it does cannot be taken back any more."""


class TaskTakesNoMessage(
    GolemError,
    code="A2A_TASK_TAKES_NO_MESSAGE",
    status=409,
    recovery=Recovery.CHECK_STATE,
    title="This task takes no further message",
):
    """A task is one call: nothing that a message says changes it."""


class TooManyTasks(
    GolemError,
    code="A2A_TOO_MANY_TASKS",
    status=429,
    recovery=Recovery.WAIT,
    title="Too many tasks at once",
    cleared_by="a task ends, or the minute is over",
):
    """The caller has as many open tasks, or asked as often in a minute, as may be."""


class PartNotTaken(
    GolemError,
    code="A2A_PART_NOT_TAKEN",
    status=400,
    recovery=Recovery.FIX_PARAMS,
    title="Only text and data parts are taken",
):
    """A message holds a part that is no text and no data."""


class NumberNotExact(
    GolemError, code="A2A_NUMBER_NOT_EXACT", status=400, recovery=Recovery.FIX_PARAMS, title="Write this number as text"
):
    """A number would not arrive as it was written; as text it does."""


class NotForStrangers(
    GolemError,
    code="A2A_NOT_FOR_STRANGERS",
    status=403,
    recovery=Recovery.ASK_OWNER,
    title="A key of this golem is needed",
):
    """Without a key of this golem only opened reads are answered."""


class ChallengeRefused(
    GolemError,
    code="A2A_CHALLENGE_REFUSED",
    status=401,
    recovery=Recovery.FIX_PARAMS,
    title="This signature proves nothing",
):
    """The challenge is unknown, over, used, or not signed by this wallet."""


class VisitOver(
    GolemError, code="A2A_VISIT_OVER", status=401, recovery=Recovery.FIX_PARAMS, title="This visit is over"
):
    """The token of a visit is unknown or over; a wallet can sign a new challenge."""


class PushRefused(
    GolemError,
    code="A2A_PUSH_REFUSED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="Notifications cannot be sent there",
):
    """Notifications cannot be sent there, or to nobody else."""


class PushUnknown(
    GolemError,
    code="A2A_PUSH_UNKNOWN",
    status=404,
    recovery=Recovery.FIX_PARAMS,
    title="There is no such notification address",
):
    """The task has no such address to notify."""


class PaymentNeeded(
    GolemError,
    code="PAYMENT_REQUIRED",
    status=402,
    recovery=Recovery.FIX_PARAMS,
    title="This answer has a price",
    cleared_by="a signed payment of what is asked for",
):
    """The read has a price. `data` has `x402`, what is asked for, as the header PAYMENT-REQUIRED holds it."""


class PaymentUsed(
    GolemError,
    code="PAYMENT_USED_ALREADY",
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="This payment was used already",
):
    """The payment was handed in for something else, or its answer is not kept any more."""


class AskerUnproven(
    GolemError,
    code="PAYMENT_ASKER_UNPROVEN",
    status=403,
    recovery=Recovery.FIX_PARAMS,
    title="The answer is told to whoever paid for it",
    cleared_by="the payment-identifier of the first time, or a token of the wallet that pays",
):
    """The payment was handed in before, by somebody who is not known to be this asker."""


class PaymentInWork(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="This payment is being worked on",
    cleared_by="the end of that work; hand the same payment in again",
):
    """Another request with the same payment is worked on, or the chain did not show it yet."""


class SaleNotPossible(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="Nothing can be sold here now",
    cleared_by="an account, a node and a token to be paid in",
):
    """The golem cannot be paid: it has no account, or its home chain has no node or no such token."""
