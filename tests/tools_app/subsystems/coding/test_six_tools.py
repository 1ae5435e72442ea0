"""The six tools over REST, row by row of what they were specified to do."""

from __future__ import annotations

import base64

import pytest

from tests.coding_agent import CodingAgent, Refused
from tools_app.core.models import OutboxEvent

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def put(agent: CodingAgent, name: str, data: bytes | str) -> None:
    """As if a command had made it."""
    path = agent.folder / name
    agent.ask("find", pattern="*")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def test_write_makes_a_file_and_its_folders_and_read_shows_it(coder: CodingAgent) -> None:
    told = coder.do("write", path="src/deep/a.py", content="x = 1\n")
    assert told["content"][0]["text"] == "Successfully wrote 6 bytes to src/deep/a.py"
    assert coder.text("read", path="src/deep/a.py") == "x = 1"
    assert (coder.folder / "src/deep/a.py").stat().st_mode & 0o777 == 0o644


def test_edit_replaces_the_one_place(coder: CodingAgent) -> None:
    put(coder, "a.txt", "one\ntwo\nthree\n")
    coder.do("edit", path="a.txt", old_string="two", new_string="2")
    assert (coder.folder / "a.txt").read_text() == "one\n2\nthree\n"
    coder.do("edit", path="a.txt", old_string="2\n")
    assert (coder.folder / "a.txt").read_text() == "one\nthree\n"


def test_bash_answers_output_errors_and_the_exit_code(coder: CodingAgent) -> None:
    told = coder.run("echo out; echo err >&2; exit 3")
    assert [block["text"] for block in told["content"]] == ["out", "STDERR: err"]
    assert told["exit_code"] == 3
    assert coder.run("true")["content"] == [{"kind": "text", "text": "(no output)"}]


def test_grep_names_path_line_and_text_and_keeps_to_names(coder: CodingAgent) -> None:
    put(coder, "src/a.py", "def one():\n    return two\n")
    put(coder, "src/b.txt", "def two\n")
    put(coder, ".git/c.py", "def three\n")
    assert coder.text("grep", pattern=r"def \w+", include="*.py") == "src/a.py:1: def one():"
    assert coder.text("grep", pattern="nowhere") == "No matches found"
    assert coder.text("grep", pattern="two", path="src/b.txt") == "src/b.txt:1: def two"
    assert coder.text("grep", pattern="-n") == "No matches found"


def test_find_lists_names_by_pattern_and_kind(coder: CodingAgent) -> None:
    put(coder, "src/a_test.go", "")
    put(coder, "node_modules/b_test.go", "")
    assert coder.text("find", pattern="*_test.go") == "src/a_test.go"
    assert coder.text("find", pattern="*", type="d") == "src/"
    assert coder.text("find", pattern="*.rs") == "No files found matching pattern: *.rs"
    with pytest.raises(Refused, match="FILE_NOT_FOUND"):
        coder.ask("find", pattern="*", path="nowhere")


def test_a_long_file_is_continued_with_the_offset_that_the_answer_names(coder: CodingAgent) -> None:
    put(coder, "long.txt", "".join(f"line {number}\n" for number in range(1, 4_501)))
    first = coder.ask("read", path="long.txt")
    assert first["continue_at"] == 2_001
    assert first["content"][0]["text"].endswith("[Lines 1-2000 of 4500. Go on with offset=2001.]")
    last = coder.ask("read", path="long.txt", offset=4_499, limit=5)
    assert last["content"][0]["text"] == "line 4499\nline 4500"
    assert "continue_at" not in last
    with pytest.raises(Refused, match="behind the last line, 4500"):
        coder.ask("read", path="long.txt", offset=4_501)


def test_an_image_is_an_image_block_and_a_large_one_a_resource(coder: CodingAgent) -> None:
    put(coder, "a.png", PNG)
    [block] = coder.ask("read", path="a.png")["content"]
    assert (block["kind"], block["mime_type"]) == ("image", "image/png")
    assert base64.b64decode(block["data"]) == PNG
    put(coder, "big.png", PNG + b"\0" * 60_000)
    resource = coder.ask("read", path="big.png")["content"][0]
    assert (resource["kind"], resource["uri"], resource["size"]) == ("resource", "file:///big.png", 60_048)


