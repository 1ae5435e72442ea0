"""A conversation with a golem in a terminal: a line for each step as it happens, its cost, and an end by Ctrl-C."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from types import FrameType
from typing import Final, TextIO

from archetypes_app.models import Golem
from golem_project.chat.converse import converse
from golem_project.heartbeat.thinking.loop_values import Exchange, Happening, HappeningKind
from golem_project.heartbeat.thinking.model_client import ModelClient
from tools_app.core import clock
from tools_app.core.storable_text import make_plain
from tools_app.core.units import format_micro_usd

ACTOR: Final = "operator:terminal"
_LONGEST_LINE: Final = 160


class TerminalChat:
    """One conversation; what was said is kept here alone and ends with it."""

    def __init__(
        self,
        golem: Golem,
        client: ModelClient,
        write: Callable[[str], object],
        read_now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._golem = golem
        self._client = client
        self._write = write
        self._read_now = read_now
        self._history: list[Exchange] = []
        self._spent_micro_usd = 0

    def read_lines(self, lines: TextIO) -> None:
        """Say each line, until there is none or Ctrl-C is pressed between two answers."""
        try:
            for line in lines:
                if line.strip():
                    self.say(line.strip())
        except KeyboardInterrupt:
            self._write("ended")

    def say(self, words: str) -> None:
        """Say `words` and write the answer down as it comes. Ctrl-C cancels it, pressed again it ends the program."""
        with _cancelled_by_ctrl_c() as is_cancelled:
            report = converse(
                client=self._client,
                golem=self._golem,
                words=words,
                history=self._history,
                actor=ACTOR,
                listen=self._hear,
                is_cancelled=is_cancelled,
                now=self._read_now(),
            )
        self._spent_micro_usd += report.cost_micro_usd
        if report.transcript.summary:
            self._history.append(Exchange(asked=words, said=report.transcript.summary))
        ended = f"ended early: {report.transcript.stopped_by}; " if report.transcript.stopped_by else ""
        cost, total = format_micro_usd(report.cost_micro_usd), format_micro_usd(self._spent_micro_usd)
        self._write(f"{ended}{cost} for this answer, {total} in all")

    def _hear(self, happening: Happening) -> None:
        call = happening.call
        if happening.kind is HappeningKind.SAID:
            self._write(make_plain(happening.words))
        elif happening.kind is HappeningKind.RETRIED:
            self._write(f"  {happening.words}: it is asked again")
        elif happening.kind is HappeningKind.CALLED and call is not None:
            self._write(f"  > {_short(call.name)} {_short(call.arguments)}")
        elif happening.kind is HappeningKind.ANSWERED and call is not None:
            told = happening.words or _short(json.dumps(happening.answer, ensure_ascii=False, default=str))
            self._write(f"  < {told}  [{format_micro_usd(happening.spent_micro_usd)}]")


def _short(text: str) -> str:
    """One line of it: what a tool or a model wrote must not steer the terminal."""
    line = " ".join(make_plain(text).split())
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


@contextmanager
def _cancelled_by_ctrl_c() -> Iterator[Callable[[], bool]]:
    cancelled = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield cancelled.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        if cancelled.is_set():
            raise KeyboardInterrupt
        cancelled.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield cancelled.is_set
    finally:
        signal.signal(signal.SIGINT, before)
