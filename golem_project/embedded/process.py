"""Starting and ending processes: one place that makes sure nothing is left behind and nothing foreign is ended.

A child dies with the thread that started it (the kernel sees to it), so start children from a thread that lives as
long as they should. Who a process is, is its id together with its start time and the boot: ids are used again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import psutil

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import ServerAccount

SHIM = Path(__file__).with_name("exec_child.py")
LONGEST_LOG_BYTES = 20 * 1024**2
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclasses.dataclass(frozen=True)
class ProcessIdentity:
    """A process that can be recognised later: `started_at_ticks` counts clock ticks since the boot `boot_id`."""

    pid: int
    started_at_ticks: int
    boot_id: str

    def is_alive(self) -> bool:
        """Whether exactly this process still runs (a zombie does not)."""
        return identify(self.pid) == self


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of a running process, None when there is none with this id."""
    try:
        # The command's name, in brackets, may itself hold spaces and brackets: count from the last one.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The first thread of a dying process may be a zombie while others still hold its port.
    if fields[0] == "X" or (fields[0] == "Z" and int(fields[17]) <= 1):
        return None
    return ProcessIdentity(pid=pid, started_at_ticks=int(fields[19]), boot_id=BOOT_ID.read_text().strip())


class Started(Protocol):
    """A child process of this one that can be sent signals and waited for, as `subprocess.Popen` can."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | Any: ...  # Any: as the library has it

    def send_signal(self, sig: int, /) -> None: ...

    def kill(self) -> None: ...

    def wait(self) -> int: ...


class Child:
    """A process we started, the leader of its own session."""

    def __init__(self, *, name: str, process: Started) -> None:
        self.name = name
        self.process = process
        identity = identify(process.pid)
        # A command that ended at once is still our zombie, so its id cannot belong to anyone else yet.
        self.identity = identity or ProcessIdentity(process.pid, -1, "")

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def has_ended(self) -> bool:
        """Whether it is gone; leaves the exit status for `stop`, which still needs the id to be reserved."""
        if self.process.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def was_killed(self) -> bool:
        """Whether a signal ended it; False while it runs."""
        if self.process.returncode is not None:
            return self.process.returncode < 0
        try:
            ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return ended is not None and ended.si_code in (os.CLD_KILLED, os.CLD_DUMPED)

    def stop(self, *, graceful_signal: int = signal.SIGTERM, grace_seconds: float = 5.0) -> int:
        """Ask it to end, then end it and what it started. Returns the exit status."""
        if self.process.returncode is not None:
            return self.process.returncode
        if not self.has_ended():
            self.process.send_signal(graceful_signal)
        deadline = time.monotonic() + grace_seconds
        while not self.has_ended() and time.monotonic() < deadline:
            time.sleep(0.01)
        # Until it is waited for, the id of the leader is also the reserved id of its group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        return self.process.wait()


def dying_with_us(
    argv: Sequence[str], *, death_signal: int = signal.SIGTERM, account: ServerAccount | None = None
) -> list[str]:
    """The command line that runs `argv` as `account`; `death_signal` reaches it when its starting thread ends."""
    owner = f"{account.uid}:{account.gid}" if account else "-"
    return [sys.executable, "-I", "-S", str(SHIM), str(os.getpid()), str(int(death_signal)), owner, "--", *argv]


def start_child(
    argv: Sequence[str],
    *,
    name: str,
    environment: Mapping[str, str],
    log: int | IO[bytes],
    death_signal: int = signal.SIGKILL,
    account: ServerAccount | None = None,
    cwd: Path | None = None,
) -> Child:
    """Start `argv` in a session of its own; it gets `death_signal` when the calling thread or process dies."""
    process = subprocess.Popen(  # noqa: S603
        dying_with_us(argv, death_signal=death_signal, account=account),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=dict(environment),
        cwd=cwd,
        start_new_session=True,
    )
    return Child(name=name, process=process)


def stop_process(identity: ProcessIdentity, *, signals: Sequence[tuple[int, float]]) -> bool:
    """End a process that is not our child: each (signal, seconds to wait) in turn. True when it is gone."""
    for signal_number, seconds in signals:
        if not identity.is_alive():
            return True
        with contextlib.suppress(ProcessLookupError):
            os.kill(identity.pid, signal_number)
        deadline = time.monotonic() + seconds
        while identity.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
    return not identity.is_alive()


def write_record(path: Path, record: Mapping[str, object]) -> None:
    """Replace a small JSON file at once, readable by its owner only."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(record, file)
    draft.replace(path)


def read_record(path: Path) -> dict[str, object]:
    """What `write_record` wrote; empty when there is nothing or it is damaged."""
    try:
        record = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def identity_from(record: Mapping[str, object]) -> ProcessIdentity | None:
    """The identity stored under `pid`, `started_at_ticks`, `boot_id`; None when incomplete."""
    pid, ticks, boot = record.get("pid"), record.get("started_at_ticks"), record.get("boot_id")
    if isinstance(pid, int) and isinstance(ticks, int) and isinstance(boot, str):
        return ProcessIdentity(pid, ticks, boot)
    return None


@dataclasses.dataclass(frozen=True)
class RunningServer:
    """A server found running: who it is, where it listens (0 when unknown), and who started it."""

    identity: ProcessIdentity
    port: int
    owner: ProcessIdentity | None

    @property
    def is_looked_after(self) -> bool:
        """Whether its starter still lives, so that it can be shared; otherwise it is a leftover."""
        return bool(self.port) and self.owner is not None and self.owner.is_alive()


def write_server_record(path: Path, identity: ProcessIdentity, port: int) -> None:
    """Record a server that this process started."""
    owner = identify(os.getpid())
    owner_record = dataclasses.asdict(owner) if owner else None
    write_record(path, {**dataclasses.asdict(identity), "port": port, "owner": owner_record})


def find_recorded_server(path: Path) -> RunningServer | None:
    """The server recorded in `path`, if exactly that process still runs."""
    record = read_record(path)
    identity = identity_from(record)
    if identity is None or not identity.is_alive():
        return None
    owner, port = record.get("owner"), record.get("port")
    return RunningServer(
        identity=identity,
        port=port if isinstance(port, int) else 0,
        owner=identity_from(owner) if isinstance(owner, dict) else None,
    )


def forget_record(path: Path, identity: ProcessIdentity) -> None:
    """Remove the record of a server that ended, unless somebody recorded a newer one meanwhile."""
    if identity_from(read_record(path)) == identity:
        path.unlink(missing_ok=True)


def command_line(pid: int) -> list[str]:
    """The command of a process, empty when it is gone or not ours to see."""
    try:
        return list(psutil.Process(pid).cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []


@contextlib.contextmanager
def hold_lock(path: Path, *, wait_seconds: float) -> Iterator[None]:
    """Hold an exclusive file lock; the kernel drops it when this process dies, however it dies."""
    with path.open("a") as file:
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise EmbeddedError(
                        f"{path} has been held by another process for {wait_seconds:.0f} s. "
                        "Fix: wait for the other command, or end it."
                    ) from None
                time.sleep(0.02)
        yield


def open_log(path: Path) -> IO[bytes]:
    """A log file to append to; a long one is put aside first, one old one is kept."""
    if path.exists() and path.stat().st_size > LONGEST_LOG_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    return path.open("ab")


def is_port_free(port: int) -> bool:
    """Whether a server could listen on 127.0.0.1:port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens_on(pid: int, port: int) -> bool:
    """Whether exactly this process listens on 127.0.0.1:port: a stranger there may answer just the same."""
    try:
        connections = psutil.Process(pid).net_connections(kind="tcp4")
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in connections)
