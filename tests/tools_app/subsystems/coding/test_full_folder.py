"""A folder that holds more than it may: nothing is written, and a command waits for the owner until one made room."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.coding_agent import CodingAgent, Refused
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.core.clock import Deadline
from tools_app.subsystems.coding import fenced_commands, local_folder
from tools_app.subsystems.coding.folder_size import FolderUse, find_excess
from tools_app.subsystems.coding.limits import LIMITS

MOST = 256 * 1024
LONG = 60_000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of 256 KiB and 20 entries."""
    for module in (local_folder, fenced_commands):
        monkeypatch.setattr(module, "LIMITS", replace(LIMITS, folder_bytes=MOST, folder_entries=20))


def look(folder: Path, *, most_bytes: int = MOST, most_entries: int = 20, ms: int = LONG) -> str:
    return find_excess(folder, most=FolderUse(most_bytes, most_entries), deadline=Deadline.after_ms(ms))


@pytest.mark.usefixtures("small")
def test_a_full_folder_takes_no_write_and_the_owner_lets_a_command_make_room(coder: CodingAgent) -> None:
    put(coder, "a.txt", "one\n")
    told = coder.run("head -c 300000 /dev/urandom > big.bin")
    assert told["content"][-1]["err_code"] == "folder_full"
    for action, params in (
        ("write", {"path": "b.txt", "content": "b"}),
        ("edit", {"path": "a.txt", "old_string": "one", "new_string": "two"}),
    ):
        with pytest.raises(Refused, match="FOLDER_FULL") as refused:
            coder.preview(action, **params)
        assert refused.value.problem["recovery"] == "ASK_OWNER"
    assert coder.text("read", path="a.txt") == "one"
    permit = coder.preview("bash", command="rm big.bin")
    assert permit["status"] == "AWAITING_APPROVAL"
    assert coder.approve(permit).state == "EXECUTED"
    assert coder.do("write", path="b.txt", content="b")["content"][0]["text"].startswith("Successfully")
    assert coder.preview("bash", command="true")["status"] != "AWAITING_APPROVAL"


@pytest.mark.usefixtures("small")
def test_what_was_previewed_while_there_was_room_is_not_done_without_it(coder: CodingAgent) -> None:
    command = coder.preview("bash", command="touch more.txt")
    write = coder.preview("write", path="b.txt", content="b")
    for number in range(21):
        put(coder, f"many/{number}.txt", "")
    for permit in (command, write):
        ended = coder.commit(permit)
        assert (ended["status"], ended["problem"]["code"]) == ("BLOCKED", "FOLDER_FULL")
    assert sorted(path.name for path in coder.folder.iterdir()) == ["many"]


def test_bytes_are_those_on_the_disk_and_links_lead_nowhere(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as handle:
        os.truncate(handle.fileno(), 10 * MOST)
    (tmp_path / "out").symlink_to("/usr")
    assert look(tmp_path) == ""
    (tmp_path / "full").write_bytes(b"x" * 2 * MOST)
    assert look(tmp_path) == f"more than {MOST} bytes"


def test_a_folder_too_deep_to_measure_counts_as_full(tmp_path: Path) -> None:
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(tmp_path)
        for _ in range(25):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    finally:
        os.fchdir(before)
        os.close(before)
    assert look(tmp_path, most_entries=100) == "a folder in it that cannot be looked into"
    assert look(tmp_path, most_entries=10) == "more than 10 files and folders"


def test_a_folder_that_is_not_measured_in_time_counts_as_full(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    assert look(tmp_path, ms=0) == "more files and folders than were counted in time"


FILLING = {
    "one large file": "cat /dev/urandom > large",
    "many small files": "i=0; while :; do echo $i > small$i; i=$((i+1)); done",
    "folders in folders": "while :; do mkdir d; cd d; done",
    "files that lost their names": "while :; do exec {f}> x; rm x; head -c 65536 /dev/urandom >&$f; done",
    "a child that outlives its parent": "(while :; do cat /dev/urandom >> large; done &) ; sleep 30",
    "with both outputs closed": "exec >&- 2>&-; cat /dev/urandom > large",
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("command", FILLING.values(), ids=FILLING)
def test_a_command_that_fills_its_folder_is_stopped_while_it_runs(coder: CodingAgent, command: str) -> None:
    told = coder.run(f"echo before; {command}", timeout_ms=30_000)
    assert told["exit_code"] == -1
    assert [block["err_code"] for block in told["content"] if block["kind"] == "error"][0] == "filled_folder"
    assert told["content"][0]["text"].startswith("before")


@pytest.mark.usefixtures("small")
def test_a_command_let_into_a_full_folder_may_make_room_and_not_fill_it_further(coder: CodingAgent) -> None:
    put(coder, "big.bin", os.urandom(2 * MOST))
    filling = coder.preview("bash", command="cat /dev/urandom > more.bin", timeout_ms=30_000)
    coder.approve(filling)
    told = coder.get(f"permits/{filling['permit_id']}")["result"]["data"]["value"]
    assert (told["exit_code"], told["content"][0]["err_code"]) == (-1, "filled_folder")
    room = coder.preview("bash", command="sleep 0.5; rm *.bin; echo room")
    coder.approve(room)
    told = coder.get(f"permits/{room['permit_id']}")["result"]["data"]["value"]
    assert (told["exit_code"], told["content"]) == (0, [{"kind": "text", "text": "room"}])


@pytest.mark.usefixtures("small")
def test_memory_that_looks_like_a_folder_is_bounded_too(coder: CodingAgent) -> None:
    told = coder.run(
        "for each in /tmp /dev/shm; do head -c 300M /dev/zero > $each/x 2>/dev/null; wc -c < $each/x; done"
    )
    assert [int(line) <= 256 * 1024 * 1024 for line in told["content"][0]["text"].splitlines()] == [True, True]
