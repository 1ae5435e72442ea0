"""Errors of what may happen. A hook's refusal carries its name, rule, observed value, limit and what remains."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class PermitNotFound(GolemError, status=404, recovery=Recovery.CHECK_STATE, title="This golem has no such permit"):
    """No such permit of this golem; another golem's permit answers the same."""


class PermitExpired(GolemError, status=409, recovery=Recovery.PREVIEW_AGAIN, title="The permit has expired"):
    pass


class PermitNotCommittable(
    GolemError, status=409, recovery=Recovery.PREVIEW_AGAIN, title="The permit cannot be committed in its state"
):
    """The permit was cancelled, blocked, or waits for someone."""


class PermitAlreadyCommitted(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="The permit was committed before"
):
    """A second commit of one permit; its first one stands."""


class PermitNotCancellable(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="The permit can no longer be cancelled"
):
    pass


class SameActionPending(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="An equal action is still under way"
):
    """An equal action of this golem is being committed or its outcome is unknown.

    `data` has permit_id, permit_status, cleared_by, resets_at (when it is acted on next, at the latest),
    retry_after_seconds.
    """


class SafeNotAsAgreed(
    GolemError,
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="The golem's Safe is not as its owners agreed",
    cleared_by="an owner removes it from the Safe, or takes note of the Safe as it is on the golem's page of it",
):
    """Something acts for the golem's Safe, or on what it signs, that its owners did not agree to; `data.lines`."""


class TakenBeside(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="Other permits of this golem take from the same place",
    cleared_by="the permits named under waits_for have ended or are cancelled",
):
    """Other permits of this golem may take what the action takes; `data.waits_for` names them."""


class RightNotReceived(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="This golem did not receive that right"
):
    """The plan moves somebody else's money under a right that is not in the golem's book, or not as it says."""