def test_what_is_no_text_is_named_and_not_shown(coder: CodingAgent) -> None:
    put(coder, "a.bin", b"\x7fELF\0\0\xff")
    put(coder, "latin.txt", b"caf\xe9")
    for name in ("a.bin", "latin.txt"):
        assert coder.ask("read", path=name)["content"][0]["kind"] == "resource"
        with pytest.raises(Refused, match="FILE_NOT_TEXT"):
            coder.preview("edit", path=name, old_string="a", new_string="b")
    assert coder.text("grep", pattern="ELF") == "No matches found"


def test_absolute_paths_are_taken_as_commands_see_them(coder: CodingAgent) -> None:
    put(coder, "a.txt", "here")
    assert coder.run("pwd")["content"][0]["text"] == "/work"
    assert coder.text("read", path="/work/a.txt") == "here"


def test_an_effect_is_shown_before_it_is_done(coder: CodingAgent) -> None:
    put(coder, "a.txt", "one\n")
    permit = coder.preview("edit", path="a.txt", old_string="one", new_string="two")
    shown = permit["expected_outcome"]
    assert shown["summary"] == "Edit a.txt on this server"
    assert shown["details"]["diff"].splitlines()[-3:] == ["-one", "+two", " "]
    assert (coder.folder / "a.txt").read_text() == "one\n"
    permit = coder.preview("bash", command="touch b")
    assert permit["expected_outcome"]["details"]["command"] == "touch b"
    assert permit["expected_outcome"]["details"]["folder"] == "/work"
    assert not (coder.folder / "b").exists()


def test_the_older_result_shape_is_answered_where_it_is_asked_for(coder: CodingAgent) -> None:
    told = coder.do("write", path="a.txt", content="one\ntwo\n", result_shape="legacy")
    assert told == {"tool": "write", "status": "success", "result": "Successfully wrote 8 bytes to a.txt"}
    assert coder.ask("read", path="a.txt", result_shape="legacy")["result"] == "one\ntwo"
    assert coder.ask("grep", pattern="two", result_shape="legacy")["result"] == "a.txt:2: two"
    assert coder.ask("find", pattern="*", result_shape="legacy")["tool"] == "find"
    told = coder.do("edit", path="a.txt", old_string="two", new_string="2", result_shape="legacy")
    assert (told["tool"], told["status"]) == ("edit", "success")
    with pytest.raises(Refused, match="INVALID_PARAMS"):
        coder.ask("read", path="a.txt", result_shape="older")


def test_the_older_shape_names_what_it_lost_and_calls_a_failed_command_an_error(coder: CodingAgent) -> None:
    put(coder, "a.png", PNG)
    assert coder.ask("read", path="a.png", result_shape="legacy")["result"] == "[image image/png]"
    ended = coder.run("echo no; exit 2", result_shape="legacy")
    assert (ended["tool"], ended["status"], ended["error_type"], ended["result"]) == (
        "bash",
        "error",
        "exit_code",
        "no",
    )
    killed = coder.run("echo before; sleep 9", timeout_ms=400, result_shape="legacy")
    assert (killed["status"], killed["error_type"], killed["result"]) == ("error", "timeout", "before")


def test_every_answer_says_how_long_it_took_and_a_command_how_it_ended(coder: CodingAgent) -> None:
    put(coder, "a.txt", "a")
    told = [
        coder.ask("read", path="a.txt"),
        coder.ask("grep", pattern="a"),
        coder.ask("find", pattern="*"),
        coder.do("write", path="b.txt", content="b"),
        coder.do("edit", path="b.txt", old_string="b", new_string="c"),
        coder.run("sleep 0.2; exit 7"),
    ]
    assert [isinstance(each["elapsed_ms"], int) and each["elapsed_ms"] >= 0 for each in told] == [True] * 6
    assert (told[-1]["exit_code"], told[-1]["elapsed_ms"] >= 200) == (7, True)
    assert ["exit_code" in each for each in told] == [False] * 5 + [True]


def test_a_command_is_told_as_a_step_while_it_runs_and_its_output_comes_whole(coder: CodingAgent) -> None:
    told = coder.run("echo a private word")
    assert told["content"] == [{"kind": "text", "text": "a private word"}]
    rows = OutboxEvent.objects.filter(golem_id=coder.golem.pk, type__startswith="tool:").order_by("sequence")
    assert ("tool:update", "Running the command") in [(row.type, row.payload.get("step_name")) for row in rows]
    assert "private word" not in str([row.payload for row in rows if row.type == "tool:update"])
