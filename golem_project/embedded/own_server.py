"""Runs one embedded server: its folder, the record of its process, and a port that it keeps.

A server that another process looks after is shared; a leftover of one that died is ended before a new one starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import say_to_stderr
from golem_project.embedded.process import (
    Child,
    RunningServer,
    find_recorded_server,
    forget_record,
    free_port,
    is_port_free,
    stop_process,
    write_server_record,
)


class OwnServer:
    """One server. `child` is set while it is ours, `port` while it runs."""

    title: ClassVar[str]
    """Its name in messages."""
    leftover_signals: ClassVar[Sequence[tuple[int, float]]]
    """What ends a leftover: signals, and the seconds each is given."""

    def __init__(self, *, record: Path, port_file: Path) -> None:
        self.child: Child | None = None
        self.port = 0
        self._record = record
        self._port_file = port_file

    def find_running(self) -> RunningServer | None:
        """The server that runs on our folder, whoever started it."""
        return find_recorded_server(self._record)

    def is_alive(self) -> bool:
        """Whether its process runs, be it ours or one that is shared."""
        return not self.child.has_ended() if self.child is not None else self.find_running() is not None

    def _share_running(self) -> bool:
        """Take the port of a server that somebody looks after. False when there is none, and no leftover any more."""
        self._bury_child()
        running = self.find_running()
        if running is None:
            return False
        if running.is_looked_after:
            self.port = running.port
            return True
        if not stop_process(running.identity, signals=self.leftover_signals):
            raise EmbeddedError(
                f"{self.title} (process {running.identity.pid}) does not end. Fix: end it, then try again."
            )
        return False

    def _bury_child(self) -> None:
        """A server of ours that crashed is waited for, so that its process id can be told from a new one."""
        if self.child is not None and self.child.has_ended():
            self.child.stop()
            self.child = None

    def _end_child(self, *, graceful_signal: int, grace_seconds: float) -> None:
        """Stop the server if this object started it."""
        if self.child is None:
            return
        self.child.stop(graceful_signal=graceful_signal, grace_seconds=grace_seconds)
        forget_record(self._record, self.child.identity)
        self.child = None

    def _record_child(self, child: Child, port: int) -> None:
        """Before it is ready, so that a starter killed now leaves nothing unknown behind."""
        write_server_record(self._record, child.identity, port)

    def _remembered_port(self) -> int:
        """The last port, so that addresses in running programs stay right; another if it is taken."""
        text = self._port_file.read_text().strip() if self._port_file.exists() else ""
        return int(text) if text.isdigit() and is_port_free(int(text)) else free_port()

    def _another_port(self, port: int) -> int:
        """A free port after a start on `port` failed; says so when another program took that one meanwhile."""
        other = free_port()
        if not is_port_free(port):
            say_to_stderr(f"{self.title}: another program took port {port} just now, trying {other}")
        return other

    def _keep_port(self, port: int) -> None:
        self.port = port
        self._port_file.write_text(f"{port}\n")
