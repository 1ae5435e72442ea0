"""Defines the values of the tool loop: turns of a model, calls it asks for, limits, steps, endings.

Knows no model library, no tool and no budget: `tool_loop` is handed things that keep these protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Protocol

from tools_app.core.clock import Deadline
from tools_app.core.json_types import JsonObject


def never() -> bool:
    """Nobody cancels this one."""
    return False


class ManualTool(Protocol):
    """One of the golem's Pi-facing tools as its model is shown it."""

    @property
    def name(self) -> Any: ...  # Any: a column of the golem or of its trial

    @property
    def description(self) -> str: ...

    @property
    def snippet(self) -> str: ...

    @property
    def guidelines(self) -> tuple[Any, ...]: ...  # Any: guidelines of a row or of a trial

    @property
    def parameters(self) -> JsonObject: ...

    @property
    def shown(self) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class AskedCall:
    """One call a model asks for; `arguments` is its text, which may be anything."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One answer of a model, and what it says it read and wrote: zero each where the bill cannot be."""

    text: str
    calls: tuple[AskedCall, ...]
    input_llm_tokens: int
    output_llm_tokens: int
    billed_micro_usd: int | None = None
    """What it says that it costs; None where it says nothing of money."""

    @property
    def is_billed(self) -> bool:
        """Whether there is a bill; whoever reads a request reads something."""
        return self.input_llm_tokens > 0


class Bill(StrEnum):
    """How a provider's bill stands to what its tokens come to at the prices in the settings."""

    COUNTED = "counted"
    """Tokens at their prices count: the bill says nothing of money, or no more than they come to."""
    DEARER = "dearer"
    """It is for more, and counts."""
    DOUBTED = "doubted"
    """It is missing or cannot be; the worst case of the request counts."""


MOST_CHARACTERS_PER_LLM_TOKEN: Final = 200
"""More than any model reads or writes as one token: the longest of common vocabularies are runs of 128 spaces."""


def doubt_bill(turn: ModelTurn, *, characters: int) -> ModelTurn:
    """The turn without its bill where that is for less than can be read of `characters`, or than it wrote itself: its
    purse then counts the worst case.
    """
    written = len(turn.text) + sum(len(call.arguments) for call in turn.calls)
    is_too_low = (
        turn.input_llm_tokens * MOST_CHARACTERS_PER_LLM_TOKEN < characters
        or turn.output_llm_tokens * MOST_CHARACTERS_PER_LLM_TOKEN < written
    )
    return replace(turn, input_llm_tokens=0, output_llm_tokens=0) if is_too_low else turn


@dataclass(frozen=True, slots=True)
class Exchange:
    """Words that were said before, and the last word that came back; neither is empty."""

    asked: str
    said: str


class Dialogue(Protocol):
    """An exchange with one model that has begun."""

    @property
    def characters(self) -> int:
        """How much the next request carries, about."""
        ...

    def ask(self, *, seconds: float, is_cancelled: Callable[[], bool]) -> ModelTurn:
        """The model's next turn. Raises ModelTimedOut, ModelUnavailable, ModelAnswerInvalid, ThinkingCancelled.

        `is_cancelled` is asked a few times a second while the model writes.
        """
        ...

    def answer(self, *, call: AskedCall, content: Mapping[str, Any]) -> None:  # Any: JSON, as models ask and see it
        """Put the answer of a tool into the next request."""
        ...

    def offer(self, tools: Sequence[ManualTool]) -> None:
        """Show `tools` from the next request on."""
        ...

    def instruct(self, instructions: str) -> None:
        """Say `instructions` from the next request on, in the place of those before."""
        ...


class CallDesk(Protocol):
    """What runs the calls a model makes."""

    @property
    def is_over(self) -> bool:
        """Whether a call ended the golem's acting, so that nothing further makes sense."""
        ...

    @property
    def tools(self) -> Sequence[ManualTool]:
        """The tools as they are shown now; a call may load others."""
        ...

    def may_run_beside(self, *, name: str, arguments: Mapping[str, object]) -> bool:
        """Whether the call changes nothing, neither rows nor what is shown, so that it may run beside others."""
        ...

    def run(
        self,
        *,
        name: str,
        arguments: Mapping[str, Any],  # Any: JSON, as models ask and see it
        deadline: Deadline,
    ) -> JsonObject:
        """The call's answer. Raises GolemError."""
        ...


class Purse(Protocol):
    """What pays for requests."""

    def hold(self, *, characters: int) -> None:
        """Reserve the worst case of the next request. Raises ModelBudgetSpent, ThinkingTooDear."""
        ...

    def settle(self, *, turn: ModelTurn | None, is_free: bool = False) -> Bill:
        """Put the real cost in its place; None when no answer came back, `is_free` when nobody can have read it."""
        ...

    @property
    def spent_micro_usd(self) -> int:
        """What was paid so far, in micro-USD."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationLimits:
    """Numbers of one deliberation. `llm_tokens` None: only money bounds them; 1 in `beside`: one call after another."""

    rounds: int
    calls: int
    identical_calls: int
    argument_bytes: int
    request_seconds: float
    summary_characters: int
    llm_tokens: int | None = None
    beside: int = 1
    retries: int = 0
    retry_seconds: float = 0.5


class HappeningKind(StrEnum):
    """What a listener is told of, in the order it happens."""

    ASKED = "asked"
    RETRIED = "retried"
    SAID = "said"
    CALLED = "called"
    ANSWERED = "answered"
    PAID = "paid"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Happening:
    """One step of a loop, told as it happens. `call` stands in CALLED and ANSWERED; the rest only where it applies.

    `words` are the model's (SAID) or a code (RETRIED, ENDED); `answer` is what the tool gave back, foreign text in it.
    """

    kind: HappeningKind
    round: int
    call: AskedCall | None = None
    words: str = ""
    answer: Mapping[str, Any] | None = None  # Any: JSON, as models ask and see it
    spent_micro_usd: int = 0


Listener = Callable[[Happening], None]


MOST_LINES: Final = 40
"""Calls of one thinking that are kept by name; more are counted."""


@dataclass(frozen=True, slots=True)
class AskedToolCall:
    """One call of a model: the tool, what about, and where it was refused the code and the reason."""

    name: str
    about: str = ""
    code: str = ""
    reason: str = ""

    def as_json(self) -> dict[str, str]:
        """For the decision's record."""
        told = {"name": self.name, "about": self.about, "code": self.code, "reason": self.reason}
        return {name: value for name, value in told.items() if value}


@dataclass(slots=True)
class Transcript:
    """What happened. `asked` are the first calls in order and `refusals` codes in order; `stopped_by` is what ended it
    early, or empty.
    """

    summary: str = ""
    asked: list[AskedToolCall] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    stopped_by: str = ""
    rounds: int = 0
    calls: int = 0
    input_llm_tokens: int = 0
    output_llm_tokens: int = 0
    doubted_bills: int = 0
    """Answers whose bill was missing or could not be; each counted as the worst case of its request."""
    dearer_bills: int = 0
    """Answers billed at more than their tokens come to; each counted as billed."""
