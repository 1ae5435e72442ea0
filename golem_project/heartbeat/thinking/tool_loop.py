"""The tool loop: ask a model, run the calls it makes, give it the answers, until it is done or has to stop.

One loop for heartbeats, delegates and conversations with an owner. Every limit is a number of `ConversationLimits`;
what ends a loop early is named by the code of an error and never raised.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from django.db import connections

from golem_project.heartbeat.thinking.call_arguments import read_arguments, spell_alike
from golem_project.heartbeat.thinking.errors import (
    ModelEndpointRefused,
    ModelTimedOut,
    ModelUnavailable,
    ThinkingCancelled,
    ThinkingLoops,
    ThinkingOutOfTime,
    ThinkingTooLong,
)
from golem_project.heartbeat.thinking.loop_values import (
    MOST_LINES,
    AskedCall,
    AskedToolCall,
    Bill,
    CallDesk,
    ConversationLimits,
    Dialogue,
    Happening,
    HappeningKind,
    Listener,
    ModelTurn,
    Purse,
    Transcript,
    doubt_bill,
    never,
)
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.storable_text import make_plain

LOOP_WINDOW = 20
LEAST_SECONDS = 0.05
_LOOK_SECONDS = 0.05
_ABOUT = ("action_type", "query", "tool_name", "tool", "name", "category")
_LONGEST_ABOUT = 64
_LONGEST_REASON = 300


def hold_conversation(
    *,
    dialogue: Dialogue,
    desk: CallDesk,
    purse: Purse,
    limits: ConversationLimits,
    deadline: Deadline,
    listen: Listener | None = None,
    is_cancelled: Callable[[], bool] = never,
    instruct: Callable[[], str] | None = None,
) -> Transcript:
    """Run the exchange to its end. Raises no GolemError; a model can neither crash it nor keep it going.

    When a call loaded other tools, the model is shown them, and `instruct` writes its instructions anew.

    `listen` is told each step in order, in this thread. `is_cancelled` ends the loop between two steps, while a model
    is waited for and while a retry is; a call that runs is let end, because its effect could not be known otherwise.
    """
    return _Loop(dialogue, desk, purse, limits, deadline, listen or _nobody, is_cancelled, instruct).run()


def _nobody(happening: Happening) -> None:
    return


@dataclass(slots=True)
class _Loop:
    dialogue: Dialogue
    desk: CallDesk
    purse: Purse
    limits: ConversationLimits
    deadline: Deadline
    listen: Listener
    is_cancelled: Callable[[], bool]
    instruct: Callable[[], str] | None
    transcript: Transcript = field(default_factory=Transcript)
    recent: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=LOOP_WINDOW))

    def run(self) -> Transcript:
        transcript, desk = self.transcript, self.desk
        offered = desk.tools
        try:
            while True:
                if desk.tools is not offered:
                    offered = desk.tools
                    self.dialogue.offer(offered)
                    if self.instruct is not None:
                        self.dialogue.instruct(self.instruct())
                turn = self._ask()
                if turn.text.strip():
                    transcript.summary = turn.text.strip()[: self.limits.summary_characters]
                    self._tell(HappeningKind.SAID, words=transcript.summary)
                if not turn.calls or desk.is_over:
                    break
                self._run_calls(turn.calls)
                if desk.is_over:
                    break
        except GolemError as error:
            transcript.stopped_by = str(error.as_problem()["code"])
        self._tell(HappeningKind.ENDED, words=transcript.stopped_by)
        return transcript

    def _tell(self, kind: HappeningKind, **facts: Any) -> None:  # Any: what happened tells facts of any type
        spent = self.purse.spent_micro_usd
        self.listen(Happening(kind, self.transcript.rounds, spent_micro_usd=spent, **facts))

    def _check(self) -> None:
        if self.is_cancelled():
            raise ThinkingCancelled("it was cancelled")

    def _ask(self) -> ModelTurn:
        transcript, limits = self.transcript, self.limits
        if transcript.rounds >= limits.rounds:
            raise ThinkingTooLong(f"{limits.rounds} rounds without a last word")
        read = transcript.input_llm_tokens + transcript.output_llm_tokens
        if limits.llm_tokens is not None and read >= limits.llm_tokens:
            raise ThinkingTooLong(f"more than {limits.llm_tokens} tokens were read and written")
        self._tell(HappeningKind.ASKED)
        turn = self._ask_again()
        transcript.rounds += 1
        transcript.input_llm_tokens += turn.input_llm_tokens
        transcript.output_llm_tokens += turn.output_llm_tokens
        self._tell(HappeningKind.PAID)
        return turn

    def _ask_again(self) -> ModelTurn:
        """The model's turn, asked for again where the endpoint was away; each request is paid for by itself."""
        for left in range(self.limits.retries, 0, -1):
            try:
                return self._ask_once()
            except ModelUnavailable as error:
                if not error.is_passing:
                    raise
                self._tell(HappeningKind.RETRIED, words=error.code)
                self._wait(self.limits.retry_seconds * 2 ** (self.limits.retries - left))
        return self._ask_once()

    def _ask_once(self) -> ModelTurn:
        self._check()
        seconds = min(self.limits.request_seconds, self.deadline.remaining_ms() / 1000)
        if seconds < LEAST_SECONDS:
            raise ThinkingOutOfTime("nothing is left of the time for this")
        characters = self.dialogue.characters
        self.purse.hold(characters=characters)
        turn: ModelTurn | None = None
        is_free = False
        try:
            turn = doubt_bill(self.dialogue.ask(seconds=seconds, is_cancelled=self.is_cancelled), characters=characters)
        except (ModelUnavailable, ModelTimedOut, ModelEndpointRefused) as error:
            is_free = error.costs_nothing
            raise
        finally:
            bill = self.purse.settle(turn=turn, is_free=is_free)
        self.transcript.doubted_bills += bill is Bill.DOUBTED
        self.transcript.dearer_bills += bill is Bill.DEARER
        return turn

    def _wait(self, seconds: float) -> None:
        until = Deadline.after_ms(min(seconds * 1000, self.deadline.remaining_ms()))
        while not until.is_over:
            self._check()
            time.sleep(_LOOK_SECONDS)

    def _run_calls(self, calls: Sequence[AskedCall]) -> None:
        """Every call in its order; neighbours that change nothing run beside each other, as many as the limits say."""
        for batch in self._batches(calls):
            for call in batch:
                self._admit(call)
            if len(batch) == 1:
                contents = [self._answer(batch[0])]
            else:
                with ThreadPoolExecutor(len(batch), thread_name_prefix="tool-call") as pool:
                    # Events belong to the tick, a delegate's reads to its hop, and what is kept back to the call.
                    asked = [pool.submit(copy_context().run, _in_own_connection, self._answer, call) for call in batch]
                    contents = [each.result() for each in asked]
            for call, (content, code) in zip(batch, contents, strict=True):
                if code:
                    self.transcript.refusals.append(code)
                if len(self.transcript.asked) < MOST_LINES:
                    self.transcript.asked.append(self._note(call, content, code))
                self._tell(HappeningKind.ANSWERED, call=call, answer=content, words=code)
                self.dialogue.answer(call=call, content=content)
            if self.desk.is_over:
                return

    def _batches(self, calls: Sequence[AskedCall]) -> Iterator[list[AskedCall]]:
        most = self.limits.beside
        for may_wait, found in groupby(calls, key=self._may_run_beside):
            neighbours = list(found)
            width = most if may_wait else 1
            for start in range(0, len(neighbours), width):
                yield neighbours[start : start + width]

    def _may_run_beside(self, call: AskedCall) -> bool:
        if self.limits.beside < 2:
            return False
        try:
            arguments = read_arguments(call.arguments, most_bytes=self.limits.argument_bytes)
        except GolemError:
            return False
        return self.desk.may_run_beside(name=call.name, arguments=arguments)

    def _admit(self, call: AskedCall) -> None:
        transcript, limits = self.transcript, self.limits
        self._check()
        transcript.calls += 1
        if transcript.calls > limits.calls:
            raise ThinkingTooLong(f"more than {limits.calls} calls")
        if self.deadline.is_over:
            raise ThinkingOutOfTime("the time ran out between two calls")
        # Two spellings of one object are one call.
        self.recent.append((call.name, spell_alike(call.arguments, most_bytes=limits.argument_bytes)))
        if self.recent.count(self.recent[-1]) >= limits.identical_calls:
            raise ThinkingLoops(f"{call.name[:64]!r} with the same arguments {limits.identical_calls} times")
        self._tell(HappeningKind.CALLED, call=call)

    def _note(
        self,
        call: AskedCall,
        content: Mapping[str, Any],  # Any: JSON, as models ask and see it
        code: str,
    ) -> AskedToolCall:
        try:
            about = _read_about(read_arguments(call.arguments, most_bytes=self.limits.argument_bytes))
        except GolemError:
            about = ""
        reason = str(content.get("error", {}).get("detail", ""))[:_LONGEST_REASON] if code else ""
        return AskedToolCall(call.name[:64], about, code, make_plain(reason))

    def _answer(self, call: AskedCall) -> tuple[JsonObject, str]:
        """The tool's answer, or its refusal and the refusal's code."""
        try:
            arguments = read_arguments(call.arguments, most_bytes=self.limits.argument_bytes)
            return self.desk.run(name=call.name, arguments=arguments, deadline=self.deadline), ""
        except GolemError as error:
            problem = error.as_problem()
            return {"error": problem}, str(problem["code"])


def _read_about(arguments: Mapping[str, object]) -> str:
    """What a call is about, in a word: its action, query or tool."""
    found = next((arguments[name] for name in _ABOUT if isinstance(arguments.get(name), str)), "")
    return make_plain(str(found))[:_LONGEST_ABOUT]


def _in_own_connection(
    answer: Callable[[AskedCall], tuple[dict[str, object], str]], call: AskedCall
) -> tuple[dict[str, object], str]:
    """A call in a thread of its own gives its database connection back."""
    try:
        return answer(call)
    finally:
        connections.close_all()
