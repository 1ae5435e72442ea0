"""Defines why an approval, or a change that needs one, is refused."""

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


class SafeStandsOpen(GolemError):
    """Anybody acts for the golem's Safe through its fallback, or would after one more step."""

    code = "SAFE_STANDS_OPEN"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The Safe stands open"


class TooManyChanges(GolemError):
    """The agent has as many open requests of this tier as it may."""

    code = "APPROVAL_INBOX_FULL"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "an owner decides one of them, or its time to be decided ends"
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


class SecondFactorLocked(GolemError):
    """Wrong codes were typed before; until `locked_until` no code is looked at, be it right or wrong."""

    code = "SECOND_FACTOR_LOCKED"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "the pause after wrong codes ends; a passkey is taken at any time"
    title = "Codes are not looked at for a moment"


class PasskeyRefused(GolemError):
    """What a passkey answered is wrong, late, used before, or for another person, session, page or site."""

    code = "PASSKEY_REFUSED"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "The passkey was not accepted"


class PasskeyCopied(GolemError):
    """The counter of a passkey went back: two authenticators hold it, one of them perhaps not its owner's."""

    code = "PASSKEY_COPIED"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "This passkey may have been copied"


class PasskeysNotSetUp(GolemError):
    """No name is set under which passkeys count here, or the page was opened at another address."""

    code = "PASSKEYS_NOT_SET_UP"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "Passkeys do not work at this address"


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
    cleared_by = "its delay ends"
    title = "The action is announced and waits"


# ---- changes on chain ------------------------------------------------------------------------------------------------


class CageNotMirrored(GolemError):
    """The golem's cage has no contract."""

    code = "CAGE_NOT_MIRRORED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "There is no contract behind this cage"


class ContractStillActs(GolemError):
    """Another contract is to be followed over another account, and the one that stands lets keys act."""

    code = "CONTRACT_STILL_ACTS"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The contract that stands still lets keys act"


class CageHasNoSafe(GolemError):
    """The account behind the contract is no Safe: its owner sends the transaction from it."""

    code = "CAGE_HAS_NO_SAFE"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The account behind the cage is no Safe"


class SignatureMissing(GolemError):
    """A change on chain is approved with the owner's own signature."""

    code = "OWNER_SIGNATURE_MISSING"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "This is approved with your own signature"


class SignatureWrong(GolemError):
    """The bytes are no signature of a current owner over this SafeTx."""

    code = "OWNER_SIGNATURE_WRONG"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The signature was not accepted"


class SignaturesIncomplete(GolemError):
    """Approved, but fewer owners of the Safe signed than it asks for."""

    code = "OWNER_SIGNATURES_INCOMPLETE"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "more owners sign"
    title = "The Safe needs more signatures"


class SafeTurnAwaited(GolemError):
    """A Safe executes its transactions in the order of its nonces, and an earlier one has not been executed."""

    code = "SAFE_TURN_AWAITED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the earlier transaction of the Safe is executed"
    title = "An earlier transaction of the Safe comes first"


class SafeNonceTaken(GolemError):
    """Another request took this nonce of the Safe between the look and the write."""

    code = "SAFE_NONCE_TAKEN"
    http_status = 409
    recovery = Recovery.PREVIEW_AGAIN
    title = "Another request of the Safe was made at this moment"


class RelayerNotConfigured(GolemError):
    """No key that pays for gas: the signed transaction has to be sent by somebody else."""

    code = "RELAYER_NOT_CONFIGURED"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "a key that pays for gas is configured"
    title = "This server has no relayer"


class RelayerRefuses(GolemError):
    """The relayer's key must not be used for this: it is an owner's or a golem's, or the call is none it relays."""

    code = "RELAYER_REFUSES"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The relayer does not send this"


class RelayerBudgetUsed(GolemError):
    """The relayer has spent, or would spend, more on gas than it may."""

    code = "RELAYER_BUDGET_USED"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "what it spent is older than a day"
    title = "The relayer's gas for today is used"


class RelayerBusy(GolemError):
    """Another transaction of the relayer is under way on this chain."""

    code = "RELAYER_BUSY"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "its transaction under way is mined"
    title = "The relayer sends another transaction first"


class OwnerCallReverts(GolemError):
    """The Safe would not execute what its owners signed, or did not."""

    code = "OWNER_CALL_REVERTS"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The chain refuses what was signed"


class AddressNotRegistered(GolemError):
    """Owners take money out to addresses they registered; this is none, or none any more. `data` has address."""

    code = "ADDRESS_NOT_REGISTERED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "This is no withdrawal address of the golem"


class WithdrawalFailed(GolemError):
    """The transfer that owners approved ended without moving anything. `data` has permit_id."""

    code = "WITHDRAWAL_FAILED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "The withdrawal did not happen"
