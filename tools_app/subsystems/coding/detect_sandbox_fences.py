"""Finds out, by running a command, which fences this machine puts around one."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from tools_app.core.clock import Deadline
from tools_app.subsystems.coding.command_memory import bound_memory
from tools_app.subsystems.coding.exposed_server_paths import SHOWN, SHOWN_WITH_NETWORK, find_shown
from tools_app.subsystems.coding.limits import LIMITS
from tools_app.subsystems.coding.memory_group import GroupRefused
from tools_app.subsystems.coding.memory_sum import Seen, add_up
from tools_app.subsystems.coding.operations import Command
from tools_app.subsystems.coding.system_calls import open_filter

BWRAP: Final = "bwrap"
_FIRST_UID: Final = 200_000_000
_UIDS: Final = 100_000_000
_SECONDS: Final = 10
_IN_MEMORY_BYTES: Final = 256 * 1024 * 1024
"""What `/tmp` and shared memory of one command hold at most: it is this machine's memory."""
_TRIAL: Final = "echo up; read -r _"
_LEAST_PROCESSES: Final = 3
_LOOKS_MS: Final = 2_000
# Whoever is out of memory ends a command first; a command that cannot join its group does not run.
_BEGIN: Final = 'echo 1000 > /proc/self/oom_score_adj; [ -z "$1" ] || echo $$ > "$1"; shift; exec "$@"'
ROOT: Final = "/work"


@dataclass(frozen=True, slots=True)
class Fences:
    """What holds around a command here. `why_not` says what is missing; commands run only with all but `own_user`."""

    holds: bool
    own_user: bool
    why_not: str = ""

    def describe(self) -> tuple[tuple[str, bool], ...]:
        """Each fence in words, and whether it holds."""
        return (
            ("its own folder as the only one it writes, no link or mount leads out of it", True),
            ("no other file of this machine but programs, read-only", self.holds),
            ("no other process is seen or signalled; all it starts ends with it", self.holds),
            ("no network unless its owner allows it", self.holds),
            ("no privileges, an empty environment, limits of memory, processes, files and time", self.holds),
            ("memory bounded for a command as a whole, and it is ended first where memory is short", self.holds),
            ("no namespaces or mounts of its own, no tracing, no other rare calls of the kernel (seccomp)", self.holds),
            ("a user of its own that owns nothing else here", self.holds and self.own_user),
            ("a command that writes more than its folder may hold is stopped", self.holds),
        )


def uid_of(number: int) -> int | None:
    """The user under whom the commands of one golem run; None where this server may not change users."""
    return _FIRST_UID + number % _UIDS if os.geteuid() == 0 else None


@lru_cache(maxsize=1)
def find_fences() -> Fences:
    """What holds on this machine, tried out once per process."""
    own_user = os.geteuid() == 0
    missing = [name for name in (BWRAP, "prlimit", "setpriv", "bash") if shutil.which(name) is None]
    if missing:
        return Fences(False, own_user, f"not installed here: {', '.join(missing)}")
    try:
        why_not = _try_out()
    except GroupRefused as refusal:
        return Fences(False, own_user, str(refusal))
    except (OSError, subprocess.TimeoutExpired) as error:
        return Fences(False, own_user, f"bwrap does not run here: {type(error).__name__}")
    return Fences(not why_not, own_user, why_not)


def find_fences_for(kept: Iterable[Path], *, allowed: bool = True) -> Fences:
    """What holds here where commands must not see `kept`; looked up each time, for mounts come and go."""
    fences = find_fences()
    if not allowed:
        return replace(fences, holds=False, why_not="its operator switched commands off (GOLEM_CODING_COMMANDS=0)")
    shown = find_shown(kept) if fences.holds else ""
    if shown:
        why_not = f"{shown}, which commands are shown as it is: move it elsewhere, such as /srv or /opt"
        return replace(fences, holds=False, why_not=why_not)
    return fences


