"""What is written for a tool of a protocol does not grow again: half of it was taken away once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import ROOT
from tests.bench.tool_lines import KINDS, ToolLines, count_tools, sum_medians

MOST_LINES: Final = {"write": 114.0, "read": 73.0}
"""The sum of the medians of code, words, types, cases, tests and snapshots; `make bench ONLY=text` tells each."""


@pytest.fixture(scope="module")
def tools() -> list[ToolLines]:
    return count_tools(ROOT)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_is_written_in_no_more_lines_than_it_was(kind: str, tools: list[ToolLines]) -> None:
    assert sum(each.kind == kind for each in tools) >= 60
    assert sum_medians(tools, kind)["all"] <= MOST_LINES[kind], "what several tools say belongs into what they share"


def test_lines_are_counted_where_they_stand(tmp_path: Path) -> None:
    """A tool made up for it: each part has the lines that stand below, and none of its neighbour's."""
    home = tmp_path / "tools_app" / "protocols" / "jar"
    tests, snapshots = tmp_path / "tests/tools_app/protocols/jar", tmp_path / "tests/snapshots/tools"
    for each in (home, tests, snapshots, tmp_path / "tools_app/standards"):
        each.mkdir(parents=True)
    (home / "tools.py").write_text(
        "class Held:\n    raw: int\n\n\n"
        '@jar.read(\n    snippet="held",\n)\n'
        'def jar_get(ctx) -> Held:\n    """What is there."""\n    return Held(1)\n\n\n'
        "@jar.write()\ndef jar_put(ctx):\n    return 1\n"
    )
    (home / "cases.py").write_text('CASES = (\n    Case(\n        "jar_put",\n    ),\n    ReadCase("jar_get"),\n)\n')
    (tests / "test_jar.py").write_text(
        'def test_it():\n    ask("jar_get")\n    assert True\n\n\ndef test_more():\n    pass\n'
    )
    (snapshots / "jar.json").write_text('{\n"jar_get": {"a": 1,\n  "b": 2},\n"jar_put": {}\n}\n')
    read, write = sorted(count_tools(tmp_path), key=lambda each: each.kind)
    assert read.parts == {"code": 4, "words": 2, "types": 2, "case": 1, "tests": 3, "snapshots": 2}
    assert (write.name, write.parts["code"], write.parts["case"], write.parts["tests"]) == ("jar_put", 3, 3, 0)
