"""Defines what can be wrong with an identity, each with the next step for its reader."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class AgentNotFound(GolemError):
    """The registry of the chain knows no agent of this number."""

    code = "AGENT_NOT_FOUND"
    http_status = 404
    recovery = Recovery.FIX_PARAMS
    title = "No such agent is registered"


class AgentOnAnotherChain(GolemError):
    """The agent's id names another chain than the call does."""

    code = "AGENT_ON_ANOTHER_CHAIN"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The agent is registered on another chain"


class AgentNotOwned(GolemError):
    """The golem's account neither owns the agent nor may manage it."""

    code = "AGENT_NOT_OWNED"
    http_status = 403
    recovery = Recovery.FIX_PARAMS
    title = "That agent is not this golem's"


class OwnAgentFeedback(GolemError):
    """Nobody gives feedback to an agent that is his own or that he manages."""

    code = "OWN_AGENT_FEEDBACK"
    http_status = 403
    recovery = Recovery.GIVE_UP
    title = "An agent's owner gives it no feedback"


class RegistrationTooLong(GolemError):
    """The registration file would be longer than what is written on a chain here."""

    code = "REGISTRATION_TOO_LONG"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The registration file is too long"


class RegistrationElsewhere(GolemError):
    """The agent's file is not written on the chain, so single fields of it cannot be changed there."""

    code = "REGISTRATION_ELSEWHERE"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The registration file is kept elsewhere"


class NothingToUpdate(GolemError):
    """No field is named, or each is as it should be already."""

    code = "NOTHING_TO_UPDATE"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    title = "The registration says that already"


class ValidationNotOffered(GolemError):
    """No validation registry is known on the chain."""

    code = "VALIDATION_NOT_OFFERED"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    title = "Agents are not validated on that chain"


class ValidationRequested(GolemError):
    """The same proof was handed in before; it is answered once."""

    code = "VALIDATION_REQUESTED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "That proof was handed in already"


class MilestoneNotReached(GolemError):
    """The agent has fewer points than the milestone takes, or has claimed it."""

    code = "MILESTONE_NOT_REACHED"
    http_status = 409
    recovery = Recovery.CHECK_STATE
    title = "That milestone cannot be claimed now"
