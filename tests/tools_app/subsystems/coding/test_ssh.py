"""The same tools on another machine: a real OpenSSH server on loopback, and servers that misbehave."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncssh
import pytest

from tests.coding_agent import CodingAgent, Refused
from tests.sshd import Sshd
from tests.tools_app.subsystems.coding.test_hostile_commands import list_processes, wait_until_gone
from tools_app import runner
from tools_app.core import clock
from tools_app.subsystems.coding.errors import RemoteUnavailable
from tools_app.subsystems.coding.operations import Workspaces


def public_key(golem_id: UUID) -> str:
    workspaces: Any = runner.list_services()[Workspaces]
    return str(workspaces.public_key(golem_id))


@pytest.fixture
def remote(coder: CodingAgent, sshd: Sshd, tmp_path: Path) -> CodingAgent:
    """The golem works in a folder of the machine behind `sshd`."""
    coder.folder = tmp_path / "remote"
    coder.folder.mkdir()
    sshd.authorized.write_text(public_key(coder.golem.pk) + "\n")
    coder.choose(
        place="SSH",
        host="127.0.0.1",
        port=sshd.port,
        username=sshd.username,
        folder=str(coder.folder),
        host_key=" ".join(sshd.host_key.split()[:2]),
    )
    return coder


def test_all_six_tools_work_on_the_other_machine(remote: CodingAgent) -> None:
    remote.do("write", path="src/a.py", content="def one():\n    return 1\n")
    assert (remote.folder / "src/a.py").read_text() == "def one():\n    return 1\n"
    remote.do("edit", path="src/a.py", old_string="return 1", new_string="return 2")
    assert remote.text("read", path="src/a.py") == "def one():\n    return 2"
    assert remote.text("grep", pattern="return", include="*.py") == "src/a.py:2:     return 2"
    assert remote.text("find", pattern="*").splitlines() == ["src/", "src/a.py"]
    told = remote.run("pwd; cat src/a.py; echo err >&2; exit 4")
    assert told["exit_code"] == 4
    assert told["content"][0]["text"].splitlines()[0] == str(remote.folder)
    assert told["content"][1]["text"] == "STDERR: err"


def test_commands_there_begin_with_an_empty_environment(remote: CodingAgent) -> None:
    names = {line.partition("=")[0] for line in remote.run("env")["content"][0]["text"].splitlines()}
    assert names <= {"PATH", "HOME", "LANG", "TERM", "GOLEM_RUN", "PWD", "SHLVL", "_", "OLDPWD"}


@pytest.mark.parametrize(
    "command",
    [
        "sleep 8811",
        "trap '' TERM INT HUP; sleep 8811; echo never",
        "(sleep 8811 &); setsid nohup sleep 8811 >/dev/null 2>&1 & sleep 8811",
    ],
)
def test_a_command_over_its_time_is_killed_there_with_all_it_started(remote: CodingAgent, command: str) -> None:
    begun = clock.monotonic_ms()
    told = remote.run(f"echo before; {command}", timeout_ms=3_000)
    assert clock.monotonic_ms() - begun < 60_000
    assert (told["exit_code"], told["content"][-1]["err_code"]) == (-1, "timeout")
    wait_until_gone("sleep 8811")


def test_what_a_command_leaves_behind_there_does_not_go_on(remote: CodingAgent) -> None:
    told = remote.run("setsid nohup sleep 8822 & echo done", timeout_ms=5_000)
    assert (told["exit_code"], told["content"][0]["text"]) == (0, "done")
    wait_until_gone("sleep 8822")


def test_a_command_whose_line_is_lost_is_ended_there_by_its_own_time(remote: CodingAgent, sshd: Sshd) -> None:
    assert sshd.process is not None
    server = sshd.process.pid

    def cut() -> None:
        deadline = clock.Deadline.after_ms(60_000)
        while not list_processes("sleep 8833") and not deadline.is_over:
            time.sleep(0.02)
        for session in Path(f"/proc/{server}/task/{server}/children").read_text().split():
            # One of them may end with another.
            with suppress(ProcessLookupError):
                os.kill(int(session), signal.SIGKILL)

    workspaces: Any = runner.list_services()[Workspaces]
    with workspaces.open(golem_id=remote.golem.pk, deadline=clock.Deadline.after_ms(60_000)) as workspace:
        cutter = threading.Thread(target=cut)
        cutter.start()
        with pytest.raises(RemoteUnavailable):
            workspace.commands.run("sleep 8833", timeout_ms=6_000)
        cutter.join()
    wait_until_gone("sleep 8833")


def test_links_and_changes_are_refused_there_too(remote: CodingAgent, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("TOP-SECRET")
    (remote.folder / "inner").mkdir()
    os.symlink(tmp_path / "secret", remote.folder / "link")
    os.symlink(tmp_path, remote.folder / "folder")
    for path in ("link", "folder/secret", "../secret", "/etc/passwd", "inner"):
        with pytest.raises(Refused, match="PATH_REFUSED"):
            remote.ask("read", path=path)
        with pytest.raises(Refused, match="PATH_REFUSED"):
            remote.preview("write", path=path, content="x")
    assert "TOP-SECRET" not in remote.text("grep", pattern=".")
    (remote.folder / "a.txt").write_text("one\n")
    permit = remote.preview("edit", path="a.txt", old_string="one", new_string="two")
    (remote.folder / "a.txt").write_text("one \n")
    assert remote.commit(permit)["problem"]["code"] == "FILE_CHANGED"
    with pytest.raises(Refused, match="FILE_NOT_FOUND"):
        remote.ask("read", path="nowhere/a.txt")
    # Who reads or previews makes no folder.
    remote.preview("write", path="elsewhere/a.txt", content="x")
    assert not (remote.folder / "nowhere").exists() and not (remote.folder / "elsewhere").exists()


def test_a_machine_with_another_host_key_is_not_spoken_to(remote: CodingAgent, sshd: Sshd) -> None:
    permit = remote.preview("write", path="a.txt", content="a")
    for kind in ("ed25519", "ecdsa"):
        sshd.stop()
        sshd.make_host_key(kind)
        sshd.start()
        with pytest.raises(Refused) as refused:
            remote.ask("read", path="a.txt")
        assert (refused.value.code, refused.value.problem["recovery"]) == ("HOST_KEY_REFUSED", "ASK_OWNER")
    assert remote.commit(permit)["problem"]["code"] == "HOST_KEY_REFUSED"
    assert not (remote.folder / "a.txt").exists()


def test_a_machine_that_does_not_know_the_golem_s_key_is_told_apart(remote: CodingAgent, sshd: Sshd) -> None:
    sshd.authorized.write_text("")
    with pytest.raises(Refused, match="REMOTE_LOGIN_REFUSED"):
        remote.ask("read", path="a.txt")
    sshd.stop()
    with pytest.raises(Refused, match="REMOTE_UNAVAILABLE"):
        remote.ask("read", path="a.txt")


def test_a_machine_without_sftp_runs_commands_and_has_no_files(remote: CodingAgent, sshd: Sshd) -> None:
    sshd.stop()
    sshd.start(has_sftp=False)
    with pytest.raises(Refused, match="REMOTE_FILES_UNAVAILABLE"):
        remote.ask("read", path="a.txt")
    assert remote.run("echo here")["content"][0]["text"] == "here"


def test_a_private_address_is_refused_unless_the_server_allows_it(
    remote: CodingAgent, coding_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspaces: Any = runner.list_services()[Workspaces]
    monkeypatch.setattr(workspaces, "_allows_private", False)
    with pytest.raises(Refused, match="not public"):
        remote.ask("read", path="a.txt")


def test_the_private_key_lies_encrypted_in_the_keystore_and_shows_nowhere(remote: CodingAgent, tmp_path: Path) -> None:
    [path] = (tmp_path / "keystore" / "ssh").glob("*.pem")
    assert path.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert path.stat().st_mode & 0o777 == 0o600
    assert public_key(remote.golem.pk).startswith("ssh-ed25519 AAAA")


class _BreakingReads(asyncssh.SFTPServer):
    """Ends the connection in the middle of a file that is read."""

    async def read(self, file_obj: Any, offset: int, size: int) -> bytes:
        self.channel.get_connection().abort()
        return b""


class _BreakingWrites(asyncssh.SFTPServer):
    """Takes the first bytes of a file that is written, and ends the connection."""

    def write(self, file_obj: Any, offset: int, data: bytes) -> int:
        super().write(file_obj, offset, data[:10])
        self.channel.get_connection().abort()
        return len(data)


@contextmanager
def breaking_server(breaks: type[asyncssh.SFTPServer]) -> Iterator[tuple[int, str]]:
    """A server that lets everybody in and breaks off transfers: its port and host key."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    class Open(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return False

    async def listen() -> asyncssh.SSHAcceptor:
        return await asyncssh.create_server(Open, "127.0.0.1", 0, server_host_keys=[key], sftp_factory=breaks)

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result(60)
    try:
        yield server.get_port(), key.export_public_key().decode().strip()
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


