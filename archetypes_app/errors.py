"""Errors of who a golem is."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class GolemHalted(GolemError):
    """The golem was stopped; only its owner can resume it."""

    code = "GOLEM_HALTED"
    http_status = 423
    recovery = Recovery.ASK_OWNER
    title = "This golem is halted"


class KeysMayNotSpend(GolemError):
    """The owner switched off that agents spend with API keys; they preview, and nothing of it is signed."""

    code = "KEYS_MAY_NOT_SPEND"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "Agent keys of this golem may not spend"


class OwnerGone(GolemError):
    """Nobody with an active account owns the golem, so nothing is done for it."""

    code = "OWNER_NOT_ACTIVE"
    http_status = 403
    recovery = Recovery.ASK_OWNER
    title = "Nobody with an active account owns this golem"


class PhaseNotMonotone(GolemError):
    """A phase can only get worse by itself."""

    code = "PHASE_NOT_MONOTONE"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "A phase only gets worse by itself; an owner's reset improves it"


class ReasonMissing(GolemError):
    """An owner's reset needs a reason."""

    code = "REASON_MISSING"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "A reason is needed"


class UnknownScope(GolemError):
    """An API key was asked for with a scope that does not exist."""

    code = "UNKNOWN_SCOPE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "There is no such scope"


class TooManySignIns(GolemError):
    """As many agents as may wait for an owner. `data` has retry_after_seconds."""

    code = "TOO_MANY_SIGN_INS"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "one of them is decided or over"
    title = "Too many agents wait to be signed in"


class SignInOver(GolemError):
    """A code that nobody can decide any more: unknown, decided before, or its minutes are over."""

    code = "SIGN_IN_OVER"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "No agent waits with this code"


class RenewalRefused(GolemError):
    """What an agent renews itself with is not good: unknown, used before, ended by an owner, or its days are over."""

    code = "RENEWAL_REFUSED"
    http_status = 400
    recovery = Recovery.ASK_OWNER
    title = "This agent has to be signed in again"


class ModelBudgetSpent(GolemError):
    """The day's cap for a golem's thinking has not enough left. `data` has needed, left and cap in micro-USD."""

    code = "MODEL_BUDGET_SPENT"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "the next day's cap"
    title = "Today's budget for thinking is used up"


class EditConflict(GolemError):
    """Somebody else saved the row since it was opened; nothing was written."""

    code = "EDIT_CONFLICT"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "Somebody else changed this meanwhile"


# ---- archetypes and their files ------------------------------------------------------------------------------------


class ArchetypeNotFound(GolemError):
    """No archetype, file or folder of this name."""

    code = "ARCHETYPE_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "There is no such archetype"


class ArchetypeExists(GolemError):
    """The name is taken, in the import itself or in the database."""

    code = "ARCHETYPE_EXISTS"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "There is an archetype of this name already"


class InvalidToml(GolemError):
    """The file is not TOML, too large, too deep, or holds keys an archetype does not have."""

    code = "INVALID_TOML"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The file is not an archetype in TOML"


class UnknownCategory(GolemError):
    """A tool category or archetype category that does not exist."""

    code = "UNKNOWN_CATEGORY"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "There is no such category"


class UnknownProfile(GolemError):
    """A tool profile that does not exist."""

    code = "UNKNOWN_PROFILE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "There is no such tool profile"


class UnknownToolName(GolemError):
    """An override names a tool that does not exist."""

    code = "UNKNOWN_TOOL_NAME"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "There is no such tool"


class OverrideConflict(GolemError):
    """One tool is included and excluded for the same archetype or golem."""

    code = "OVERRIDE_CONFLICT"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "A tool is both included and excluded"


# ---- delegation ----------------------------------------------------------------------------------------------------


class DelegationError(GolemError):
    """The graph of who may delegate to whom breaks a rule."""

    code = "DELEGATION_INVALID"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The graph of delegates breaks a rule"


class MissingDelegationTarget(DelegationError):
    code = "MISSING_DELEGATION_TARGET"
    title = "A delegate does not exist"


class DelegationCycle(DelegationError):
    """`cycle` lists the names, the first one again at the end."""

    code = "DELEGATION_CYCLE"
    title = "Archetypes delegate in a circle"


class DelegationDepthExceeded(DelegationError):
    """`chain` lists the names; `depth` and `max_depth` count hops."""

    code = "DELEGATION_DEPTH_EXCEEDED"
    title = "A delegation chain is too long"


class TerminalWithDelegates(DelegationError):
    code = "TERMINAL_WITH_DELEGATES"
    title = "A terminal archetype delegates"


class GuardianUnreachable(DelegationError):
    """An archetype that can act has no way to the safety-guardian."""

    code = "GUARDIAN_UNREACHABLE"
    title = "An archetype that acts must reach the safety-guardian"


class GuardianNotIndependent(DelegationError):
    """The safety-guardian was given delegates or tools that act."""

    code = "GUARDIAN_NOT_INDEPENDENT"
    title = "The safety-guardian must be independent"


class CategoryUnknown(GolemError):
    """No tool of this golem is in a category of this name."""

    code = "CATEGORY_UNKNOWN"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "There is no such category of tools here"


class LiveToolsRefused(GolemError):
    """A live golem's tools are not changed here: its owners decide that together."""

    code = "LIVE_TOOLS_REFUSED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "A live golem's tools are decided by its owners"


class InvitationOver(GolemError):
    """The link was used, taken back or is too old; or there never was one like it."""

    code = "INVITATION_OVER"
    http_status = 410
    recovery = Recovery.ASK_OWNER
    title = "This invitation is over"


class TooManyInvitations(GolemError):
    """As many invitations of this golem are open as may be."""

    code = "TOO_MANY_INVITATIONS"
    http_status = 429
    recovery = Recovery.WAIT
    cleared_by = "one of them is used, taken back or a week old"
    title = "Too many invitations are open"


class RoleNeedsApproval(GolemError):
    """This change of a role is asked of the owners; only what takes away holds at once."""

    code = "ROLE_NEEDS_APPROVAL"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The owners decide this role"
