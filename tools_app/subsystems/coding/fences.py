"""Which fences this machine puts around a command, found out by running one. Nothing is taken for granted."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from tools_app.subsystems.coding.operations import Command

BWRAP: Final = "bwrap"
_FIRST_UID: Final = 200_000_000
_UIDS: Final = 100_000_000
_SECONDS: Final = 10
_IN_MEMORY_BYTES: Final = 256 * 1024 * 1024
"""What `/tmp` and shared memory of one command hold at most: it is this machine's memory."""
_SHOWN: Final = ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
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
    command = fence_command("true", folder=Path("/usr/share"), uid=uid_of(0), allows_network=False, seconds=_SECONDS)
    try:
        tried = subprocess.run(  # noqa: S603  (a fixed command)
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False, env={}
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Fences(False, own_user, f"bwrap does not run here: {type(error).__name__}")
    if tried.returncode != 0:
        return Fences(False, own_user, f"bwrap refuses here: {tried.stderr.decode(errors='replace')[:200].strip()}")
    return Fences(True, own_user)


def fence_command(
    command: Command, *, folder: Path, uid: int | None, allows_network: bool, seconds: int, info_fd: int | None = None
) -> list[str]:
    """The program and its arguments that run `command` in `folder` behind every fence.

    `info_fd` is told, as bwrap's JSON, which process is the first behind them.

    With `uid` the server is root: bwrap makes the fences with root's rights and the command runs as that user. Without,
    bwrap makes a user namespace of its own.
    """
    shown = [part for path in _SHOWN for part in _show(path)]
    rights = (
        ["--cap-drop", "ALL", *_caps("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")]
        if uid is not None
        else ["--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"]
    )
    network = ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf", "--ro-bind-try", "/etc/ssl", "/etc/ssl"]
    return [
        shutil.which(BWRAP) or BWRAP,
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
