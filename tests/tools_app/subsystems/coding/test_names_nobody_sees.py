"""Names with line ends, direction marks or bytes that are no text: shown plainly, and reached by what is shown."""

from __future__ import annotations

import os

import pytest

from tests.coding_agent import CodingAgent, Refused

NAMES = {
    "a line end": (b"a.txt\nsecret.key", "a.txt\\x0asecret.key"),
    "a terminal's code": (b"\x1b[2Kclean", "\\x1b[2Kclean"),
    "a direction mark": ("gpj.\u202eexe".encode(), "gpj.\\u202eexe"),
    "a space of no width": ("pass\u200bword".encode(), "pass\\u200bword"),
    "a tag": ("a\U000e0041b".encode(), "a\\U000e0041b"),
    "bytes that are no UTF-8": (b"caf\xe9.txt", "caf\\xe9.txt"),
    "half of a pair": (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
    "a backslash": (b"dir\\x41.txt", "dir\\\\x41.txt"),
    "a letter that is drawn blank": ("a\u3164b".encode(), "a\\u3164b"),
    "another space": ("a\u00a0b\u3000c".encode(), "a\\u00a0b\\u3000c"),
    "a delete": (b"a\x7fb", "a\\x7fb"),
    "a control of the upper half": ("a\u0085b".encode(), "a\\u0085b"),
    "any script": ("größe 大小.txt".encode(), "größe 大小.txt"),
}


@pytest.mark.parametrize("what", NAMES)
def test_a_name_is_shown_plainly_and_read_edited_and_searched_by_what_is_shown(coder: CodingAgent, what: str) -> None:
    raw, shown = NAMES[what]
    coder.run("true")
    folder = os.path.join(os.fsencode(coder.folder), b"sub-" + raw)
    os.makedirs(folder)
    with open(os.path.join(folder, raw), "w") as file:
        file.write("one needle\n")
    path = f"sub-{shown}/{shown}"
    assert coder.text("find", pattern="*").splitlines() == [f"sub-{shown}/", path]
    assert coder.text("grep", pattern="needle") == f"{path}:1: one needle"
    assert coder.text("grep", pattern="needle", path=path) == f"{path}:1: one needle"
    assert coder.text("find", pattern="*", path=f"sub-{shown}") == path
    assert coder.text("read", path=path) == "one needle"
    assert coder.text("read", path=f"/work/{path}") == "one needle"
    told = coder.do("edit", path=path, old_string="one", new_string="two")
    assert told["content"][0]["text"] == f"Successfully edited {path}"
    with open(os.path.join(folder, raw)) as file:
        assert file.read() == "two needle\n"
    assert os.listdir(folder) == [raw]


def test_what_is_missing_or_no_text_is_named_as_plainly(coder: CodingAgent) -> None:
    coder.run("true")
    with open(os.path.join(os.fsencode(coder.folder), b"\xff\n"), "wb") as file:
        file.write(b"\x00\x01")
    told = coder.ask("read", path="\\xff\\x0a")
    assert told["content"][0]["uri"] == "file:///\\xff\\x0a"
    with pytest.raises(Refused, match="FILE_NOT_FOUND") as refused:
        coder.ask("read", path="gone\\x0athere")
    assert "gone\\x0athere" in refused.value.problem["detail"]


@pytest.mark.parametrize(
    "path", ["a\\x2fb", "\\x2e\\x2e/a", "a/\\x2e/b", "a\\x00b", "\\u002e.", "\\ud800", "\\U00110000"]
)
def test_an_escape_leads_nowhere_that_a_name_does_not(coder: CodingAgent, path: str) -> None:
    for call in (lambda: coder.ask("read", path=path), lambda: coder.preview("write", path=path, content="x")):
        with pytest.raises(Refused, match="PATH_REFUSED"):
            call()


def test_a_backslash_that_begins_no_escape_stands_for_itself(coder: CodingAgent) -> None:
    coder.do("write", path="a\\b\\xZZ.txt", content="one")
    assert (coder.folder / "a\\b\\xZZ.txt").read_text() == "one"
    assert coder.text("find", pattern="*") == "a\\\\b\\\\xZZ.txt"
    assert coder.text("read", path="a\\\\b\\\\xZZ.txt") == coder.text("read", path="a\\b\\xZZ.txt") == "one"
