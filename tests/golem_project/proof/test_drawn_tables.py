"""Mutants of tables: asked of the test at an edge first, and in a process that collects its tests with them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.golem_project.proof.test_drawn import MODULE, list_all
from tests.proof import drawn, drawn_session, drawn_sources
from tests.proof.forks import Ran


def test_of_a_threshold_the_test_at_its_edge_is_asked_first() -> None:
    hint = [each for each in list_all("golem_project.pi.add_next_call") if each.mutant.place == "_SHORTEST_PART"]
    named = drawn._list_named(hint)[hint[0].key]
    assert [each.partition("::")[0] for each in named] == ["tests/golem_project/pi/test_words_that_lead_on.py"]


@pytest.mark.parametrize(("is_woven", "verdict"), [(True, "survived"), (False, "alone")])
def test_what_a_fork_does_not_notice_of_a_table_is_asked_where_tests_are_collected_with_it(
    is_woven: bool, verdict: str
) -> None:
    """A parameter of a test is made of the table before any fork."""
    session: Any = object.__new__(drawn_session.DrawnSession)
    session._mutants = {1: SimpleNamespace(is_woven=is_woven, binding="TABLE = ()")}
    session._keys = {1: "module: TABLE"}
    session._met, session._touched = defaultdict(set), defaultdict(set)
    session._record = SimpleNamespace(list_reaching=lambda _: ["a.py::test"], is_known=lambda *_: True)
    session._items, session._parts, session._unfit = {"a.py::test": None}, {}, set()
    session._fork = lambda *_, **__: Ran(passed=["a.py::test"], touched=["a.py::test"])
    wanted = {"module": MODULE, "files": [], "named": []}
    assert session._judge(1, wanted, is_first=False)["verdict"] == verdict


def test_a_parameter_that_only_the_mutant_has_is_asked_again_by_its_function(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(tests: list[str], **_: Any) -> Any:
        asked.append(tests)
        return drawn._Run((), is_fit="[" not in tests[0], is_ended=True, seconds=0)

    monkeypatch.setattr(drawn, "_run_alone", run)
    told = drawn._Alone(("a.py",), failed="a.py::test[other]", is_unreached=False, is_ended=True, seconds=1)
    each = list_all(MODULE)[0]
    ((_, verdict),) = drawn._ask_again([(each, told)])
    assert verdict["verdict"] == "noticed" and verdict["by"] == "a.py::test[other]"
    assert asked[-1] == ["a.py::test"]


@pytest.mark.parametrize(
    ("module", "is_of_the_world"), [("golem_project.embedded.world.pools", True), ("tools_app.core.clock", False)]
)
def test_what_builds_the_local_world_builds_one_of_its_own_in_the_place_of_its_own_file(
    module: str, is_of_the_world: bool, tmp_path: Path
) -> None:
    """The saved one was made before the mutant."""
    each = list_all(module)[0]
    environment = drawn_sources.write_sources(each.module, each.mutant, tmp_path)
    told_where = "print(saved_world.WORLD_DIR, it.__file__)"
    script = f"from golem_project.embedded.world import saved_world; import {module} as it; {told_where}"
    told = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        cwd=drawn.CHECKOUT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert (told[0] == str(tmp_path / "world")) is is_of_the_world
    assert told[1] == str(drawn.CHECKOUT / f"{module.replace('.', '/')}.py")
    assert ast.unparse(ast.parse(each.mutant.source)) == ast.unparse(ast.parse((tmp_path / f"{module}.py").read_text()))