def _try_out() -> str:
    """Run a command behind the fences and look at it; why it does not do, empty where it does."""
    with bound_memory(LIMITS.memory_bytes) as bound:
        filters = open_filter(shows_all_memory=bound.joining is None)
        try:
            fenced = fence_command(
                _TRIAL,
                folder=Path("/usr/share"),
                uid=uid_of(0),
                allows_network=False,
                seconds=_SECONDS,
                filter_fd=filters,
                joining=bound.joining,
            )
            tried = subprocess.Popen(  # noqa: S603  (a fixed command)
                fenced,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={},
                pass_fds=(filters,),
            )
        finally:
            os.close(filters)
        with tried:
            try:
                assert tried.stdout is not None
                is_up = tried.stdout.readline() == b"up\n"
                seen = _look_at(tried.pid) if is_up and bound.joining is None else None
                _, said = tried.communicate(b"\n", timeout=_SECONDS)
            except BaseException:
                tried.kill()
                raise
    if not is_up or tried.returncode != 0:
        return f"bwrap refuses here: {said.decode(errors='replace')[:200].strip()}"
    if seen is not None and not (seen.is_whole and seen.processes >= _LEAST_PROCESSES):
        return (
            "the memory of a command cannot be bounded: this server may neither make a control group for it nor look at"
            " its processes. Delegate a memory control group to it (systemd: Delegate=memory), or mount /proc without"
            " hidepid and leave it CAP_SYS_PTRACE"
        )
    return ""


def _look_at(first_pid: int) -> Seen:
    """A trial as it is seen, once all of it is there: for a moment a process may only be becoming another program."""
    deadline = Deadline.after_ms(_LOOKS_MS)
    while True:
        seen = add_up(first_pid)
        if deadline.is_over or (seen.is_whole and seen.processes >= _LEAST_PROCESSES):
            return seen


def fence_command(
    command: Command,
    *,
    folder: Path,
    uid: int | None,
    allows_network: bool,
    seconds: int,
    filter_fd: int,
    joining: Path | None,
    info_fd: int | None = None,
) -> list[str]:
    """The program and its arguments that run `command` in `folder` behind every fence.

    `filter_fd` gives the filter of calls of the kernel, `joining` is the file of its control group, and `info_fd` is
    told, as bwrap's JSON, which process is the first behind them.

    With `uid` the server is root: bwrap makes the fences with root's rights and the command runs as that user. Without,
    bwrap makes a user namespace of its own.
    """
    shown = [part for path in SHOWN for part in _show(path)]
    rights = (
        ["--cap-drop", "ALL", *_caps("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")]
        if uid is not None
        else ["--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"]
    )
    network = [part for path in SHOWN_WITH_NETWORK for part in ("--ro-bind-try", path, path)]
    return [
        *("/bin/sh", "-ec", _BEGIN, "sh", str(joining or "")),
        shutil.which(BWRAP) or BWRAP,
        *("--seccomp", str(filter_fd)),
        *rights,
        *(("--info-fd", str(info_fd)) if info_fd is not None else ()),
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
        *(network if allows_network else ["--unshare-net"]),
        "--die-with-parent",
        "--new-session",
        *("--hostname", "workspace"),
        *shown,
        *("--proc", "/proc", "--dev", "/dev"),
        *_keep_in_memory("/dev/shm"),  # noqa: S108  (inside the fences)
        *_keep_in_memory("/tmp"),  # noqa: S108  (inside the fences)
        *("--bind", str(folder), ROOT, "--chdir", ROOT),
        # Both are made of memory, and a command that runs as the user who made them could fill them.
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/tmp"),  # noqa: S108
        *("--setenv", "LANG", "C.UTF-8", "--setenv", "TERM", "dumb"),
        "--",
        *("/usr/bin/prlimit", "--as=2147483648", "--nproc=128", "--nofile=256", "--fsize=268435456", "--core=0"),
        f"--cpu={seconds}",
        *(_become(uid) if uid is not None else []),
        *(("/bin/bash", "--noprofile", "--norc", "-c", command) if isinstance(command, str) else command),
    ]


def _keep_in_memory(path: str) -> tuple[str, ...]:
    return ("--perms", "1777", "--size", str(_IN_MEMORY_BYTES), "--tmpfs", path)


def _show(path: str) -> list[str]:
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind-try", path, path]


def _caps(*names: str) -> list[str]:
    return [part for name in names for part in ("--cap-add", name)]


def _become(uid: int) -> list[str]:
    user = ["--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
    return ["/usr/bin/setpriv", *user, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
