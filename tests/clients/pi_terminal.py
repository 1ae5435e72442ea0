"""The real pi in a real terminal: a pseudo-terminal, the keys a person presses, and the screen they look at."""

from __future__ import annotations

import codecs
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from select import select

import pyte
from ptyprocess import PtyProcess

ROWS, COLUMNS = 50, 140
PATIENCE_SECONDS = 120
ENTER, ESCAPE, UP, DOWN = "\r", "\x1b", "\x1b[A", "\x1b[B"
HALT_KEY = "\x1b\x08"
"""Ctrl+Alt+H as a terminal without any extended keyboard protocol sends it."""


class PiTerminal:
    """One pi on one screen."""

    def __init__(self, process: PtyProcess) -> None:
        self._process = process
        self._screen = pyte.HistoryScreen(COLUMNS, ROWS, history=5_000, ratio=1.0)
        self._stream = pyte.Stream(self._screen)
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode

    @property
    def text(self) -> str:
        """What stands on the screen now, with what went out of it above."""
        above = ["".join(line[column].data for column in range(COLUMNS)) for line in self._screen.history.top]
        return "\n".join(line.rstrip() for line in [*above, *self._screen.display])

    def press(self, keys: str) -> None:
        """Send `keys` as they come from a keyboard."""
        self._process.write(keys.encode())

    def say(self, text: str) -> None:
        """Type a line and send it, once it stands in the editor."""
        self.press(text)
        self.see(text)
        self.press(ENTER)

    def see(self, *wanted: str) -> str:
        """The text once all of `wanted` are on it. Raises AssertionError with the screen after that."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not all(each in self.text for each in wanted):
            left = deadline - time.monotonic()
            missing = [each for each in wanted if each not in self.text]
            assert left > 0, f"not on the screen: {missing}\n{self.text}"
            ready, _, _ = select([self._process.fd], [], [], left)
            if ready:
                try:
                    raw = os.read(self._process.fd, 65_536)
                except OSError:
                    raw = b""
                assert raw, f"pi ended; not on the screen: {missing}\n{self.text}"
                self._stream.feed(self._decode(raw))
        return self.text


@contextmanager
def terminal(argv: list[str], *, environment: Mapping[str, str]) -> Iterator[PiTerminal]:
    """What a person sees of `argv`, which starts pi in its home."""
    process = PtyProcess.spawn(
        argv,
        cwd=environment["HOME"],
        env={**environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"},
        dimensions=(ROWS, COLUMNS),
    )
    try:
        yield PiTerminal(process)
    finally:
        process.kill(signal.SIGKILL)
        process.close(force=True)
