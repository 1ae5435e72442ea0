"""A folder that holds more than it may: nothing is written, and a command waits for the owner until one made room."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.coding_agent import CodingAgent, Refused
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.core.clock import Deadline
from tools_app.subsystems.coding import jail
from tools_app.subsystems.coding.folder_size import find_excess
from tools_app.subsystems.coding.limits import LIMITS

MOST = 256 * 1024
LONG = 60_000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of 256 KiB and 20 entries."""
    monkeypatch.setattr(jail, "LIMITS", replace(LIMITS, folder_bytes=MOST, folder_entries=20))


def look(folder: Path, *, most_bytes: int = MOST, most_entries: int = 20, ms: int = LONG) -> str:
    return find_excess(folder, most_bytes=most_bytes, most_entries=most_entries, deadline=Deadline.after_ms(ms))


@pytest.mark.usefixtures("small")
def test_a_full_folder_takes_no_write_and_the_owner_lets_a_command_make_room(coder: CodingAgent) -> None:
    put(coder, "a.txt", "one\n")
    told = coder.run("head -c 300000 /dev/urandom > big.bin")
    assert told["exit_code"] == 0
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
