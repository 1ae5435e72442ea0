"""Errors of thinking. They end a deliberation or one call in it; none of them leaves a permit half-way."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


def is_turned_away(status: int) -> bool:
    """Whether an endpoint that answers this has read nothing for money: a fault of the request, or too many of them."""
    return 400 <= status < 500 or status in (503, 529)


class ModelNotConfigured(GolemError):
    """No language model is set up for this tier, or one whose price is not known."""

    code = "MODEL_NOT_CONFIGURED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "No language model is set up"


class ModelEndpointRefused(GolemError):
    """The endpoint is not one this server may speak to: no TLS, or an address inside its own network."""

    code = "MODEL_ENDPOINT_REFUSED"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "The model's endpoint is not one this server may speak to"
    costs_nothing = True
    """Nothing was sent."""


class ModelUnavailable(GolemError):
    """The endpoint does not answer, or answers with an error. `data` has its status where it gave one."""

    code = "MODEL_UNAVAILABLE"
    http_status = 503
    recovery = Recovery.WAIT
    cleared_by = "the model's endpoint answers again"
    title = "The language model does not answer"

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


class ModelTimedOut(GolemError):
    """The model did not answer in the time that was left. `data` has `was_sent` where it was not even connected."""

    code = "MODEL_TIMED_OUT"
    http_status = 504
    recovery = Recovery.WAIT
    cleared_by = "a model that answers in time"
    title = "The language model did not answer in time"

    @property
    def costs_nothing(self) -> bool:
        """Whether it was never sent."""
        return self.data.get("was_sent") is False


class ModelAnswerInvalid(GolemError):
    """What came back is no answer of a model: not JSON, no message, too long, or without a word."""

    code = "MODEL_ANSWER_INVALID"
    http_status = 502
    recovery = Recovery.WAIT
    cleared_by = "the next answer of the model"
    title = "The language model's answer cannot be read"


class GolemInDryRun(GolemError):
    """The heartbeat rehearses: it previews and commits nothing until the owner sets the golem live."""

    code = "GOLEM_IN_DRY_RUN"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    title = "This golem only rehearses"


class ThinkingLoops(GolemError):
    """The same call again and again: the deliberation is ended."""

    code = "THINKING_LOOPS"
    http_status = 409
    recovery = Recovery.GIVE_UP
    title = "The same call was made too often"


class ThinkingTooLong(GolemError):
    """More rounds or calls than one deliberation may take."""

    code = "THINKING_TOO_LONG"
    http_status = 409
    recovery = Recovery.GIVE_UP
    title = "The deliberation took too many steps"


class ThinkingOutOfTime(GolemError):
    """The tick's time is used up."""

    code = "THINKING_OUT_OF_TIME"
    http_status = 504
    recovery = Recovery.WAIT
    cleared_by = "the next heartbeat tick"
    title = "The time for this deliberation is used up"


class ThinkingTooDear(GolemError):
    """What one conversation may cost would not cover the worst case of its next request."""

    code = "THINKING_TOO_DEAR"
    http_status = 409
    recovery = Recovery.GIVE_UP
    title = "The conversation costs more than it may"


class ThinkingCancelled(GolemError):
    """Who asked for it wants no more of it."""

    code = "THINKING_CANCELLED"
    http_status = 409
    recovery = Recovery.GIVE_UP
    title = "It was cancelled"


class ChatOnlyRehearses(GolemError):
    """A conversation with an owner previews and reads; nothing it asks for takes effect."""

    code = "CHAT_ONLY_REHEARSES"
    http_status = 409
    recovery = Recovery.GIVE_UP
    title = "A conversation only rehearses"
