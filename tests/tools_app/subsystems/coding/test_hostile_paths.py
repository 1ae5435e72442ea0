"""Every known way out of the folder, over the tools and from inside a command."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from golem_project.coding.workspaces import GolemWorkspaces
from tests.coding_agent import CodingAgent, Refused, make_coding_agent
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.core.clock import Deadline
from tools_app.core.taint import Secret
from tools_app.subsystems.coding.limits import LIMITS


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "a/../../secret",
        "/etc/passwd",
        "/work/../etc/passwd",
        "/workshop/a",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "a\x00b",
        "a\nb",
        "x/" * 70 + "x",
    ],
)
def test_a_path_that_leads_out_is_refused_by_every_tool(coder: CodingAgent, path: str) -> None:
    calls = (
        lambda: coder.ask("read", path=path),
        lambda: coder.ask("grep", pattern="root", path=path),
        lambda: coder.ask("find", pattern="*", path=path),
        lambda: coder.preview("write", path=path, content="x"),
        lambda: coder.preview("edit", path=path, old_string="a", new_string="b"),
    )
    for call in calls:
        with pytest.raises(Refused) as refused:
            call()
        # Over REST a null character does not even reach a tool.
        assert refused.value.code == "PATH_REFUSED" or ("\0" in path and refused.value.code == "BODY_NOT_JSON")


def test_no_link_is_followed_at_any_place_of_a_path(coder: CodingAgent, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("TOP-SECRET")
    put(coder, "plain/a.txt", "a")
    os.symlink(secret / "key", coder.folder / "link")
    os.symlink(secret, coder.folder / "folder")
    os.symlink("plain", coder.folder / "inner")
    os.symlink(tmp_path / "made-by-nobody", coder.folder / "dangling")
    for path in ("link", "folder/key", "inner/a.txt", "dangling"):
        with pytest.raises(Refused, match="PATH_REFUSED"):
            coder.ask("read", path=path)
    for path in ("link", "folder/new", "dangling"):
        with pytest.raises(Refused, match="PATH_REFUSED"):
            coder.preview("write", path=path, content="x")
    assert "TOP-SECRET" not in coder.text("grep", pattern=".*")
    assert "key" not in coder.text("find", pattern="*")
    assert (secret / "key").read_text() == "TOP-SECRET"
    assert not (tmp_path / "made-by-nobody").exists()


def test_a_folder_swapped_for_a_link_between_preview_and_commit_leads_nowhere(
    coder: CodingAgent, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    put(coder, "src/a.txt", "one")
    permit = coder.preview("write", path="src/b.txt", content="x")
    (coder.folder / "src").rename(coder.folder / "gone")
    os.symlink(outside, coder.folder / "src")
    ended = coder.commit(permit)
    assert (ended["status"], ended["problem"]["code"]) == ("BLOCKED", "PATH_REFUSED")
    assert list(outside.iterdir()) == []


def test_pipes_sockets_and_folders_are_no_files_and_nobody_waits_for_them(coder: CodingAgent) -> None:
    put(coder, "a.txt", "a")
    os.mkfifo(coder.folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(coder.folder)
        listener.bind("socket")
        os.chdir(here)
    (coder.folder / "folder").mkdir()
    for path in ("pipe", "socket", "folder", "."):
        with pytest.raises(Refused, match="PATH_REFUSED"):
            coder.ask("read", path=path)
        with pytest.raises(Refused, match="PATH_REFUSED"):
            coder.preview("write", path=path, content="x")
    assert coder.text("grep", pattern="a") == "a.txt:1: a"


def test_a_mount_inside_the_folder_is_refused(coder: CodingAgent) -> None:
    put(coder, "mounted/a.txt", "a")
    if os.system(f"mount -t tmpfs none {coder.folder / 'mounted'} 2>/dev/null") != 0:
        # Without the right to mount, what the jail compares is told by another file system.
        assert os.stat("/proc").st_dev != os.stat(coder.folder).st_dev
        return
    try:
        with pytest.raises(Refused, match="PATH_REFUSED"):
            coder.ask("read", path="mounted/a.txt")
        with pytest.raises(Refused, match="PATH_REFUSED"):
            coder.preview("write", path="mounted/b.txt", content="x")
    finally:
        os.system(f"umount {coder.folder / 'mounted'}")


def test_a_command_sees_neither_the_server_s_files_nor_its_processes_nor_its_secrets(
    coder: CodingAgent, coding_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLEM_KEYSTORE_PASSPHRASE", "never-shown-anywhere")
    other = make_coding_agent(coding_folder, name="Other")
    put(other, "theirs.txt", "theirs")
    told = coder.run(
        "env; cat /proc/*/environ | tr '\\0' '\\n'; ls / /home /root /var /tmp /proc/1/root/work 2>&1;"
        f" cat {coding_folder}/*/work/theirs.txt {Path(__file__)} 2>&1; ls /proc | grep -c '^[0-9]'; id -u"
    )
    text = "\n".join(block["text"] for block in told["content"])
    assert "never-shown-anywhere" not in text and "DATABASE_URL" not in text and "theirs\n" not in text
    assert f"cat: {Path(__file__)}: No such file or directory" in text
    seen, user = told["content"][0]["text"].splitlines()[-2:]
    assert int(seen) < 12
    assert int(user) >= 1_000


def test_a_command_has_no_privilege_and_writes_in_its_folder_alone(coder: CodingAgent) -> None:
    told = coder.run(
        "for place in / /usr /usr/bin /dev /proc/sys/kernel /etc; do touch $place/x 2>/dev/null && echo wrote $place;"
        " done; mount -t tmpfs none /mnt 2>/dev/null && echo mounted; chown 0 . 2>/dev/null && echo owned;"
        " grep CapEff /proc/self/status; touch mine && echo mine"
    )
    assert told["content"][0]["text"].splitlines() == ["CapEff:\t0000000000000000", "mine"]


def test_a_command_reaches_no_network_unless_operator_and_owner_allow_it(coder: CodingAgent, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        knock = f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached || echo refused"
        assert coder.run(knock)["content"][0]["text"] == "refused"
        coder.choose(allows_network=True)
        assert coder.run(knock)["content"][0]["text"] == "reached"
        # An owner's switch alone opens nothing: the network is that of everybody on this server.
        closed = GolemWorkspaces(
            tmp_path,
            key_folder=tmp_path,
            passphrase=Secret("words"),
            allows_private=False,
            allows_network=False,
            allows_commands=True,
            memory_bytes=LIMITS.memory_bytes,
            kept=(),
        )
        with closed.open(golem_id=coder.golem.pk, deadline=Deadline.after_ms(5_000)) as workspace:
            assert workspace.commands.run(knock, timeout_ms=5_000).stdout == b"refused\n"
