"""Keeps one private test chain: ends it when it is old, when its folder is gone, or when the program it belongs to is.

Run by path, with the standard library only: `dev_chain_keeper.py FOLDER MAX_AGE ANCHOR_PID ANCHOR_TICKS -- COMMAND...`.
It goes to the background and answers one line, the process ids of itself and of the node. The node dies with it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

SHIM = Path(__file__).resolve().parents[1] / "exec_child.py"
LOOK_INTERVAL_SECONDS = 0.25


def started_at_ticks(pid: int) -> int:
    """When a process started, in clock ticks since boot; -1 when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return -1
    return -1 if fields[0] in {"Z", "X"} else int(fields[19])


def start_node(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    """The node, dying with this process."""
    shim = [sys.executable, "-I", "-S", str(SHIM), str(os.getpid()), str(int(signal.SIGKILL)), "-", "--"]
    with (folder / "anvil.log").open("wb") as log:
        return subprocess.Popen([*shim, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder)  # noqa: S603


def keep(node: subprocess.Popen[bytes], folder: Path, max_age: float, anchor: tuple[int, int]) -> None:
    """Until there is a reason to end."""
    deadline = time.monotonic() + max_age
    while node.poll() is None and folder.exists() and time.monotonic() < deadline:
        if started_at_ticks(anchor[0]) != anchor[1]:
            break
        time.sleep(LOOK_INTERVAL_SECONDS)
    node.kill()
    node.wait()
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Fork, so that nobody has to wait for us."""
    folder, max_age = Path(sys.argv[1]), float(sys.argv[2])
    anchor = (int(sys.argv[3]), int(sys.argv[4]))
    if os.fork():
        os._exit(0)
    os.setsid()
    node = start_node(folder, sys.argv[6:])
    sys.stdout.write(json.dumps({"keeper": os.getpid(), "node": node.pid}) + "\n")
    sys.stdout.flush()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    keep(node, folder, max_age, anchor)


main()
