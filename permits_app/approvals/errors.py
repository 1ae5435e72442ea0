"""Why an approval, or a change that needs one, was refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ChangeNotFound(GolemError):
    """No such request among the golems of this owner."""

    code = "CHANGE_NOT_FOUND"
    http_status = 404
    recovery = Recovery.CHECK_STATE
    title = "There is no such change request"


class ChangeClosed(GolemError):
    """The request was decided, cancelled or timed out before."""

    code = "CHANGE_CLOSED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "The request is closed"


class ChangeStale(GolemError):
    """The plan or the policy moved since the request was made, or the page showed another one."""

    code = "CHANGE_STALE"
    http_status = 409
    recovery = Recovery.PREVIEW_AGAIN
    title = "The request is out of date"


class CageIsMirrored(GolemError):
    """These values of the cage follow a contract; writing the row would be undone by its next block."""

    code = "CAGE_IS_MIRRORED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The cage changes in its contract"


class ChangeUnchanged(GolemError):
    """What was asked for is so already."""

    code = "CHANGE_UNCHANGED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "Nothing would change"


class TooManyChanges(GolemError):
    """The agent has as many open requests of this tier as it may."""

    code = "APPROVAL_INBOX_FULL"
    http_status = 429
    recovery = Recovery.WAIT
    title = "Too many requests of this agent wait for its owners"


class NotAnOwner(GolemError):
    """Only an owner of the golem decides; an operator of the server does not."""

    code = "NOT_AN_OWNER"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "Only an owner of this golem decides"


class OwnRequest(GolemError):
    """Who asked for a change, or whose agent did, does not approve it."""

    code = "OWN_REQUEST"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "Nobody approves what they asked for"


class AlreadyDecided(GolemError):
    code = "ALREADY_DECIDED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "This owner has decided already"


class SecondFactorMissing(GolemError):
    """The owner has not set up a second factor, or sent no code."""

    code = "SECOND_FACTOR_MISSING"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "This needs a second factor"


class SecondFactorWrong(GolemError):
    """The code is wrong, was used before, or came too soon after a wrong one."""

    code = "SECOND_FACTOR_WRONG"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "The code was not accepted"


class ReasonNeeded(GolemError):
    code = "REASON_NEEDED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "Say why"


class ActionAnnounced(GolemError):
    """The Warden announced the action; it is executed when its delay is over."""

    code = "ACTION_ANNOUNCED"
    http_status = 409
    recovery = Recovery.WAIT
    title = "The action is announced and waits"
