"""Errors of what may happen. A hook's refusal carries its name, rule, observed value, limit and what remains."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class PermitNotFound(GolemError):
    """No such permit of this golem; another golem's permit answers the same."""

    code = "PERMIT_NOT_FOUND"
    http_status = 404
    recovery = Recovery.CHECK_STATE
    title = "This golem has no such permit"


class PermitExpired(GolemError):
    code = "PERMIT_EXPIRED"
    http_status = 409
    recovery = Recovery.PREVIEW_AGAIN
    title = "The permit has expired"


class PermitNotCommittable(GolemError):
    """The permit was cancelled, blocked, or waits for someone."""

    code = "PERMIT_NOT_COMMITTABLE"
    http_status = 409
    recovery = Recovery.PREVIEW_AGAIN
    title = "The permit cannot be committed in its state"


class PermitAlreadyCommitted(GolemError):
    """A second commit of one permit; its first one stands."""

    code = "PERMIT_ALREADY_COMMITTED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "The permit was committed before"


class PermitNotCancellable(GolemError):
    code = "PERMIT_NOT_CANCELLABLE"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "The permit can no longer be cancelled"


class SameActionPending(GolemError):
    """An equal action of this golem is being committed or its outcome is unknown.

    `data` has permit_id, permit_status, cleared_by, resets_at (when it is acted on next, at the latest),
    retry_after_seconds.
    """

    code = "SAME_ACTION_PENDING"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "An equal action is still under way"


class SafeNotAsAgreed(GolemError):
    """Something acts for the golem's Safe, or on what it signs, that its owners did not agree to; `data.lines`."""

    code = "SAFE_NOT_AS_AGREED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    cleared_by = "an owner removes it from the Safe, or takes note of the Safe as it is on the golem's page of it"
    title = "The golem's Safe is not as its owners agreed"


class TakenBeside(GolemError):
    """Other permits of this golem may take what the action takes; `data.waits_for` names them."""

    code = "TAKEN_BESIDE"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the permits named under waits_for have ended or are cancelled"
    title = "Other permits of this golem take from the same place"


class RightNotReceived(GolemError):
    """The plan moves somebody else's money under a right that is not in the golem's book, or not as it says."""

    code = "RIGHT_NOT_RECEIVED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "This golem did not receive that right"


class RightWithdrawn(GolemError):
    """Whoever gave the right took it back, or what it stands on is gone; its contract says so."""

    code = "RIGHT_WITHDRAWN"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The right was withdrawn"


class RightEnded(GolemError):
    """The right is over, or does not begin yet; `data` has starts_at and ends_at."""

    code = "RIGHT_ENDED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The right does not hold at this time"


class RightLimitExceeded(GolemError):
    """More than the right has left in its present period; `remaining` and `resets_at` say how much and until when."""

    code = "RIGHT_LIMIT_EXCEEDED"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "The right does not have so much left"


class DefinitionNotShown(GolemError):
    """What an owner agreed to is not what is stored, not theirs, or more than a golem takes."""

    code = "DEFINITION_NOT_SHOWN"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "This definition cannot be approved as it stands"


class WishNotFound(GolemError):
    """No such wish of a module: another golem's, too old, or of a definition that is not approved any more."""

    code = "WISH_NOT_FOUND"
    http_status = 404
    recovery = Recovery.CHECK_STATE
    title = "There is no such wish"


class WishDiffers(GolemError):
    """The preview names a wish and asks for something else."""

    code = "WISH_DIFFERS"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The wish asks for something else"


class AccountBlocked(GolemError):
    """The golem's account waits for one of its own payloads: what is sent now would wait behind it.

    `data` has chain_id, address, nonce, tx_hash, since, cleared_by, resets_at (when it is acted on next, at the
    latest, or when the permit that waits ends), retry_after_seconds. The permit stays as it was.
    """

    code = "ACCOUNT_BLOCKED"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "its earlier transaction is mined or replaced"
    title = "An earlier transaction of this account is not mined yet"


class ChainStuck(GolemError):
    """The chain's node answers nothing. `data` has chain_id, since, cleared_by, retry_after_seconds.

    The permit stays as it was.
    """

    code = "CHAIN_STUCK"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the node answers again"
    title = "The chain's node does not answer; nothing new is sent there"