async def _end(server: asyncssh.SSHAcceptor) -> None:
    server.close()
    await server.wait_closed()


def choose_machine(agent: CodingAgent, folder: Path, port: int, host_key: str) -> None:
    """The golem works in `folder` of a machine that lets everybody in."""
    folder.mkdir(exist_ok=True)
    machine = {"host": "127.0.0.1", "port": port, "host_key": " ".join(host_key.split()[:2])}
    agent.choose(place="SSH", username="anybody", folder=str(folder), **machine)


def test_a_machine_that_closes_in_the_middle_of_a_transfer_is_told(coder: CodingAgent, tmp_path: Path) -> None:
    with breaking_server(_BreakingReads) as (port, host_key):
        choose_machine(coder, tmp_path / "remote", port, host_key)
        (tmp_path / "remote" / "a.txt").write_text("x" * 100_000)
        with pytest.raises(Refused) as refused:
            coder.ask("read", path="a.txt")
    assert (refused.value.code, refused.value.problem["recovery"]) == ("REMOTE_UNAVAILABLE", "CHECK_STATE")


def test_a_write_that_the_machine_breaks_off_leaves_no_file(coder: CodingAgent, tmp_path: Path) -> None:
    folder = tmp_path / "remote"
    with breaking_server(_BreakingWrites) as (port, host_key):
        choose_machine(coder, folder, port, host_key)
        (folder / "a.txt").write_text("one\n")
        ended = coder.commit(coder.preview("edit", path="a.txt", old_string="one", new_string="two" * 1_000))
        fresh = coder.commit(coder.preview("write", path="b.txt", content="x" * 100_000))
    assert [each["problem"]["code"] for each in (ended, fresh)] == ["REMOTE_UNAVAILABLE"] * 2
    assert (folder / "a.txt").read_text() == "one\n" and not (folder / "b.txt").exists()
