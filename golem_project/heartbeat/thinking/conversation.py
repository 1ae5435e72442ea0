"""One deliberation: ask the model, run the calls it makes, give it the answers, until it is done or has to stop.

Knows no model library, no tool and no budget: they are handed in. Every limit is a number of `ConversationLimits`; what
ends a conversation early is named by the code of an error and never raised. Seed: facts 7 (loop guard), 10.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from golem_project.heartbeat.thinking.errors import ThinkingLoops, ThinkingOutOfTime, ThinkingTooLong
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError, InvalidParams
from tools_app.core.outside_json import read_exact_json

LOOP_WINDOW = 20
LEAST_SECONDS = 0.05


class GuidelineText(Protocol):
    """One rule of use; `phases` empty means always."""

    @property
    def text(self) -> str: ...

    @property
    def phases(self) -> tuple[Any, ...]: ...


class ManualTool(Protocol):
    """One of the golem's Pi-facing tools as its model is shown it."""

    @property
    def name(self) -> Any: ...

    @property
    def description(self) -> str: ...

    @property
    def snippet(self) -> str: ...

    @property
    def guidelines(self) -> tuple[Any, ...]: ...

    @property
    def parameters(self) -> dict[str, Any]: ...

    @property
    def shown(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class AskedCall:
    """One call a model asks for; `arguments` is its text, which may be anything."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of a model, and what it says it read and wrote: zero each where the bill cannot be."""

    text: str
    calls: tuple[AskedCall, ...]
    input_llm_tokens: int
    output_llm_tokens: int

    @property
    def is_billed(self) -> bool:
        """Whether there is a bill; whoever reads a request reads something."""
        return self.input_llm_tokens > 0


class Dialogue(Protocol):
    """An exchange with one model that has begun."""

    @property
    def characters(self) -> int:
        """How much the next request carries, about."""
        ...

    def ask(self, *, seconds: float) -> Turn:
        """The model's next turn. Raises ModelTimedOut, ModelUnavailable, ModelAnswerInvalid."""
        ...

    def answer(self, *, call: AskedCall, content: Mapping[str, Any]) -> None:
        """Put the answer of a tool into the next request."""
        ...

    def offer(self, tools: Sequence[ManualTool]) -> None:
        """Show `tools` from the next request on."""
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

    def run(self, *, name: str, arguments: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
        """The call's answer. Raises GolemError."""
        ...


class Purse(Protocol):
    """What pays for requests."""

    def hold(self, *, characters: int) -> None:
        """Reserve the worst case of the next request. Raises ModelBudgetSpent."""
        ...

    def settle(self, *, turn: Turn | None) -> None:
        """Put the real cost in its place; None when no answer came back."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationLimits:
    """Numbers of one deliberation."""

    rounds: int
    calls: int
    identical_calls: int
    argument_bytes: int
    request_seconds: float
    summary_characters: int


@dataclass(slots=True)
class Transcript:
    """What happened. `refusals` are codes in order; `stopped_by` is what ended it early, or empty."""

    summary: str = ""
    refusals: list[str] = field(default_factory=list)
    stopped_by: str = ""
    rounds: int = 0
    calls: int = 0
    input_llm_tokens: int = 0
    output_llm_tokens: int = 0
    doubted_bills: int = 0
    """Answers whose bill was missing or could not be; each counted as the worst case of its request."""


def hold_conversation(
    *, dialogue: Dialogue, desk: CallDesk, purse: Purse, limits: ConversationLimits, deadline: Deadline
) -> Transcript:
    """Run the exchange to its end. Raises no GolemError; a model can neither crash it nor keep it going."""
    transcript = Transcript()
    recent: deque[tuple[str, str]] = deque(maxlen=LOOP_WINDOW)
    offered = desk.tools
    try:
        while True:
            if desk.tools is not offered:
                offered = desk.tools
                dialogue.offer(offered)
            if transcript.rounds >= limits.rounds:
                raise ThinkingTooLong(f"{limits.rounds} rounds without a last word")
            turn = _ask(dialogue, purse, limits, deadline, transcript)
            if turn.text.strip():
                transcript.summary = turn.text.strip()[: limits.summary_characters]
            if not turn.calls or desk.is_over:
                return transcript
            _run_calls(turn.calls, dialogue, desk, limits, deadline, transcript, recent)
            if desk.is_over:
                return transcript
    except GolemError as error:
        transcript.stopped_by = str(error.as_problem()["code"])
        return transcript


def _ask(
    dialogue: Dialogue, purse: Purse, limits: ConversationLimits, deadline: Deadline, transcript: Transcript
) -> Turn:
    seconds = min(limits.request_seconds, deadline.remaining_ms() / 1000)
    if seconds < LEAST_SECONDS:
        raise ThinkingOutOfTime("nothing is left of the tick's time")
    purse.hold(characters=dialogue.characters)
    turn: Turn | None = None
    try:
        turn = dialogue.ask(seconds=seconds)
    finally:
        purse.settle(turn=turn)
    transcript.rounds += 1
    transcript.doubted_bills += not turn.is_billed
    transcript.input_llm_tokens += turn.input_llm_tokens
    transcript.output_llm_tokens += turn.output_llm_tokens
    return turn


def _run_calls(
    calls: Sequence[AskedCall],
    dialogue: Dialogue,
    desk: CallDesk,
    limits: ConversationLimits,
    deadline: Deadline,
    transcript: Transcript,
    recent: deque[tuple[str, str]],
) -> None:
    for call in calls:
        transcript.calls += 1
        if transcript.calls > limits.calls:
            raise ThinkingTooLong(f"more than {limits.calls} calls")
        if deadline.is_over:
            raise ThinkingOutOfTime("the tick's time ran out between two calls")
        # Two spellings of one object are one call.
        recent.append((call.name, _canonical(call.arguments, limits.argument_bytes)))
        if recent.count(recent[-1]) >= limits.identical_calls:
            raise ThinkingLoops(f"{call.name[:64]!r} with the same arguments {limits.identical_calls} times")
        try:
            content = desk.run(name=call.name, arguments=_parse(call, limits), deadline=deadline)
        except GolemError as error:
            problem = error.as_problem()
            transcript.refusals.append(str(problem["code"]))
            content = {"error": problem}
        dialogue.answer(call=call, content=content)
        if desk.is_over:
            return


def _parse(call: AskedCall, limits: ConversationLimits) -> dict[str, Any]:
    if len(call.arguments.encode(errors="replace")) > limits.argument_bytes:
        raise InvalidParams(f"the arguments are longer than {limits.argument_bytes} bytes")
    try:
        found = read_exact_json(
            call.arguments or "{}",
            most_bytes=limits.argument_bytes,
            parse_float=_refuse_fraction,
            parse_constant=_refuse_fraction,
        )
    except ValueError:
        raise InvalidParams("the arguments are not a JSON object with whole numbers") from None
    if not isinstance(found, dict):
        raise InvalidParams("the arguments must be one JSON object")
    if not _is_storable(found):
        raise InvalidParams("the arguments hold a NUL or half a character pair")
    return found


def _is_storable(found: Mapping[str, Any]) -> bool:
    """Whether every text in it can be written to a database and sent on."""
    try:
        return b"\\u0000" not in json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False


def _refuse_fraction(text: str) -> Any:
    # Amounts are whole base units; a fraction is a misunderstanding that must not be rounded.
    raise ValueError(text)


def _canonical(arguments: str, most_bytes: int) -> str:
    try:
        return json.dumps(read_exact_json(arguments, most_bytes=most_bytes), sort_keys=True)
    except ValueError:
        return arguments