class CommitNotSigned(GolemError):
    """The permit ended before anything was signed: its time was over, or what it needed failed. `data` has cause."""

    code = "COMMIT_NOT_SIGNED"
    http_status = 503
    recovery = Recovery.PREVIEW_AGAIN
    title = "The permit ended before anything was signed"


class NonceUnsettled(GolemError):
    """The readings of an account's nonce do not agree. `data` has address, clears, retry_after_seconds."""

    code = "NONCE_UNSETTLED"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "two readings of its nonce that agree"
    title = "The chain's nodes do not agree on the account's next nonce"


class TooManyWaiting(GolemError):
    code = "TOO_MANY_COMMITS_WAITING"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "one of the commits that wait ends"
    title = "Too many commits of this key are waiting"


class TooManyPreviews(GolemError):
    """As many previews of this owner, or of all, wait as may. `data` has retry_after_seconds."""

    code = "TOO_MANY_PREVIEWS_WAITING"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "one of the previews that wait is answered"
    title = "Too many previews wait"


class PolicyRejected(GolemError):
    """A safety hook refused. `data` has hook, rule, observed, limit, remaining, resets_at, would_pass."""

    code = "POLICY_REJECTED"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "A safety rule refused this action"


class TokenNotAllowed(PolicyRejected):
    """A token of the plan is not on the golem's list."""

    code = "SAFETY_TOKEN_NOT_ALLOWED"
    title = "The owner has not allowed this token"


class TokenOffPeg(PolicyRejected):
    """A token of the plan left the dollar or ether it stands for, and more would be put into it."""

    code = "TOKEN_OFF_PEG"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "its price is near what it stands for again"
    title = "This token left its peg"


class AddressNotAllowed(PolicyRejected):
    """A contract, spender or recipient of the plan is not on the golem's list."""

    code = "SAFETY_ADDRESS_NOT_ALLOWED"
    title = "The owner has not allowed this address"


class HookNotAllowed(PolicyRejected):
    """A pool of the plan runs a hook, a stranger's code, that is not on the golem's list."""

    code = "SAFETY_HOOK_NOT_ALLOWED"
    title = "The owner has not allowed this pool's hook"


class HoldingsImplausible(PolicyRejected):
    """A token that the plan moves claims a balance worth more than any golem can hold; no share can be judged by it."""

    code = "HOLDINGS_IMPLAUSIBLE"
    recovery = Recovery.ASK_OWNER
    title = "A token claims a balance that cannot be"


class PhaseBlocked(PolicyRejected):
    """The golem's phase forbids this class of action, or layer 3 tools."""

    code = "SAFETY_PHASE_BLOCKED"
    title = "The golem's phase does not allow this"


class SpendingLimitExceeded(PolicyRejected):
    code = "SAFETY_SPENDING_LIMIT_EXCEEDED"
    title = "A spending limit would be exceeded"


class TradingCostsExceeded(SpendingLimitExceeded):
    """Fees, slippage and price impact of a day's trades would cost more than the owner accepts."""

    code = "SAFETY_TRADING_COSTS_EXCEEDED"
    title = "Trading would cost more than its owner accepts in a day"


class SlippageLimitExceeded(PolicyRejected):
    """More slippage, or more price impact, than the owner accepts."""

    code = "SAFETY_SLIPPAGE_LIMIT_EXCEEDED"
    recovery = Recovery.FIX_PARAMS
    title = "The price would be worse than the owner accepts"


class RateLimited(PolicyRejected):
    code = "RATE_LIMITED"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "a write is older than an hour"
    title = "Too many writes within the hour"


class ActionRepeated(RateLimited):
    """The same action, with the same parameters, for the fifth time: it looks like a loop."""

    code = "ACTION_REPEATED"
    cleared_by = "equal calls are older than an hour"
    title = "The same action was asked for again and again"


class VenueFailing(RateLimited):
    """The venue's breaker is open: half of the last transactions there failed."""

    code = "VENUE_FAILING"
    cleared_by = "one try at this venue that succeeds"
    title = "Transactions at this venue fail"


class NothingToAcknowledge(GolemError):
    code = "NOTHING_TO_ACKNOWLEDGE"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "No drawdown waits for the owner"


class CodeChanged(PolicyRejected):
    """A contract was upgraded between preview and commit. `data` has contract, what (code, implementation, beacon) and
    contracts, all that changed; `limit` is what the permit is bound to and `observed` what is there now.
    """

    code = "CODE_CHANGED"
    http_status = 409
    recovery = Recovery.PREVIEW_AGAIN
    title = "A contract of this plan was upgraded after its preview"


