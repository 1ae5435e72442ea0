"""Defines why an approval, or a change that needs one, is refused."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ChangeNotFound(GolemError, status=404, recovery=Recovery.CHECK_STATE, title="There is no such change request"):
    """No such request among the golems of this owner."""


class ChangeClosed(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="The request is closed"):
    """The request was decided, cancelled or timed out before."""


class ChangeStale(GolemError, status=409, recovery=Recovery.PREVIEW_AGAIN, title="The request is out of date"):
    """The plan or the policy moved since the request was made, or the page showed another one."""


class CageIsMirrored(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The cage changes in its contract"):
    """These values of the cage follow a contract; writing the row would be undone by its next block."""


class ChangeUnchanged(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="Nothing would change"):
    """What was asked for is so already."""


class SafeStandsOpen(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The Safe stands open"):
    """Anybody acts for the golem's Safe through its fallback, or would after one more step."""


class TooManyChanges(
    GolemError,
    code="APPROVAL_INBOX_FULL",
    status=429,
    recovery=Recovery.WAIT,
    title="Too many requests of this agent wait for its owners",
    cleared_by="an owner decides one of them, or its time to be decided ends",
):
    """The agent has as many open requests of this tier as it may."""


class NotAnOwner(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="Only an owner of this golem decides"):
    """Only an owner of the golem decides; an operator of the server does not."""


class OwnRequest(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="Nobody approves what they asked for"):
    """Who asked for a change, or whose agent did, does not approve it."""


class AlreadyDecided(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="This owner has decided already"):
    pass


class SecondFactorMissing(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="This needs a second factor"):
    """The owner has not set up a second factor, or sent no code."""


class SecondFactorWrong(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="The code was not accepted"):
    """The code is wrong, was used before, or came too soon after a wrong one."""


class SecondFactorLocked(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="Codes are not looked at for a moment",
    cleared_by="the pause after wrong codes ends; a passkey is taken at any time",
):
    """Wrong codes were typed before; until `locked_until` no code is looked at, be it right or wrong."""


class PasskeyRefused(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="The passkey was not accepted"):
    """What a passkey answered is wrong, late, used before, or for another person, session, page or site."""


class PasskeyCopied(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="This passkey may have been copied"):
    """The counter of a passkey went back: two authenticators hold it, one of them perhaps not its owner's."""


class PasskeysNotSetUp(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="Passkeys do not work at this address"
):
    """No name is set under which passkeys count here, or the page was opened at another address."""


class ReasonNeeded(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="Say why"):
    pass


class ActionAnnounced(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The action is announced and waits",
    cleared_by="its delay ends",
):
    """The Warden announced the action; it is executed when its delay is over."""


# ---- changes on chain ------------------------------------------------------------------------------------------------


class CageNotMirrored(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="There is no contract behind this cage"
):
    """The golem's cage has no contract."""


class ContractStillActs(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The contract that stands still lets keys act"
):
    """Another contract is to be followed over another account, and the one that stands lets keys act."""


class CageHasNoSafe(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The account behind the cage is no Safe"
):
    """The account behind the contract is no Safe: its owner sends the transaction from it."""


class SignatureMissing(
    GolemError,
    code="OWNER_SIGNATURE_MISSING",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="This is approved with your own signature",
):
    """A change on chain is approved with the owner's own signature."""


class SignatureWrong(
    GolemError,
    code="OWNER_SIGNATURE_WRONG",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The signature was not accepted",
):
    """The bytes are no signature of a current owner over this SafeTx."""


class SignaturesIncomplete(
    GolemError,
    code="OWNER_SIGNATURES_INCOMPLETE",
    status=409,
    recovery=Recovery.WAIT,
    title="The Safe needs more signatures",
    cleared_by="more owners sign",
):
    """Approved, but fewer owners of the Safe signed than it asks for."""


class SafeTurnAwaited(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="An earlier transaction of the Safe comes first",
    cleared_by="the earlier transaction of the Safe is executed",
):
    """A Safe executes its transactions in the order of its nonces, and an earlier one has not been executed."""


class SafeNonceTaken(
    GolemError, status=409, recovery=Recovery.PREVIEW_AGAIN, title="Another request of the Safe was made at this moment"
):
    """Another request took this nonce of the Safe between the look and the write."""


class RelayerNotConfigured(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="This server has no relayer",
    cleared_by="a key that pays for gas is configured",
):
    """No key that pays for gas: the signed transaction has to be sent by somebody else."""


class RelayerRefuses(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The relayer does not send this"):
    """The relayer's key must not be used for this: it is an owner's or a golem's, or the call is none it relays."""


class RelayerBudgetUsed(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The relayer's gas for today is used",
    cleared_by="what it spent is older than a day",
):
    """The relayer has spent, or would spend, more on gas than it may."""


class RelayerBusy(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The relayer sends another transaction first",
    cleared_by="its transaction under way is mined",
):
    """Another transaction of the relayer is under way on this chain."""


class OwnerCallReverts(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The chain refuses what was signed"):
    """The Safe would not execute what its owners signed, or did not."""


class AddressNotRegistered(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="This is no withdrawal address of the golem"
):
    """Owners take money out to addresses they registered; this is none, or none any more. `data` has address."""


class WithdrawalFailed(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="The withdrawal did not happen"):
    """The transfer that owners approved ended without moving anything. `data` has permit_id."""
