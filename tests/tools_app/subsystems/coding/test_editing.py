"""Edits that say no one change, files that moved meanwhile, and line ends of every kind."""

from __future__ import annotations

import pytest

from tests.coding_agent import CodingAgent, Refused
from tests.tools_app.subsystems.coding.test_six_tools import put


@pytest.mark.parametrize(
    ("text", "old", "new", "why"),
    [
        ("one two", "three", "x", "is not in the file"),
        ("aa bb aa", "aa", "x", "is 2 times in the file"),
        ("aaa", "aa", "x", "is 2 times in the file"),
        ("one", "one", "one", "are the same"),
        ("one\r\n", "one\n", "one\r\n", "are the same"),
        ("One", "one", "x", "is not in the file"),
        ("a  b", "a b", "x", "is not in the file"),
    ],
)
def test_an_edit_that_does_not_say_one_change_is_refused(
    coder: CodingAgent, text: str, old: str, new: str, why: str
) -> None:
    put(coder, "a.txt", text)
    with pytest.raises(Refused, match=why) as refused:
        coder.preview("edit", path="a.txt", old_string=old, new_string=new)
    assert (refused.value.code, refused.value.problem["recovery"]) == ("EDIT_REFUSED", "FIX_PARAMS")
    assert (coder.folder / "a.txt").read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\nb\r\nc\rd", "c", "x\ny", b"a\nb\r\nx\r\ny\rd"),
        (b"a\nb\r\nc", "a\nb\nc", "z", b"z"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\nb", "b", "b\n", b"a\nb\n"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("héllo\r\nwörld".encode(), "wörld", "wörld\nend", "héllo\r\nwörld\r\nend".encode()),
        (b"a\r\n\r\nb", "a\n\nb", "", b""),
    ],
)
def test_line_ends_and_what_is_around_stay_as_they_are(
    coder: CodingAgent, before: bytes, old: str, new: str, after: bytes
) -> None:
    put(coder, "a.txt", before)
    coder.do("edit", path="a.txt", old_string=old, new_string=new)
    assert (coder.folder / "a.txt").read_bytes() == after


def test_a_file_that_changed_between_preview_and_commit_is_not_edited(coder: CodingAgent) -> None:
    put(coder, "a.txt", "one\ntwo\n")
    permit = coder.preview("edit", path="a.txt", old_string="two", new_string="2")
    put(coder, "a.txt", "one more\ntwo\n")
    ended = coder.commit(permit)
    assert (ended["status"], ended["problem"]["code"]) == ("BLOCKED", "FILE_CHANGED")
    assert ended["problem"]["recovery"] == "PREVIEW_AGAIN"
    assert (coder.folder / "a.txt").read_text() == "one more\ntwo\n"
    gone = coder.preview("edit", path="a.txt", old_string="two", new_string="2")
    (coder.folder / "a.txt").unlink()
    assert coder.commit(gone)["problem"]["code"] == "FILE_CHANGED"
    assert not (coder.folder / "a.txt").exists()


def test_a_write_holds_for_what_was_there_and_for_nothing_where_nothing_was(coder: CodingAgent) -> None:
    fresh = coder.preview("write", path="new.txt", content="mine")
    put(coder, "new.txt", "somebody was first")
    assert coder.commit(fresh)["problem"]["code"] == "FILE_CHANGED"
    assert (coder.folder / "new.txt").read_text() == "somebody was first"
    again = coder.preview("write", path="new.txt", content="mine")
    put(coder, "new.txt", "and again")
    assert coder.commit(again)["problem"]["code"] == "FILE_CHANGED"
    assert sorted(path.name for path in coder.folder.iterdir()) == ["new.txt"]


def test_of_two_edits_that_were_previewed_together_the_second_is_refused(coder: CodingAgent) -> None:
    put(coder, "a.txt", "one\ntwo\n")
    first = coder.preview("edit", path="a.txt", old_string="one", new_string="1")
    second = coder.preview("edit", path="a.txt", old_string="two", new_string="2")
    assert coder.commit(first)["status"] == "COMMITTED"
    assert coder.commit(second)["problem"]["code"] == "FILE_CHANGED"
    assert (coder.folder / "a.txt").read_text() == "1\ntwo\n"


def test_a_file_that_is_replaced_keeps_its_mode(coder: CodingAgent) -> None:
    put(coder, "run.sh", "#!/bin/sh\necho one\n")
    (coder.folder / "run.sh").chmod(0o755)
    coder.do("edit", path="run.sh", old_string="one", new_string="two")
    assert (coder.folder / "run.sh").stat().st_mode & 0o777 == 0o755
    assert coder.run("./run.sh")["content"][0]["text"] == "two"


def test_what_is_too_long_is_neither_edited_nor_written(coder: CodingAgent) -> None:
    put(coder, "big.txt", b"a\n" * (1024 * 1024))
    with pytest.raises(Refused, match="FILE_TOO_LARGE"):
        coder.preview("edit", path="big.txt", old_string="b", new_string="c")
    with pytest.raises(Refused, match="INVALID_PARAMS"):
        coder.preview("write", path="new.txt", content="x" * (256 * 1024 + 1))
    with pytest.raises(Refused, match="FILE_TOO_LARGE"):
        coder.preview("write", path="new.txt", content="ü" * (200 * 1024))
    text = coder.text("read", path="big.txt", limit=3)
    assert text.startswith("a\na\na\n[Lines 1-3 of")


def test_a_line_without_end_is_cut_and_an_enormous_file_says_so(coder: CodingAgent) -> None:
    put(coder, "one-line.js", "x" * 300_000)
    assert coder.text("read", path="one-line.js").endswith("[line of 300000 characters cut]")
    with (coder.folder / "huge.log").open("wb") as handle:
        handle.write(b"first\n")
        handle.truncate(5 * 1024**3)
    assert coder.ask("read", path="huge.log")["content"][0]["size"] == 5 * 1024**3
    put(coder, "long.log", b"line\n" * (2 * 1024 * 1024))
    last = 8 * 1024 * 1024 // 5
    assert "it is too large to be read further" in coder.text("read", path="long.log", offset=last)


def test_a_diff_shows_characters_that_nobody_sees(coder: CodingAgent) -> None:
    permit = coder.preview("write", path="a.py", content="if access:\u202e\u2066# check\r\n")
    diff = permit["expected_outcome"]["details"]["diff"]
    assert "\\u{202e}\\u{2066}# check\\u{d}" in diff


def test_a_setting_that_its_owner_changed_voids_what_was_previewed(coder: CodingAgent) -> None:
    permit = coder.preview("write", path="a.txt", content="a")
    coder.choose(needs_owner="EVERYTHING")
    ended = coder.commit(permit)
    assert (ended["status"], ended["problem"]["code"]) == ("BLOCKED", "WORKSPACE_CHANGED")
    assert not (coder.folder / "a.txt").exists()