class HallucinationDetected(PolicyRejected):
    """An address, token, amount or time of the plan does not agree with what is true on the chain."""

    code = "HALLUCINATION_DETECTED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The action does not agree with what is true on the chain"


class UntrustedText(HallucinationDetected):
    """A token's own name or symbol holds text that reads like an instruction."""

    code = "UNTRUSTED_TEXT"
    recovery = Recovery.GIVE_UP
    title = "A token's name holds text meant for the reader"


class PolicyChanged(GolemError):
    code = "POLICY_CHANGED"
    http_status = 409
    recovery = Recovery.PREVIEW_AGAIN
    title = "The golem's policy changed since the preview"


class PlanTampered(GolemError):
    """The stored plan no longer has the hash the permit was given for."""

    code = "PLAN_HASH_MISMATCH"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The stored plan does not match its hash"


class ReviewVetoed(GolemError):
    code = "REVIEW_VETOED"
    http_status = 403
    recovery = Recovery.FIX_PARAMS
    title = "The safety-guardian vetoed this action"


class SimulationFailed(GolemError):
    """The exact calls reverted, or moved more or less than the plan promised."""

    code = "SAFETY_SIMULATION_FAILED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The simulation refused this action"


class PricesDisagree(GolemError):
    """A price feed, run in this process, answers otherwise than the chain's node told; nothing is permitted by it."""

    code = "PRICES_DISAGREE"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "A price is told otherwise than its feed answers"


class SimulationRecognised(GolemError):
    """The calls do something else with the gas and fees that would be signed than without: no simulation tells."""

    code = "SAFETY_SIMULATION_RECOGNISED"
    http_status = 422
    recovery = Recovery.GIVE_UP
    title = "The contracts act otherwise when they are not simulated"


class AmountLooksLikeWholeUnits(GolemError):
    code = "AMOUNT_LOOKS_LIKE_WHOLE_UNITS"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The amount looks like whole units; base units are expected"


class CapabilityError(GolemError):
    """The one-shot token was forged, used before, or used for something else."""

    code = "CAP_NOT_MINTED"
    http_status = 403
    recovery = Recovery.PREVIEW_AGAIN
    title = "No capability was minted for this call"


class CapabilityExpired(CapabilityError):
    code = "CAP_EXPIRED"
    title = "The capability has expired"


class CapabilityValueExceeded(CapabilityError):
    code = "CAP_VALUE_EXCEEDED"
    title = "The call is worth more than the capability allows"


class SignerUnavailable(GolemError):
    code = "SIGNER_UNAVAILABLE"
    http_status = 503
    recovery = Recovery.ASK_OWNER
    title = "The signer cannot sign now"


class SignerMismatch(SignerUnavailable):
    """A signer elsewhere answered with other bytes than it was asked for; nothing of it was kept or sent."""

    code = "SIGNER_MISMATCH"
    http_status = 502
    title = "The signer signed something else"


class SessionNotActive(SignerUnavailable):
    """The golem's cage has no session key, or one that is not the golem's."""

    code = "SESSION_NOT_ACTIVE"
    http_status = 409
    title = "The golem's session on chain is not active"


class SafeNeedsOwners(SignerUnavailable):
    """The Safe wants owners whose keys are not here. `data` has safe, threshold, owners, held."""

    code = "SAFE_NEEDS_OWNERS"
    http_status = 409
    title = "The Safe's owners have to sign this themselves"


class WalletExists(GolemError):
    code = "WALLET_EXISTS"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "This golem has a wallet already"


class WalletBusy(GolemError):
    """The golem's wallet cannot be changed while one of its actions is under way."""

    code = "WALLET_BUSY"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "the action under way ends"
    title = "An action of this golem is still under way"


class LeaseLost(GolemError):
    """Another worker took over this commit; nothing was sent by this one."""

    code = "LEASE_LOST"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "Another worker took over this commit"


class PromiseStands(GolemError):
    """What would be signed was signed before under another permit, and is open or was carried out. `data` has its
    permit. Nothing was signed this time.
    """

    code = "PROMISE_STANDS"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    cleared_by = "the end of the first one, or terms of its own for a second one"
    title = "This was signed already"


class PaymentHostCap(GolemError):
    """The payment is not what the owners let its host be paid: another payee or token, or more than is left of it."""

    code = "PAYMENT_HOST_CAP"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "a smaller payment, the next day, or higher caps of the host by the owners"
    title = "The host may not be paid this"


