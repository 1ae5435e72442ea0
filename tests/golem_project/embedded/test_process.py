"""Children end with their starter, and nothing else is ever ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import Paths, ServerAccount
from golem_project.embedded.process import (
    ProcessIdentity,
    hold_lock,
    identify,
    open_log,
    read_record,
    start_child,
    stop_process,
    write_record,
)
from tests.golem_project.embedded.conftest import (
    Starter,
    as_root,
    identity_of,
    kill_hard,
    read_line,
    wait_until_gone,
)

START_SLEEPER = """
from golem_project.embedded.paths import ServerAccount
from golem_project.embedded.process import start_child
command = ["sh", "-c", "echo $$; exec sleep 600"]
start_child(command, name="sleeper", environment={{"PATH": "/usr/bin:/bin"}}, log=1, account={account})
sys.stdin.read()
"""


def test_a_child_ends_when_its_starter_is_killed(start_program: Starter) -> None:
    starter = start_program(START_SLEEPER.format(account="None"))
    child = identity_of(int(read_line(starter)))
    assert child.is_alive()
    kill_hard(starter)
    wait_until_gone(child)
    assert not child.is_alive()


@as_root
def test_a_child_that_runs_as_nobody_ends_when_its_starter_is_killed(start_program: Starter) -> None:
    starter = start_program(START_SLEEPER.format(account="ServerAccount(65534, 65534)"))
    child = identity_of(int(read_line(starter)))
    assert os.stat(f"/proc/{child.pid}").st_uid == 65534
    kill_hard(starter)
    wait_until_gone(child)


@as_root
def test_a_child_that_runs_as_nobody_keeps_no_group_of_root() -> None:
    with open_pipe() as (reading, writing):
        child = start_child(["id"], name="id", environment={"PATH": os.environ["PATH"]}, log=writing, account=NOBODY)
        assert child.process.wait() == 0
        said = os.read(reading, 1000).decode()
    assert "uid=65534" in said
    assert "groups=65534" in said
    assert "(root)" not in said


def test_stopping_a_child_ends_what_it_started_too() -> None:
    script = "trap '' TERM; sleep 600 & echo $!; wait"
    with open_pipe() as (reading, writing):
        child = start_child(["sh", "-c", script], name="sh", environment={"PATH": os.environ["PATH"]}, log=writing)
        grandchild = identity_of(int(os.read(reading, 100)))
        assert child.stop(grace_seconds=0.2) == -signal.SIGKILL
    wait_until_gone(grandchild)


def test_a_command_that_does_not_exist_is_one_line_and_status_127() -> None:
    with open_pipe() as (reading, writing):
        child = start_child(["/no/such/program"], name="none", environment={}, log=writing)
        assert child.process.wait() == 127
        assert os.read(reading, 1000) == b"/no/such/program: No such file or directory\n"


def test_a_process_id_that_was_given_to_another_process_is_left_alone() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        real = identity_of(process.pid)
        earlier = ProcessIdentity(real.pid, real.started_at_ticks - 1, real.boot_id)
        before_a_reboot = ProcessIdentity(real.pid, real.started_at_ticks, "another boot")
        for foreign in (earlier, before_a_reboot):
            assert stop_process(foreign, signals=((signal.SIGKILL, 0.1),))
        assert process.poll() is None
        assert real.is_alive()
    finally:
        process.communicate(b"\n", timeout=10)


def test_a_zombie_counts_as_gone() -> None:
    child = start_child(["true"], name="true", environment={"PATH": os.environ["PATH"]}, log=subprocess.DEVNULL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert child.has_ended()
    assert identify(child.pid) is None
    assert child.stop() == 0


def test_a_lock_is_refused_while_another_holder_has_it(paths: Paths) -> None:
    lock = paths.run_dir / "test.lock"
    with hold_lock(lock, wait_seconds=0):
        with pytest.raises(EmbeddedError, match="held by another process"), hold_lock(lock, wait_seconds=0):
            pass
    with hold_lock(lock, wait_seconds=0):
        assert lock.exists()


def test_a_record_is_for_its_owner_only_and_a_damaged_one_is_empty(paths: Paths) -> None:
    record = paths.run_dir / "record.json"
    write_record(record, {"pid": 1})
    assert record.stat().st_mode & 0o777 == 0o600
    assert read_record(record) == {"pid": 1}
    record.write_text('{"pid":')
    assert read_record(record) == {}


def test_a_long_log_is_put_aside(paths: Paths) -> None:
    log = paths.log_dir / "long.log"
    with log.open("wb") as file:
        file.truncate(21 * 1024**2)
    with open_log(log) as file:
        file.write(b"new\n")
    assert log.read_bytes() == b"new\n"
    assert (paths.log_dir / "long.log.1").exists()


NOBODY = ServerAccount(uid=65534, gid=65534)


class open_pipe:
    """A pipe whose both ends are closed at the end of a block."""

    def __enter__(self) -> tuple[int, int]:
        self.ends = os.pipe()
        return self.ends

    def __exit__(self, *_: object) -> None:
        for end in self.ends:
            os.close(end)