class RightWithdrawn(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The right was withdrawn"):
    """Whoever gave the right took it back, or what it stands on is gone; its contract says so."""


class RightEnded(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The right does not hold at this time"):
    """The right is over, or does not begin yet; `data` has starts_at and ends_at."""


class RightLimitExceeded(
    GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="The right does not have so much left"
):
    """More than the right has left in its present period; `remaining` and `resets_at` say how much and until when."""


class DefinitionNotShown(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="This definition cannot be approved as it stands"
):
    """What an owner agreed to is not what is stored, not theirs, or more than a golem takes."""


class WishNotFound(GolemError, status=404, recovery=Recovery.CHECK_STATE, title="There is no such wish"):
    """No such wish of a module: another golem's, too old, or of a definition that is not approved any more."""


class WishDiffers(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The wish asks for something else"):
    """The preview names a wish and asks for something else."""


class AccountBlocked(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="An earlier transaction of this account is not mined yet",
    cleared_by="its earlier transaction is mined or replaced",
):
    """The golem's account waits for one of its own payloads: what is sent now would wait behind it.

    `data` has chain_id, address, nonce, tx_hash, since, cleared_by, resets_at (when it is acted on next, at the
    latest, or when the permit that waits ends), retry_after_seconds. The permit stays as it was.
    """


class ChainStuck(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The chain's node does not answer; nothing new is sent there",
    cleared_by="the node answers again",
):
    """The chain's node answers nothing. `data` has chain_id, since, cleared_by, retry_after_seconds.

    The permit stays as it was.
    """


class CommitNotSigned(
    GolemError, status=503, recovery=Recovery.PREVIEW_AGAIN, title="The permit ended before anything was signed"
):
    """The permit ended before anything was signed: its time was over, or what it needed failed. `data` has cause."""


class NonceUnsettled(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The chain's nodes do not agree on the account's next nonce",
    cleared_by="two readings of its nonce that agree",
):
    """The readings of an account's nonce do not agree. `data` has address, clears, retry_after_seconds."""


class TooManyWaiting(
    GolemError,
    code="TOO_MANY_COMMITS_WAITING",
    status=429,
    recovery=Recovery.WAIT,
    title="Too many commits of this key are waiting",
    cleared_by="one of the commits that wait ends",
):
    pass


class TooManyPreviews(
    GolemError,
    code="TOO_MANY_PREVIEWS_WAITING",
    status=429,
    recovery=Recovery.WAIT,
    title="Too many previews wait",
    cleared_by="one of the previews that wait is answered",
):
    """As many previews of this owner, or of all, wait as may. `data` has retry_after_seconds."""


class PolicyRejected(GolemError, status=403, recovery=Recovery.ASK_OWNER, title="A safety rule refused this action"):
    """A safety hook refused. `data` has hook, rule, observed, limit, remaining, resets_at, would_pass."""


class TokenNotAllowed(PolicyRejected, code="SAFETY_TOKEN_NOT_ALLOWED", title="The owner has not allowed this token"):
    """A token of the plan is not on the golem's list."""


class TokenOffPeg(
    PolicyRejected,
    status=409,
    recovery=Recovery.WAIT,
    title="This token left its peg",
    cleared_by="its price is near what it stands for again",
):
    """A token of the plan left the dollar or ether it stands for, and more would be put into it."""


class AddressNotAllowed(
    PolicyRejected, code="SAFETY_ADDRESS_NOT_ALLOWED", title="The owner has not allowed this address"
):
    """A contract, spender or recipient of the plan is not on the golem's list."""


class HookNotAllowed(
    PolicyRejected, code="SAFETY_HOOK_NOT_ALLOWED", title="The owner has not allowed this pool's hook"
):
    """A pool of the plan runs a hook, a stranger's code, that is not on the golem's list."""


class HoldingsImplausible(PolicyRejected, recovery=Recovery.ASK_OWNER, title="A token claims a balance that cannot be"):
    """A token that the plan moves claims a balance worth more than any golem can hold; no share can be judged by it."""


class PhaseBlocked(PolicyRejected, code="SAFETY_PHASE_BLOCKED", title="The golem's phase does not allow this"):
    """The golem's phase forbids this class of action, or layer 3 tools."""


class SpendingLimitExceeded(
    PolicyRejected, code="SAFETY_SPENDING_LIMIT_EXCEEDED", title="A spending limit would be exceeded"
):
    pass


class TradingCostsExceeded(
    SpendingLimitExceeded,
    code="SAFETY_TRADING_COSTS_EXCEEDED",
    title="Trading would cost more than its owner accepts in a day",
):
    """Fees, slippage and price impact of a day's trades would cost more than the owner accepts."""


class SlippageLimitExceeded(
    PolicyRejected,
    code="SAFETY_SLIPPAGE_LIMIT_EXCEEDED",
    recovery=Recovery.FIX_PARAMS,
    title="The price would be worse than the owner accepts",
):
    """More slippage, or more price impact, than the owner accepts."""


class RateLimited(
    PolicyRejected,
    status=429,
    recovery=Recovery.WAIT,
    title="Too many writes within the hour",
    cleared_by="a write is older than an hour",
):
    pass


class ActionRepeated(
    RateLimited, title="The same action was asked for again and again", cleared_by="equal calls are older than an hour"
):
    """The same action, with the same parameters, for the fifth time: it looks like a loop. Or one that differs in
    numbers only, more often than the owner lets it.
    """


class VenueFailing(
    RateLimited, title="Transactions at this venue fail", cleared_by="one try at this venue that succeeds"
):
    """The venue's breaker is open: half of the last transactions there failed."""


class NothingToAcknowledge(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="No drawdown waits for the owner"
):
    pass


class CodeChanged(
    PolicyRejected,
    status=409,
    recovery=Recovery.PREVIEW_AGAIN,
    title="A contract of this plan was upgraded after its preview",
):
    """A contract was upgraded between preview and commit. `data` has contract, what (code, implementation, beacon) and
    contracts, all that changed; `limit` is what the permit is bound to and `observed` what is there now.
    """


class HallucinationDetected(
    PolicyRejected,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The action does not agree with what is true on the chain",
):
    """An address, token, amount or time of the plan does not agree with what is true on the chain."""


class UntrustedText(
    HallucinationDetected, recovery=Recovery.GIVE_UP, title="A token's name holds text meant for the reader"
):
    """A token's own name or symbol holds text that reads like an instruction."""


class PolicyChanged(
    GolemError, status=409, recovery=Recovery.PREVIEW_AGAIN, title="The golem's policy changed since the preview"
):
    pass


class PlanTampered(
    GolemError,
    code="PLAN_HASH_MISMATCH",
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="The stored plan does not match its hash",
):
    """The stored plan no longer has the hash the permit was given for."""


class ReviewVetoed(
    GolemError, status=403, recovery=Recovery.FIX_PARAMS, title="The safety-guardian vetoed this action"
):
    pass


class SimulationFailed(
    GolemError,
    code="SAFETY_SIMULATION_FAILED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The simulation refused this action",
):
    """The exact calls reverted, or moved more or less than the plan promised."""


class PricesDisagree(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="A price is told otherwise than its feed answers"
):
    """A price feed, run in this process, answers otherwise than the chain's node told; nothing is permitted by it."""


class SimulationRecognised(
    GolemError,
    code="SAFETY_SIMULATION_RECOGNISED",
    status=422,
    recovery=Recovery.GIVE_UP,
    title="The contracts act otherwise when they are not simulated",
):
    """The calls do something else with the gas and fees that would be signed than without: no simulation tells."""


class AmountLooksLikeWholeUnits(
    GolemError,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The amount looks like whole units; base units are expected",
):
    pass


class CapabilityError(
    GolemError,
    code="CAP_NOT_MINTED",
    status=403,
    recovery=Recovery.PREVIEW_AGAIN,
    title="No capability was minted for this call",
):
    """The one-shot token was forged, used before, or used for something else."""


class CapabilityExpired(CapabilityError, code="CAP_EXPIRED", title="The capability has expired"):
    pass


class CapabilityValueExceeded(
    CapabilityError, code="CAP_VALUE_EXCEEDED", title="The call is worth more than the capability allows"
):
    pass


class SignerUnavailable(GolemError, status=503, recovery=Recovery.ASK_OWNER, title="The signer cannot sign now"):
    pass


class SignerMismatch(SignerUnavailable, status=502, title="The signer signed something else"):
    """A signer elsewhere answered with other bytes than it was asked for; nothing of it was kept or sent."""


class SessionNotActive(SignerUnavailable, status=409, title="The golem's session on chain is not active"):
    """The golem's cage has no session key, or one that is not the golem's."""


class SafeNeedsOwners(SignerUnavailable, status=409, title="The Safe's owners have to sign this themselves"):
    """The Safe wants owners whose keys are not here. `data` has safe, threshold, owners, held."""


class WalletExists(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="This golem has a wallet already"):
    pass


class WalletBusy(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="An action of this golem is still under way",
    cleared_by="the action under way ends",
):
    """The golem's wallet cannot be changed while one of its actions is under way."""


class LeaseLost(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="Another worker took over this commit"):
    """Another worker took over this commit; nothing was sent by this one."""


class PromiseStands(
    GolemError,
    status=409,
    recovery=Recovery.CHECK_STATE,
    title="This was signed already",
    cleared_by="the end of the first one, or terms of its own for a second one",
):
    """What would be signed was signed before under another permit, and is open or was carried out. `data` has its
    permit. Nothing was signed this time.
    """


class PaymentHostCap(
    GolemError,
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The host may not be paid this",
    cleared_by="a smaller payment, the next day, or higher caps of the host by the owners",
):
    """The payment is not what the owners let its host be paid: another payee or token, or more than is left of it."""


class PaymentHostNotListed(
    GolemError,
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="This host is not one that the golem may pay",
    cleared_by="an owner lists the host on the golem's page, Payment hosts",
):
    """Owners list hosts that may be paid; an agent does not."""


# ---- delegation at run time ----------------------------------------------------------------------------------------


class DelegationTargetNotFound(
    GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such archetype to delegate to"
):
    """There is no archetype of this name."""


class DelegationNotAllowed(
    GolemError, status=403, recovery=Recovery.FIX_PARAMS, title="This archetype may not delegate there"
):
    """The asking archetype does not list the target. `data` has frm, to, allowed."""


class DelegationTooDeep(
    GolemError, status=403, recovery=Recovery.GIVE_UP, title="The delegation chain would be too long"
):
    """The chain would have more than three hops. `data` has chain, depth, max_depth."""


class DelegationCycleDetected(
    GolemError, status=409, recovery=Recovery.GIVE_UP, title="The delegation would close a circle"
):
    """The target is in the chain already. `data` has cycle."""


class DelegateNeedsModel(GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="This delegate needs a planner"):
    """The delegate exists and may be asked, but needs a language model that this server does not run."""


# ---- the cage on chain -----------------------------------------------------------------------------------------------


class CageMirrorBehind(
    PolicyRejected,
    status=503,
    recovery=Recovery.WAIT,
    title="The mirror of the golem's cage is behind its chain",
    cleared_by="the cage is read at the newest block",
):
    """What is known of the golem's contract is not of the newest block. `data` has block_number, synced_at."""


class CageWouldRefuse(PolicyRejected, title="The golem's cage on chain would refuse this action"):
    """The golem's contract would refuse the batch. `data` has error and values, as the contract would name them."""


class CageReorganised(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The chain was reorganised while the cage was read",
    cleared_by="the next reading of the cage",
):
    """The chain changed while the cage's events were read; nothing was kept, and the next sync reads again."""


class CageContradicted(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The chain's answers about the cage do not agree with each other",
    cleared_by="the next reading of the cage",
):
    """The contract does not say what its events add up to; what was known is forgotten and read again."""


class DeploymentTooFarBack(
    GolemError, status=422, recovery=Recovery.CHECK_STATE, title="The contract is too old to be read at once"
):
    """So many blocks lie behind its deployment that a page cannot read them while somebody waits."""


class NotACage(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="There is no cage at this address"):
    """At this address there is no PolicyCage of a version this server knows."""


class NotAFence(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="There is no fence of this Safe at this address"
):
    """At this address there is no Roles contract that the Safe owns and that acts for it."""


class NobodyAppointed(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="Nobody is appointed in the cage"):
    """The cage has no session key, so nobody would get what is asked for."""


class ReceiptArchived(
    GolemError,
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="The logs of this receipt were laid away",
    cleared_by="an operator brings the archive back (manage.py archive back)",
):
    """What is asked needs the logs of a receipt so old that it lies in an archive; `data` has archive, tx_hash."""


class ArchiveBroken(
    GolemError, status=500, recovery=Recovery.ASK_OWNER, title="This archive of records is not what was laid away"
):
    """Its bytes, its fingerprint and the audit log do not say the same, or there is no such archive."""


class StandingPlanNotFound(
    GolemError, status=404, recovery=Recovery.CHECK_STATE, title="This golem has no such standing plan"
):
    """No such plan of this golem that stands; another golem's plan answers the same."""


class HealthAlertNotFound(
    GolemError, status=404, recovery=Recovery.CHECK_STATE, title="This golem has no such health alert"
):
    """No such alert of this golem; another golem's alert answers the same."""


class TooManyHealthAlerts(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="This golem has as many health alerts as it may"
):
    pass


class BreakerResetByOwner(
    GolemError, status=403, recovery=Recovery.ASK_OWNER, title="Only the golem's owner resets the circuit breaker"
):
    """An agent may always stop its golem, and never set it going again."""