class PaymentHostNotListed(GolemError):
    """Owners list hosts that may be paid; an agent does not."""

    code = "PAYMENT_HOST_NOT_LISTED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    cleared_by = "an owner lists the host on the golem's page, Payment hosts"
    title = "This host is not one that the golem may pay"


# ---- delegation at run time ----------------------------------------------------------------------------------------


class DelegationTargetNotFound(GolemError):
    """There is no archetype of this name."""

    code = "DELEGATION_TARGET_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such archetype to delegate to"


class DelegationNotAllowed(GolemError):
    """The asking archetype does not list the target. `data` has frm, to, allowed."""

    code = "DELEGATION_NOT_ALLOWED"
    http_status = 403
    recovery = Recovery.FIX_PARAMS
    title = "This archetype may not delegate there"


class DelegationTooDeep(GolemError):
    """The chain would have more than three hops. `data` has chain, depth, max_depth."""

    code = "DELEGATION_TOO_DEEP"
    http_status = 403
    recovery = Recovery.GIVE_UP
    title = "The delegation chain would be too long"


class DelegationCycleDetected(GolemError):
    """The target is in the chain already. `data` has cycle."""

    code = "DELEGATION_CYCLE_DETECTED"
    http_status = 409
    recovery = Recovery.GIVE_UP
    title = "The delegation would close a circle"


class DelegateNeedsModel(GolemError):
    """The delegate exists and may be asked, but needs a language model that this server does not run."""

    code = "DELEGATE_NEEDS_MODEL"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "This delegate needs a planner"


# ---- the cage on chain -----------------------------------------------------------------------------------------------


class CageMirrorBehind(PolicyRejected):
    """What is known of the golem's contract is not of the newest block. `data` has block_number, synced_at."""

    code = "CAGE_MIRROR_BEHIND"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the cage is read at the newest block"
    title = "The mirror of the golem's cage is behind its chain"


class CageWouldRefuse(PolicyRejected):
    """The golem's contract would refuse the batch. `data` has error and values, as the contract would name them."""

    code = "CAGE_WOULD_REFUSE"
    title = "The golem's cage on chain would refuse this action"


class CageReorganised(GolemError):
    """The chain changed while the cage's events were read; nothing was kept, and the next sync reads again."""

    code = "CAGE_REORGANISED"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the next reading of the cage"
    title = "The chain was reorganised while the cage was read"


class CageContradicted(GolemError):
    """The contract does not say what its events add up to; what was known is forgotten and read again."""

    code = "CAGE_CONTRADICTED"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the next reading of the cage"
    title = "The chain's answers about the cage do not agree with each other"


class DeploymentTooFarBack(GolemError):
    """So many blocks lie behind its deployment that a page cannot read them while somebody waits."""

    code = "DEPLOYMENT_TOO_FAR_BACK"
    http_status = 422
    recovery = Recovery.CHECK_STATE
    title = "The contract is too old to be read at once"


class NotACage(GolemError):
    """At this address there is no PolicyCage of a version this server knows."""

    code = "NOT_A_CAGE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "There is no cage at this address"


class NotAFence(GolemError):
    """At this address there is no Roles contract that the Safe owns and that acts for it."""

    code = "NOT_A_FENCE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "There is no fence of this Safe at this address"


class NobodyAppointed(GolemError):
    """The cage has no session key, so nobody would get what is asked for."""

    code = "NOBODY_APPOINTED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "Nobody is appointed in the cage"


class StandingPlanNotFound(GolemError):
    """No such plan of this golem that stands; another golem's plan answers the same."""

    code = "STANDING_PLAN_NOT_FOUND"
    http_status = 404
    recovery = Recovery.CHECK_STATE
    title = "This golem has no such standing plan"


class HealthAlertNotFound(GolemError):
    """No such alert of this golem; another golem's alert answers the same."""

    code = "HEALTH_ALERT_NOT_FOUND"
    http_status = 404
    recovery = Recovery.CHECK_STATE
    title = "This golem has no such health alert"


class TooManyHealthAlerts(GolemError):
    code = "TOO_MANY_HEALTH_ALERTS"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "This golem has as many health alerts as it may"


class BreakerResetByOwner(GolemError):
    """An agent may always stop its golem, and never set it going again."""

    code = "BREAKER_RESET_BY_OWNER"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "Only the golem's owner resets the circuit breaker"
