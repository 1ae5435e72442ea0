"""Defines what can be wrong with an identity, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class AgentNotFound(GolemError, status=404, recovery=Recovery.FIX_PARAMS, title="No such agent is registered"):
    """The registry of the chain knows no agent of this number."""


class AgentOnAnotherChain(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The agent is registered on another chain"
):
    """The agent's id names another chain than the call does."""


class AgentNotOwned(GolemError, status=403, recovery=Recovery.FIX_PARAMS, title="That agent is not this golem's"):
    """The golem's account neither owns the agent nor may manage it."""


class OwnAgentFeedback(
    GolemError, status=403, recovery=Recovery.GIVE_UP, title="An agent's owner gives it no feedback"
):
    """Nobody gives feedback to an agent that is his own or that he manages."""


class RegistrationTooLong(
    GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The registration file is too long"
):
    """The registration file would be longer than what is written on a chain here."""


class RegistrationElsewhere(
    GolemError, status=409, recovery=Recovery.ASK_OWNER, title="The registration file is kept elsewhere"
):
    """The agent's file is not written on the chain, so single fields of it cannot be changed there."""


class NothingToUpdate(GolemError, status=422, recovery=Recovery.FIX_PARAMS, title="The registration says that already"):
    """No field is named, or each is as it should be already."""


class ValidationNotOffered(
    GolemError, status=409, recovery=Recovery.FIX_PARAMS, title="Agents are not validated on that chain"
):
    """No validation registry is known on the chain."""


class ValidationRequested(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="That proof was handed in already"
):
    """The same proof was handed in before; it is answered once."""


class MilestoneNotReached(
    GolemError, status=409, recovery=Recovery.CHECK_STATE, title="That milestone cannot be claimed now"
):
    """The agent has fewer points than the milestone takes, or has claimed it."""
