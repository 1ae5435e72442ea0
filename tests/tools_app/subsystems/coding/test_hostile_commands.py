"""Commands that fork, ignore signals, flood, wait or stay behind: each ends by its time, and nothing of it is left."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from permits_app.models import ActionPermit
from tests.coding_agent import CodingAgent, Refused
from tools_app.core import clock
from tools_app.subsystems.coding.detect_sandbox_fences import find_fences
from tools_app.subsystems.coding.errors import CommandsNotFenced
from tools_app.subsystems.coding.fenced_commands import FencedCommands


def list_processes(mark: str) -> list[str]:
    """Command lines on this machine that hold `mark`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in line and not path.match(f"/proc/{os.getpid()}/cmdline"):
            found.append(line)
    return found


def wait_until_gone(mark: str) -> None:
    deadline = clock.Deadline.after_ms(60_000)
    while list_processes(mark):
        assert not deadline.is_over, list_processes(mark)
        time.sleep(0.02)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 7711",
        "trap '' TERM INT HUP QUIT; sleep 7711",
        "sleep 7711; echo never",
        "setsid nohup sleep 7711 & disown; sleep 7711",
        "(sleep 7711 &) ; (setsid sh -c 'trap \"\" TERM; sleep 7711' &); cat /dev/zero | sleep 7711",
    ],
)
def test_a_command_over_its_time_is_killed_with_all_it_started(coder: CodingAgent, command: str) -> None:
    begun = clock.monotonic_ms()
    told = coder.run(f"echo before; {command}", timeout_ms=3_000)
    assert clock.monotonic_ms() - begun < 60_000
    assert told["exit_code"] == -1
    assert told["content"][0]["text"] == "before"
    assert told["content"][-1]["err_code"] == "timeout"
    assert ActionPermit.objects.latest("created_at").result["is_error"] is True
    assert list_processes("sleep 7711") == []


def test_what_a_command_leaves_behind_does_not_go_on_after_it(coder: CodingAgent) -> None:
    told = coder.run("setsid nohup sleep 7722 >/dev/null 2>&1 & disown; echo done", timeout_ms=5_000)
    assert (told["exit_code"], told["content"][0]["text"]) == (0, "done")
    assert list_processes("sleep 7722") == []


def test_a_fork_bomb_is_held_and_ends(coder: CodingAgent) -> None:
    told = coder.run("bomb() { bomb | bomb & }; bomb; sleep 30", timeout_ms=1_500)
    assert told["exit_code"] != 0
    assert list_processes("bomb() {") == []
    assert coder.run("echo alive")["content"][0]["text"] == "alive"


def test_a_flood_of_output_is_cut_and_its_end_is_kept(coder: CodingAgent) -> None:
    told = coder.run("seq 1 300000; echo the end", timeout_ms=20_000)
    [block] = told["content"]
    assert block["text"].endswith("300000\nthe end")
    assert "left out; write output to a file" in block["text"] and len(block["text"]) < 25_000
    endless = coder.run("yes", timeout_ms=20_000)
    assert endless["content"][-1]["err_code"] in ("flood", "timeout")
    assert list_processes("-c yes") == []


def test_a_command_that_waits_for_input_gets_none(coder: CodingAgent) -> None:
    told = coder.run("read line; echo \"got '$line' $?\"; cat; test -t 0 || echo no terminal", timeout_ms=5_000)
    assert told["content"][0]["text"] == "got '' 1\nno terminal"


def test_memory_and_files_are_bounded(coder: CodingAgent) -> None:
    told = coder.run(
        "python3 -c 'bytearray(3 << 30)' 2>/dev/null && echo much; head -c 300M /dev/zero > big; wc -c < big"
    )
    assert int(told["content"][0]["text"]) <= 256 * 1024 * 1024


def test_terminal_codes_and_null_bytes_of_output_reach_nobody(coder: CodingAgent) -> None:
    told = coder.run("printf 'a\\0b\\033[31mred\\033[0m \\xff end'")
    text = told["content"][0]["text"]
    assert "\x1b" not in text and "\x00" not in text
    assert text.endswith("end")


@pytest.mark.parametrize("command", ["echo \u202eoops", "echo a\u200bb", "ls\x1b[2K", "   "])
def test_a_command_with_characters_that_nobody_sees_is_refused(coder: CodingAgent, command: str) -> None:
    with pytest.raises(Refused, match="INVALID_PARAMS"):
        coder.preview("bash", command=command)


def test_where_fences_cannot_be_made_no_command_runs_and_files_still_work(
    coder: CodingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A machine without bwrap: nothing of that name is on the path.
    monkeypatch.setenv("PATH", str(coder.folder))
    find_fences.cache_clear()
    try:
        with pytest.raises(Refused, match="COMMANDS_NOT_FENCED"):
            coder.preview("bash", command="echo hello")
        with pytest.raises(CommandsNotFenced):
            FencedCommands(coder.folder, uid=None, allows_network=False).run("echo", timeout_ms=1_000)
        coder.do("write", path="a.txt", content="a")
        assert coder.text("read", path="a.txt") == "a"
    finally:
        monkeypatch.undo()
        find_fences.cache_clear()
