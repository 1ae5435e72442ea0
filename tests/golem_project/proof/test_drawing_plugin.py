"""What a draw is compared with, what earlier runs leave for it, and what a run says of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from golem_project.embedded.paths import CHECKOUT
from tests.drawing import changes, plugin
from tests.drawing.changes import Changes, find_changes
from tests.drawing.draw import Whole
from tests.drawing.families import FAMILIES, find_family
from tests.drawing.plugin import Drawing, Plan, keep_verdicts, read_plan
from tests.drawing.verdicts import Verdicts, find_unchanged, hash_inputs, read_verdicts, write_verdicts
from tests.golem_project.proof.test_drawing import CANDIDATES, REACH, leave_out


def git(folder: Path, *words: str) -> str:
    who = {f"GIT_{one}_{other}": "a@b.c" for one in ("AUTHOR", "COMMITTER") for other in ("NAME", "EMAIL")}
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **who}).stdout.strip()


def commit(folder: Path, name: str) -> str:
    (folder / name).write_text(name)
    git(folder, "add", name)
    git(folder, "commit", "-qm", name)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(changes.SINCE_VARIABLE, raising=False)
    git(tmp_path, "init", "-q", "-b", "trunk")
    return tmp_path


def test_without_a_kept_run_the_last_commit_counts_and_what_is_not_committed(repository: Path) -> None:
    for name in ("one", "two", "three"):
        commit(repository, name)
    assert find_changes(repository, green=None).files == {"three"}
    (repository / "one").write_text("another")
    (repository / "new").write_text("new")
    found = find_changes(repository, green=None)
    assert found.files == {"one", "three", "new"} and not found.is_clean


def test_everything_since_the_newest_whole_green_run_counts(repository: Path) -> None:
    green = commit(repository, "one")
    for name in ("two", "three"):
        commit(repository, name)
    found = find_changes(repository, green=green)
    assert (found.files, found.since, found.is_clean) == ({"two", "three"}, green, True)


def test_a_green_run_of_another_branch_is_not_compared_with(repository: Path) -> None:
    commit(repository, "one")
    git(repository, "checkout", "-qb", "aside")
    green = commit(repository, "aside")
    git(repository, "checkout", "-q", "trunk")
    commit(repository, "two")
    assert find_changes(repository, green=green).files == {"two"}


def test_a_branch_is_compared_with_where_it_left_the_one_it_came_from(repository: Path) -> None:
    commit(repository, "one")
    git(repository, "branch", "-m", "main")
    git(repository, "checkout", "-qb", "work")
    for name in ("two", "three"):
        commit(repository, name)
    assert find_changes(repository, green=None).files == {"two", "three"}


def test_whoever_names_a_commit_is_believed_and_a_name_that_is_none_runs_everything(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(repository, "one")
    commit(repository, "two")
    monkeypatch.setenv(changes.SINCE_VARIABLE, first)
    assert find_changes(repository, green=None).files == {"two"}
    monkeypatch.setenv(changes.SINCE_VARIABLE, "no-such-commit")
    assert find_changes(repository, green=first).files is None


def test_without_a_commit_before_or_without_git_everything_runs(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    commit(repository, "one")
    for folder in (repository, tmp_path_factory.mktemp("no-git")):
        found = find_changes(folder, green=None)
        assert found.files is None
        plan = plugin.make_plan(found, Verdicts(), CHECKOUT)
        Path(plan.told_at).unlink()
        assert plan.whole.everything == found.why
        assert leave_out(whole=plan.whole) == frozenset()


CLIENTS: Final = next(family for family in FAMILIES if family.name == "clients")


def test_a_family_with_inputs_is_drawn_until_all_of_it_passed_with_them_and_whole_when_one_changes(
    tmp_path: Path,
) -> None:
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "one.py").write_text("1")
    members = [each for each in CANDIDATES if find_family(each.path) is CLIENTS]
    never_passed = find_unchanged(tmp_path, Verdicts())
    assert 0 < len(leave_out(given=members, whole=Whole(unchanged_inputs=never_passed))) < len(members)
    changed = REACH.find(["clients/python/anything.py"], unchanged_inputs=never_passed)
    assert leave_out(given=members, whole=changed) == frozenset()
    passed = Verdicts(inputs={"clients": hash_inputs(tmp_path, CLIENTS)})
    unchanged = find_unchanged(tmp_path, passed)
    assert leave_out(given=members, whole=Whole(unchanged_inputs=unchanged)) == {each.name for each in members}
    (tmp_path / "clients" / "one.py").write_text("2")
    assert "clients" not in find_unchanged(tmp_path, passed)
    (tmp_path / "clients" / "one.py").write_text("1")
    assert "clients" in find_unchanged(tmp_path, passed)
    (tmp_path / "clients" / "two.py").write_text("")
    assert "clients" not in find_unchanged(tmp_path, passed)


def test_what_is_kept_is_read_again_and_what_is_not_understood_is_nothing(tmp_path: Path) -> None:
    file = tmp_path / "var" / "verdicts.json"
    assert read_verdicts(file) == Verdicts()
    kept = Verdicts(green="abc", inputs={"clients": "1"})
    write_verdicts(file, kept)
    assert read_verdicts(file) == kept
    for text in ("", "[]", '{"green": 1}', '{"green": "", "inputs": 7}'):
        file.write_text(text)
        assert read_verdicts(file) == Verdicts()


@pytest.fixture
def kept_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(plugin, "VERDICTS", tmp_path / "verdicts.json")
    monkeypatch.setattr(plugin, "find_changes", lambda *_, **__: Changes("head", "", "", frozenset(), is_clean=True))
    return tmp_path / "verdicts.json"


def test_only_a_green_run_of_everything_is_one_to_compare_with(kept_at: Path) -> None:
    keep_verdicts(Drawing(), is_green=True, is_drawn=True)
    assert read_verdicts(kept_at).green == ""
    keep_verdicts(Drawing(), is_green=False, is_drawn=False)
    assert read_verdicts(kept_at).green == ""
    keep_verdicts(Drawing(), is_green=True, is_drawn=False)
    assert read_verdicts(kept_at).green == "head"


def test_what_is_not_committed_is_never_kept_as_green(kept_at: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "find_changes", lambda *_, **__: Changes("head", "", "", frozenset({"a"})))
    keep_verdicts(Drawing(), is_green=True, is_drawn=False)
    assert read_verdicts(kept_at).green == ""


def test_a_family_that_failed_or_was_skipped_keeps_no_verdict_of_its_inputs(kept_at: Path) -> None:
    keep_verdicts(Drawing(ran={"clients", "toolchains"}), is_green=False, is_drawn=True)
    assert set(read_verdicts(kept_at).inputs) == {"clients", "toolchains"}
    keep_verdicts(Drawing(ran={"clients"}, not_passed={"clients"}), is_green=False, is_drawn=True)
    assert set(read_verdicts(kept_at).inputs) == {"toolchains"}


def test_a_part_of_a_family_keeps_no_verdict_of_its_inputs(kept_at: Path) -> None:
    ran = {"clients", "toolchains"}
    whole = Whole(families={"toolchains": "packages.lock"})
    keep_verdicts(Drawing(plan=Plan("7", whole, "/nowhere"), ran=ran), is_green=True, is_drawn=True)
    assert set(read_verdicts(kept_at).inputs) == {"toolchains"}


def test_workers_hear_the_plan_as_it_was_made() -> None:
    plan = Plan("7", REACH.find(["templates/a.html", "tests/concurrency/doors.py"]), "/nowhere")
    assert read_plan(plan.as_json()) == plan


def run_suite(*words: str, **environment: str) -> str:
    """What a run on one worker prints; quick tests of arithmetic, of which an eighth is drawn."""
    files = ["tests/tools_app/protocols/uniswap/test_v2_math.py", "tests/tools_app/protocols/test_math_of_protocols.py"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "1",
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
        *words,
        *files,
    ]
    names = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GOLEM_DRAW"))}
    done = subprocess.run(
        command, cwd=CHECKOUT, env={**names, **environment}, capture_output=True, text=True, timeout=170, check=False
    )
    assert done.returncode in (0, 5), done.stdout[-3000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_a_run_says_its_seed_how_many_it_drew_and_how_to_run_everything() -> None:
    told = run_suite("--draw", "-v", GOLEM_DRAW_SEED="7", GOLEM_DRAW_SINCE="HEAD")
    assert "drawn by seed 7 (again: GOLEM_DRAW_SEED=7 make test); all: make test-all" in told
    counted = re.search(r"drawn: (\d+) of (\d+) tests, (\d+) left out", told)
    assert counted is not None
    kept, all_of_them, left = map(int, counted.groups())
    assert kept + left == all_of_them > 10
    assert told.count(" PASSED ") == kept
    # A change that is not committed yet makes more of them run.
    assert re.search(rf"  protocols: {kept} of {all_of_them}, {left} left out", told)

    assert re.search(r"as long as \d+ seconds of one process among three", told)


def test_what_a_draw_takes_is_of_each_file_the_part_of_its_seconds_that_its_tests_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plugin, "read_durations", lambda: {"long": 90, "half": 10})
    assert plugin.estimate({"long": 9, "half": 4, "short": 5}, {}) == 100
    assert plugin.estimate({"long": 9, "half": 4}, {"long": 3, "half": 4}) == 60
    assert plugin.estimate({f"short {number}": 1 for number in range(20)}, {}) == 10


@pytest.mark.slow
def test_who_chooses_tests_by_name_gets_all_of_them() -> None:
    told = run_suite("--draw", "-v", "-k", "rounded or growth", GOLEM_DRAW_SINCE="HEAD")
    assert "drawn" not in told
    assert told.count(" PASSED ") >= 3


def test_a_narrowed_run_tells_nothing_of_the_suite(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig, "args", [str(CHECKOUT / "tests")])
    for name in plugin._CHOSEN_BY:
        monkeypatch.setattr(pytestconfig.option, name, None, raising=False)
    assert not plugin.is_narrowed(pytestconfig)
    monkeypatch.setattr(pytestconfig.option, "keyword", "swap")
    assert plugin.is_narrowed(pytestconfig)
    monkeypatch.setattr(pytestconfig.option, "keyword", "")
    monkeypatch.setattr(pytestconfig, "args", ["tests/memory_app"])
    assert plugin.is_narrowed(pytestconfig)


def test_the_build_machine_runs_what_a_person_runs_and_what_failed_once_more_by_itself() -> None:
    script = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    assert "\nmake test || {" in script and "--reruns" not in script
    again = script.partition("make test || {")[2]
    assert "--last-failed --last-failed-no-failures none" in again and "be mended" in again
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    commands = dict(re.findall(r"^([a-z-]+):[^\n]*\n((?:\t[^\n]*\n)+)", makefile, re.MULTILINE))
    assert "--draw" in commands["test"] and "--draw" not in commands["test-all"]
    assert json.dumps(commands).count("--reruns") == 0
