"""Prints the lines of every process with the name it came from, on the screen and into a file."""

from __future__ import annotations

import os
import re
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, TextIO

from golem_project.embedded.process import LONGEST_LOG_BYTES, open_log

COLOURS = (36, 35, 34, 33, 32, 96, 95, 94, 93, 92)
NAME_WIDTH = 10
# What the servers and Celery tell about themselves all the time. The files hold it, the screen does not.
CHATTER = re.compile(
    r" INFO (celery|kombu|django_celery_beat)[. ]| LOG:  |overcommit|^worker: Warm shutdown"
    r"|signal-handler|Valkey is now ready to exit|background worker|^celery beat v|^\s*$"
)

# Written behind what a process has said: whoever reads it has read all of that. No program of ours says it.
_MARK = b"\0read up to here\0"
_CARRY_SECONDS = 5.0


class Output:
    """Prints whole lines from several threads; colours only on a terminal that wants them."""

    def __init__(
        self, log_dir: Path, *, stream: TextIO = sys.stdout, quiet: bool = False, shows_chatter: bool = False
    ) -> None:
        self.log_dir = log_dir
        self.quiet = quiet
        self.shows_chatter = shows_chatter
        self._stream = stream
        self._has_colour = stream.isatty() and not os.environ.get("NO_COLOR")
        self._lock = threading.Lock()
        self._pumps: dict[str, Pump] = {}

    def say(self, text: str) -> None:
        """A line of the supervisor itself."""
        self._write("golem", text, 1)

    def line(self, name: str, text: str) -> None:
        """A line of the process `name`."""
        if not self.quiet and (self.shows_chatter or not CHATTER.search(text)):
            self._write(name, text, COLOURS[sum(name.encode()) % len(COLOURS)])

    def print_last_lines(self) -> None:
        """What every process said last, for a failure of a quiet run."""
        if self.quiet:
            self.quiet = False
            for pump in list(self._pumps.values()):
                for text in pump.last_lines:
                    self.line(pump.name, text)

    def pump(self, name: str) -> Pump:
        """The pump of `name`, made on the first call; it outlives restarts of the process."""
        if name not in self._pumps:
            self._pumps[name] = Pump(name, self)
        return self._pumps[name]

    def close(self) -> None:
        """Print what is left; nothing may be started into these pumps afterwards."""
        for pump in self._pumps.values():
            pump.close()
        self._pumps.clear()

    def _write(self, name: str, text: str, colour: int) -> None:
        label = f"{name:<{NAME_WIDTH}}|"
        if self._has_colour:
            label = f"\x1b[{colour}m{label}\x1b[0m"
        # Where the screen is a file, its disk may be full.
        with self._lock, suppress(OSError):
            self._stream.write(f"{label} {text}\n")
            self._stream.flush()


class LogFile:
    """A process's file, of bounded length while it is written too. What a full disk does not take is left out of it:
    whoever stopped reading would stop the process that speaks.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, open_log(path)

    def write(self, said: bytes) -> None:
        """Append whole lines."""
        with suppress(OSError):
            self._file.write(said)
            self._file.flush()
            if self._file.tell() > LONGEST_LOG_BYTES:
                aside, self._file = self._file, open_log(self._path)
                aside.close()

    def close(self) -> None:
        """Nothing is written any more."""
        with suppress(OSError):
            self._file.close()


class Pump:
    """Carries one process's output from a pipe to the screen and to `<log_dir>/<name>.log`."""

    def __init__(self, name: str, output: Output) -> None:
        self.name = name
        self.last_lines: list[str] = []
        self._output = output
        self._wanted: re.Pattern[str] | None = None
        self._seen = threading.Event()
        self._has_caught_up = threading.Event()
        reading, self.write_end = os.pipe()
        source, log = os.fdopen(reading, "rb"), LogFile(output.log_dir / f"{name}.log")
        self._thread = threading.Thread(target=self._carry, args=(source, log), name=f"log-{name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let the thread read what is left and end; for when no process writes any more."""
        os.close(self.write_end)
        self._thread.join(timeout=2.0)

    def expect(self, pattern: str) -> None:
        """From now on remember whether a line matching `pattern` came."""
        self._seen.clear()
        self._wanted = re.compile(pattern)

    def has_seen(self) -> bool:
        """Whether the expected line came."""
        return self._seen.is_set()

    def read_last_words(self) -> str:
        """The last line of a process that has ended, empty where it said nothing; what is in the pipe is waited for."""
        self._has_caught_up.clear()
        os.write(self.write_end, _MARK + b"\n")
        self._has_caught_up.wait(_CARRY_SECONDS)
        return self.last_lines[-1] if self.last_lines else ""

    def _carry(self, source: IO[bytes], log: LogFile) -> None:
        with source, closing(log):
            for raw in source:
                said, mark, _ = raw.partition(_MARK)
                if mark and not said:
                    self._has_caught_up.set()
                    continue
                log.write(said + b"\n" if mark else said)
                text = said.decode(errors="replace").rstrip()
                self.last_lines = [*self.last_lines[-19:], text]
                if self._wanted is not None and self._wanted.search(text):
                    self._seen.set()
                self._output.line(self.name, text)
                if mark:
                    self._has_caught_up.set()
