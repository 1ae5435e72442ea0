"""Errors of who a golem is."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class GolemHalted(GolemError, status=423, recovery=Recovery.ASK_OWNER, title="This golem is halted"):
    """The golem was stopped; only its owner can resume it."""


class KeysMayNotSpend(
    GolemError, status=403, recovery=Recovery.ASK_OWNER, title="Agent keys of this golem may not spend"
):
    """The owner switched off that agents spend with API keys; they preview, and nothing of it is signed."""


class OwnerGone(
    GolemError,
    code="OWNER_NOT_ACTIVE",
    status=403,
    recovery=Recovery.ASK_OWNER,
    title="Nobody with an active account owns this golem",
):
    """Nobody with an active account owns the golem, so nothing is done for it."""


class PhaseNotMonotone(
    GolemError,
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="A phase only gets worse by itself; an owner's reset improves it",
):
    """A phase can only get worse by itself."""


class ReasonMissing(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="A reason is needed"):
    """An owner's reset needs a reason."""


class UnknownScope(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="There is no such scope"):
    """An API key was asked for with a scope that does not exist."""


class TooManySignIns(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="Too many agents wait to be signed in",
    cleared_by="one of them is decided or over",
):
    """As many agents as may wait for an owner. `data` has retry_after_seconds."""


class SignInOver(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="No agent waits with this code"):
    """A code that nobody can decide any more: unknown, decided before, or its minutes are over."""


class RenewalRefused(GolemError, status=400, recovery=Recovery.ASK_OWNER, title="This agent has to be signed in again"):
    """What an agent renews itself with is not good: unknown, used before, ended by an owner, or its days are over."""


class ModelBudgetSpent(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="Today's budget for thinking is used up",
    cleared_by="the next day's cap",
):
    """The day's cap for a golem's thinking has not enough left. `data` has needed, left and cap in micro-USD."""


class EditConflict(GolemError, status=409, recovery=Recovery.CHECK_STATE, title="Somebody else changed this meanwhile"):
    """Somebody else saved the row since it was opened; nothing was written."""


# ---- archetypes and their files ------------------------------------------------------------------------------------


class ArchetypeNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="There is no such archetype"):
    """No archetype, file or folder of this name."""


class ArchetypeExists(
    GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="There is an archetype of this name already"
):
    """The name is taken, in the import itself or in the database."""


class InvalidToml(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The file is not an archetype in TOML"):
    """The file is not TOML, too large, too deep, or holds keys an archetype does not have."""


class UnknownCategory(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="There is no such category"):
    """A tool category or archetype category that does not exist."""


class UnknownProfile(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="There is no such tool profile"):
    """A tool profile that does not exist."""


class UnknownToolName(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="There is no such tool"):
    """An override names a tool that does not exist."""


class OverrideConflict(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="A tool is both included and excluded"
):
    """One tool is included and excluded for the same archetype or golem."""


# ---- delegation ----------------------------------------------------------------------------------------------------


class DelegationError(
    GolemError,
    code="DELEGATION_INVALID",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The graph of delegates breaks a rule",
):
    """The graph of who may delegate to whom breaks a rule."""


class MissingDelegationTarget(DelegationError, title="A delegate does not exist"):
    pass


class DelegationCycle(DelegationError, title="Archetypes delegate in a circle"):
    """`cycle` lists the names, the first one again at the end."""


class DelegationDepthExceeded(DelegationError, title="A delegation chain is too long"):
    """`chain` lists the names; `depth` and `max_depth` count hops."""


class TerminalWithDelegates(DelegationError, title="A terminal archetype delegates"):
    pass


class GuardianUnreachable(DelegationError, title="An archetype that acts must reach the safety-guardian"):
    """An archetype that can act has no way to the safety-guardian."""


class GuardianNotIndependent(DelegationError, title="The safety-guardian must be independent"):
    """The safety-guardian was given delegates or tools that act."""


class CategoryUnknown(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="There is no such category of tools here"
):
    """No tool of this golem is in a category of this name."""


class LiveToolsRefused(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="A live golem's tools are decided by its owners"
):
    """A live golem's tools are not changed here: its owners decide that together."""


class InvitationOver(GolemError, status=410, recovery=Recovery.ASK_OWNER, title="This invitation is over"):
    """The link was used, taken back or is too old; or there never was one like it."""


class TooManyInvitations(
    GolemError,
    status=429,
    recovery=Recovery.WAIT,
    title="Too many invitations are open",
    cleared_by="one of them is used, taken back or a week old",
):
    """As many invitations of this golem are open as may be."""


class RoleNeedsApproval(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The owners decide this role"):
    """This change of a role is asked of the owners; only what takes away holds at once."""
