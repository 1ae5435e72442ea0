"""What one command takes of memory, all its processes and files in memory together: bounded, told, and over with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from golem_project import wiring
from tests.coding_agent import CodingAgent, make_coding_agent
from tests.tools_app.subsystems.coding.test_hostile_table import PTRACE, may_make_user_namespaces, run_as_nobody
from tools_app.subsystems.coding import command_memory
from tools_app.subsystems.coding.detect_sandbox_fences import find_fences
from tools_app.subsystems.coding.memory_group import find_parent

MOST_MEBIBYTES = 256
_WAIT = "import time; time.sleep(60)"
# Each takes about 450 MiB in another way, and prints `held` where the kernel does not let it.
TAKERS = {
    "three processes": "for each in 1 2 3; do python3 -c 'b = bytearray(150 << 20); " + _WAIT + "' & done; wait",
    "a child of a child that is left alone": (
        "(setsid python3 -c 'b = bytearray(450 << 20); " + _WAIT + "' >/dev/null 2>&1 &) ; sleep 60"
    ),
    "memory that processes share": (
        "python3 -c 'import mmap, os; b = mmap.mmap(-1, 450 << 20); os.fork()\n"
        "for at in range(0, 450 << 20, 4096): b[at] = 1\n" + _WAIT + "'"
    ),
    "files in memory": "head -c 220M /dev/zero > /tmp/a; head -c 220M /dev/zero > /dev/shm/b; sleep 60",
    "files in memory that have no name": (
        "python3 -c 'import os\nheld = [os.memfd_create(str(n)) for n in range(3)]\n"
        'for each in held:\n for _ in range(150): os.write(each, b"x" * (1 << 20))\n'
        + _WAIT
        + "' 2>/dev/null; echo held"
    ),
    "files in memory on their way through a socket": (
        "python3 -c 'import os, socket\na, b = socket.socketpair()\n"
        "for n in range(3):\n f = os.memfd_create(str(n))\n"
        ' for _ in range(150): os.write(f, b"x" * (1 << 20))\n socket.send_fds(a, [b"x"], [f]); os.close(f)\n'
        + _WAIT
        + "' 2>/dev/null; echo held"
    ),
    "shared memory of the kernel": PTRACE.format(
        body="import time\nheld = [libc.shmget(0, 150 << 20, 0o1600) for _ in range(3)]\n"
        "libc.shmat.restype = ctypes.c_void_p\nlibc.shmdt.argtypes = [ctypes.c_void_p]\n"
        "for each in held:\n    at = libc.shmat(each, None, 0)\n"
        "    if at in (None, ctypes.c_void_p(-1).value): print('held'); raise SystemExit\n"
        "    ctypes.memset(at, 1, 150 << 20); libc.shmdt(at)\ntime.sleep(60)"
    ),
    "a process that lets nobody look": PTRACE.format(
        body="import time\nlibc.prctl(4, 0)\nb = bytearray(450 << 20)\ntime.sleep(60)"
    ),
    "buffers of sockets": (
        "for each in 1 2 3 4 5 6 7 8; do python3 -c 'import socket, time\nheld = []\ntry:\n while True:\n"
        "  a, b = socket.socketpair(); a.setblocking(False); held.append((a, b))\n"
        "  try:\n   a.setsockopt(1, 7, 1 << 20)\n  except PermissionError: pass\n"
        '  try:\n   while True: a.send(b"x" * 32768)\n  except BlockingIOError: pass\n'
        "except OSError: time.sleep(60)' & done; wait"
    ),
}
WAYS = {"by a control group": False, "by looking at its processes": True}


@pytest.fixture(params=WAYS)
def bounded(request: pytest.FixtureRequest, coding_folder: Path, db: None) -> Iterator[CodingAgent]:
    """A golem whose commands have 256 MiB, bounded in each of the two ways."""
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    monkeypatch.setattr(settings, "GOLEM_CODING_MEMORY_MEBIBYTES", MOST_MEBIBYTES)
    if WAYS[request.param]:
        monkeypatch.setattr(command_memory, "find_parent", lambda: None)
    elif find_parent() is None:
        pytest.skip("not run: this server may make no control group, the other way is its own")
    wiring.configure()
    find_fences.cache_clear()
    agent = make_coding_agent(coding_folder)
    agent.choose(needs_owner="NOTHING")
    yield agent
    monkeypatch.undo()
    find_fences.cache_clear()


@pytest.mark.parametrize("taker", TAKERS)
def test_a_command_that_takes_too_much_memory_in_all_is_ended_and_told_so(bounded: CodingAgent, taker: str) -> None:
    told = bounded.run(TAKERS[taker], timeout_ms=30_000)
    said = [block.get("text", "") for block in told["content"]]
    if said == ["held"]:
        assert taker.startswith(("files in memory ", "shared memory"))
        return
    assert told["exit_code"] == -1
    error = told["content"][-1]
    if error["err_code"] != "filled_folder":
        assert (error["err_code"], f"{MOST_MEBIBYTES} MiB" in error["text"]) == ("out_of_memory", True)
    else:
        # Whoever lets nobody look may hide files as well, and is stopped for that where that is seen first.
        assert taker == "a process that lets nobody look"
    assert bounded.run("echo alive")["content"][0]["text"] == "alive"
    assert list_groups() == []


def test_what_a_command_may_take_it_takes_in_both_ways(bounded: CodingAgent) -> None:
    told = bounded.run(
        "python3 -c 'b = bytearray(100 << 20); print(len(b) >> 20)'; head -c 50M /dev/zero > big; echo out"
    )
    assert (told["exit_code"], told["content"][0]["text"]) == (0, "100\nout")


def test_a_command_is_the_first_that_a_machine_without_memory_ends(bounded: CodingAgent) -> None:
    told = bounded.run("cat /proc/self/oom_score_adj; (echo 0 > /proc/self/oom_score_adj) 2>/dev/null; echo out")
    assert told["content"][0]["text"] == "1000\nout"


def test_memory_is_bounded_in_all_where_the_server_is_not_root() -> None:
    told = run_as_nobody({"three": TAKERS["three processes"].replace("150", "700"), "one": "echo out"})
    if may_make_user_namespaces():
        assert told == {"three": "memory", "one": "out"}
    else:
        assert {each.split(":")[0] for each in told.values()} == {"COMMANDS_NOT_FENCED"}


def test_where_memory_cannot_be_bounded_no_command_runs_and_the_reason_is_told() -> None:
    if os.geteuid() != 0:
        pytest.skip("not run: whoever is not root runs commands as itself, and may look at them")
    blind = "setpriv --bounding-set -sys_ptrace,-perfmon bwrap --dev-bind / / --tmpfs /sys/fs/cgroup".split()
    told = run_as_nobody({"one": "echo out"}, *blind, as_root=True)["one"]
    assert told.startswith("COMMANDS_NOT_FENCED: no command is run here: the memory of a command cannot be bounded")
    assert "Delegate=memory" in told and "CAP_SYS_PTRACE" in told


def list_groups() -> list[str]:
    """Control groups of commands of this process that are there; others run theirs beside."""
    parent = find_parent()
    return [each.name for each in parent.path.glob(f"golem-command-{os.getpid()}-*")] if parent is not None else []
