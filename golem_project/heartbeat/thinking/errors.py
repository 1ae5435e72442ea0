"""Errors of thinking. They end a deliberation or one call in it; none of them leaves a permit half-way."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


def is_turned_away(status: int) -> bool:
    """Whether an endpoint that answers this has read nothing for money: a fault of the request, or too many of them."""
    return 400 <= status < 500 or status in (503, 529)


class ModelNotConfigured(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="No language model is set up"):
    """No language model is set up for this tier, or one whose price is not known."""


class ModelEndpointRefused(
    GolemError,
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="The model's endpoint is not one this server may speak to",
):
    """The endpoint is not one this server may speak to: no TLS, or an address inside its own network."""

    costs_nothing = True
    """Nothing was sent."""


class ModelUnavailable(
    GolemError,
    status=503,
    recovery=Recovery.WAIT,
    title="The language model does not answer",
    cleared_by="the model's endpoint answers again",
):
    """The endpoint does not answer, or answers with an error. `data` has its status where it gave one."""

    @property
    def costs_nothing(self) -> bool:
        """Whether nothing was read for money: it was never sent, or turned away unread."""
        status = self.data.get("status")
        return self.data.get("was_sent") is False or (isinstance(status, int) and is_turned_away(status))

    @property
    def is_passing(self) -> bool:
        """Whether the same request may do a moment later: nobody answered, or who did was busy or broken."""
        status = self.data.get("status")
        return not isinstance(status, int) or status == 429 or status >= 500


class ModelTimedOut(
    GolemError,
    status=504,
    recovery=Recovery.WAIT,
    title="The language model did not answer in time",
    cleared_by="a model that answers in time",
):
    """The model did not answer in the time that was left. `data` has `was_sent` where it was not even connected."""

    @property
    def costs_nothing(self) -> bool:
        """Whether it was never sent."""
        return self.data.get("was_sent") is False


class ModelAnswerInvalid(
    GolemError,
    status=502,
    recovery=Recovery.WAIT,
    title="The language model's answer cannot be read",
    cleared_by="the next answer of the model",
):
    """What came back is no answer of a model: not JSON, no message, too long, or without a word."""


class GolemInDryRun(GolemError, status=409, recovery=Recovery.ASK_OWNER, title="This golem only rehearses"):
    """The heartbeat rehearses: it previews and commits nothing until the owner sets the golem live."""


class ThinkingLoops(GolemError, status=409, recovery=Recovery.GIVE_UP, title="The same call was made too often"):
    """The same call again and again: the deliberation is ended."""


class ThinkingTooLong(GolemError, status=409, recovery=Recovery.GIVE_UP, title="The deliberation took too many steps"):
    """More rounds or calls than one deliberation may take."""


class ThinkingOutOfTime(
    GolemError,
    status=504,
    recovery=Recovery.WAIT,
    title="The time for this deliberation is used up",
    cleared_by="the next heartbeat tick",
):
    """The tick's time is used up."""


class ThinkingTooDear(
    GolemError, status=409, recovery=Recovery.GIVE_UP, title="The conversation costs more than it may"
):
    """What one conversation may cost would not cover the worst case of its next request."""


class ThinkingCancelled(GolemError, status=409, recovery=Recovery.GIVE_UP, title="It was cancelled"):
    """Who asked for it wants no more of it."""


class ChatOnlyRehearses(GolemError, status=409, recovery=Recovery.GIVE_UP, title="A conversation only rehearses"):
    """A conversation with an owner previews and reads; nothing it asks for takes effect."""
