"""Patterns that would never end, and folders that have no end."""

from __future__ import annotations

import pytest

from tests.coding_agent import CodingAgent, Refused
from tests.tools_app.subsystems.coding.test_six_tools import put
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.subsystems.coding.folder_search import search_names, search_text
from tools_app.subsystems.coding.limits import CodingLimits
from tools_app.subsystems.coding.local_folder import JailFiles


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)*b", r"(.*a){25}b", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_that_bombs_other_engines_ends_at_once(coder: CodingAgent, pattern: str) -> None:
    put(coder, "a.txt", "a" * 50_000 + "!\n")
    begun = clock.monotonic_ms()
    assert coder.text("grep", pattern=pattern) == "No matches found"
    assert clock.monotonic_ms() - begun < 30_000


@pytest.mark.parametrize("pattern", ["(unclosed", r"(?=look)", r"(a)\1", "a{1000000}", "*"])
def test_a_pattern_that_is_not_understood_is_refused_with_the_reason(coder: CodingAgent, pattern: str) -> None:
    with pytest.raises(Refused) as refused:
        coder.ask("grep", pattern=pattern)
    assert (refused.value.code, refused.value.problem["recovery"]) == ("PATTERN_REFUSED", "FIX_PARAMS")


def test_a_shell_pattern_that_bombs_ends_at_once(coder: CodingAgent) -> None:
    put(coder, "a" * 200, "")
    begun = clock.monotonic_ms()
    assert coder.text("find", pattern="*a" * 40 + "b").startswith("No files found")
    assert clock.monotonic_ms() - begun < 30_000


def test_matches_are_capped_with_a_hint_and_long_lines_are_cut(coder: CodingAgent) -> None:
    put(coder, "a.txt", "match\n" * 500)
    text = coder.text("grep", pattern="match")
    assert text.count("a.txt:") == 100
    assert text.endswith("[There may be more: 100 lines are shown. Narrow the pattern or the path.]")
    put(coder, "a.txt", "match " + "x" * 10_000)
    assert len(coder.text("grep", pattern="match")) < 600


def test_a_walk_through_more_names_than_a_call_looks_at_ends_and_says_so(coder: CodingAgent) -> None:
    coder.ask("find", pattern="*")
    for folder in range(30):
        (coder.folder / f"d{folder}").mkdir()
        for name in range(40):
            (coder.folder / f"d{folder}" / f"f{name}").write_bytes(b"word\n")
    files, limits = JailFiles(coder.folder, uid=None), CodingLimits(walked_entries=500)
    later = Deadline.after_ms(10_000)
    names = search_names(files, (), pattern="f*", kind=None, limits=limits, deadline=later)
    assert "first 500 names" in names.cut_by and len(names.lines) < 500
    words = search_text(files, (), pattern="nowhere", include="", limits=limits, deadline=later)
    assert "first 500 names" in words.cut_by
    over = search_text(files, (), pattern="nowhere", include="", limits=limits, deadline=Deadline.after_ms(100))
    assert over.cut_by == "the time was over; name a path"


@pytest.mark.parametrize(("names", "is_cut"), [(9, False), (10, False), (11, True)])
def test_as_many_names_as_a_call_looks_at_are_all_looked_at(coder: CodingAgent, names: int, is_cut: bool) -> None:
    coder.ask("find", pattern="*")
    (coder.folder / "deep").mkdir()
    for name in range(names):
        (coder.folder / "deep" / f"f{name}").write_bytes(b"word\n")
    files, limits = JailFiles(coder.folder, uid=None), CodingLimits(walked_entries=10)
    found = search_names(files, ("deep",), pattern="f*", kind=None, limits=limits, deadline=Deadline.after_ms(10_000))
    assert len(found.lines) == min(names, 10) and bool(found.cut_by) is is_cut


def test_a_loop_of_links_is_walked_once(coder: CodingAgent) -> None:
    put(coder, "a/b.txt", "word")
    (coder.folder / "a" / "up").symlink_to("..")
    assert coder.text("grep", pattern="word") == "a/b.txt:1: word"
    assert coder.text("find", pattern="*").splitlines() == ["a/", "a/b.txt", "a/up"]
