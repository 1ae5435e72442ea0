"""`make test` draws a part of the expensive tests: never of what is safety-critical, never of what changed."""

from __future__ import annotations

import ast
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
from tests.drawing.draw import Candidate, Whole, draw
from tests.drawing.families import ALWAYS, FAMILIES, Family, find_family
from tests.drawing.plugin import Drawing, Plan, keep_verdicts, read_plan
from tests.drawing.reach import EVERYTHING, Reach
from tests.drawing.verdicts import Verdicts, find_unchanged, hash_inputs, read_verdicts, write_verdicts

REACH: Final = Reach(CHECKOUT)
TESTS: Final = [path.relative_to(CHECKOUT).as_posix() for path in sorted((CHECKOUT / "tests").rglob("test_*.py"))]
DRAWN: Final = [path for path in TESTS if find_family(path) is not None]
SEEDS: Final = [str(number) for number in range(120)]
CRITICAL: Final = (
    "tests/permits_app/",
    "tests/contracts/",
    "tests/architecture/",
    "tests/taint/",
    "tests/admin/test_owner_scope.py",
    "tests/admin/test_roles.py",
)
NOTHING: Final = Whole()
CANDIDATES: Final = [
    Candidate(f"{path}::test_{number}{'[a]' * (number % 2)}", path, bool(number % 2), ("aave_v3", "lido")[number % 2])
    for path in TESTS
    for number in range(7)
]


def leave_out(*, seed: str = "1", whole: Whole = NOTHING, given: list[Candidate] = CANDIDATES) -> frozenset[str]:
    return draw(given, seed=seed, whole=whole).left_out


def test_the_draws_of_many_seeds_together_are_every_test() -> None:
    inputs = frozenset(family.name for family in FAMILIES if family.inputs)
    drawn_alone = {each.name for each in CANDIDATES if (found := find_family(each.path)) and found.name not in inputs}
    never = set(drawn_alone)
    for seed in SEEDS:
        never &= leave_out(seed=seed)
    assert len(drawn_alone) > 500
    assert never == set()


def test_a_draw_is_a_part_of_each_family_and_the_same_for_the_same_seed() -> None:
    one, again, other = leave_out(seed="a"), leave_out(seed="a"), leave_out(seed="b")
    assert one == again and one != other
    for family in FAMILIES:
        if family.one_in > 1 and not family.is_of_examples:
            members = {each.name for each in CANDIDATES if find_family(each.path) is family}
            ran = len(members - one) / len(members)
            assert 0 < ran < 0.75, family.name


def test_a_test_is_drawn_or_not_whoever_is_collected_beside_it() -> None:
    half = CANDIDATES[::3]
    names = {each.name for each in half if not (found := find_family(each.path)) or not found.has_one_of_each_kind}
    assert leave_out(given=half) & names == leave_out() & names


def test_nothing_safety_critical_is_ever_left_out() -> None:
    critical = {each.name for each in CANDIDATES if each.path.startswith(CRITICAL)}
    assert len(critical) > 1_000
    unchanged = frozenset(family.name for family in FAMILIES)
    for seed in SEEDS:
        assert not critical & leave_out(seed=seed, whole=Whole(unchanged_inputs=unchanged))
    assert not [path for path in TESTS if path.startswith(CRITICAL) and find_family(path)]


def test_what_always_runs_is_there_and_wins_over_every_family() -> None:
    assert all(pattern.endswith("/*") or list(CHECKOUT.glob(f"{pattern}.py")) for pattern in ALWAYS)
    greedy = Family(name="greedy", paths=("tests/*",), one_in=2)
    assert not [path for path in TESTS if path.startswith(CRITICAL) and greedy.holds(path)]


def test_every_pattern_of_a_family_finds_tests() -> None:
    for family in FAMILIES:
        for pattern in (*family.paths, *family.always):
            assert [path for path in TESTS if Family("one", (pattern,)).holds(path)], pattern
        for prefix in (*family.whole_when, *family.inputs):
            assert (CHECKOUT / prefix).exists(), prefix


def test_one_case_of_each_protocol_runs_whatever_the_seed() -> None:
    path = "tests/catalogue/test_cases.py"
    kinds = [f"protocol_{number}" for number in range(12)]
    cases = [Candidate(f"{path}::test[{kind}-{number}]", path, True, kind) for kind in kinds for number in range(9)]
    for seed in SEEDS:
        kept = {each.kind for each in cases if each.name not in leave_out(seed=seed, given=cases)}
        assert kept == set(kinds)


def test_a_changed_protocols_cases_run_whole_also_where_its_folder_says_more_than_its_name() -> None:
    path = "tests/catalogue/test_cases.py"
    cases = [Candidate(f"{path}::test[{number}]", path, True, "maker") for number in range(40)]
    assert leave_out(given=cases)
    for changed in ("tools_app/protocols/maker_sky/tools.py", "golem_project/embedded/world/protocols/maker.py"):
        assert not leave_out(given=cases, whole=REACH.find([changed]))


def test_a_changed_test_file_runs_whole() -> None:
    for path in DRAWN:
        whole = REACH.find([path])
        assert path in whole.paths
        family = find_family(path)
        if family and not family.inputs:
            assert not {each.name for each in CANDIDATES if each.path == path} & leave_out(whole=whole)


def list_imported_files(path: str) -> set[str]:
    """The product's files that a test imports modules or names from, found in its syntax tree."""
    found = set()
    for node in ast.walk(ast.parse((CHECKOUT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        else:
            continue
        for name in named:
            file = f"{name.replace('.', '/')}.py"
            if not name.startswith("tests.") and (CHECKOUT / file).is_file():
                found.add(file)
    return found


def test_whatever_a_test_imports_makes_it_run_whole_when_it_changes() -> None:
    imported = {path: list_imported_files(path) for path in DRAWN}
    assert sum(map(len, imported.values())) > 300
    for file in sorted(set().union(*imported.values())):
        whole = REACH.find([file])
        missing = [path for path, files in imported.items() if file in files and path not in whole.paths]
        assert missing == [], file


def test_a_model_that_its_package_hands_on_makes_its_tests_run_whole() -> None:
    assert "tests/concurrency/test_killed_worker.py" in REACH.find(["permits_app/models/spending.py"]).paths


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ("tests/concurrency/doors.py", "tests/concurrency/test_killed_worker.py"),
        ("tests/browser/conftest.py", "tests/browser/test_ages.py"),
        ("tests/catalogue/proofs.py", "tests/catalogue/test_cases.py"),
        ("tests/tools_app/protocols/official_lists.json", "tests/tools_app/protocols/lido/test_staking.py"),
        ("tools_app/protocols/lido/tools/unstake.py", "tests/tools_app/protocols/lido/test_staking.py"),
        ("tools_app/protocols/maker_sky/any.py", "tests/tools_app/protocols/maker/test_vaults.py"),
        ("golem_project/cockpit/board.py", "tests/browser/test_cockpit.py"),
        ("permits_app/approvals/passkeys.py", "tests/browser/test_passkeys.py"),
    ],
)
def test_helpers_rooms_and_pages_lead_to_their_tests(changed: str, runs: str) -> None:
    assert runs in REACH.find([changed]).paths


@pytest.mark.parametrize(
    ("changed", "family"),
    [
        ("templates/admin/golem/any.html", "browser"),
        ("golem_project/static/golem/admin.js", "browser"),
        ("permits_app/execution/executor.py", "crashes"),
        ("golem_project/heartbeat/tick.py", "crashes"),
        ("tools_app/toolkit/case.py", "catalogue cases"),
        ("tests/proof/walks.py", "walks and what proofs prove"),
        ("golem_project/embedded/postgres.py", "servers that start"),
        ("permits_app/safety/hook_chain.py", "adversaries' examples"),
    ],
)
def test_what_a_family_rests_on_makes_all_of_it_run(changed: str, family: str) -> None:
    whole = REACH.find([changed])
    assert whole.families[family] == changed
    members = {each.name for each in CANDIDATES if (found := find_family(each.path)) and found.name == family}
    assert members and not members & leave_out(whole=whole)


@pytest.mark.parametrize(
    "changed", [*EVERYTHING, "tests/services.py", "tests/live_golem.py", "tests/drawing/plugin.py"]
)
def test_what_every_test_rests_on_makes_everything_run(changed: str) -> None:
    assert leave_out(whole=REACH.find(["README.md", changed])) == frozenset()


# -- what changed ------------------------------------------------------------------------------------------------------


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


# -- what is kept ------------------------------------------------------------------------------------------------------

CLIENTS: Final = next(family for family in FAMILIES if family.name == "clients")


def test_a_family_with_inputs_runs_until_it_passed_with_them_and_again_when_one_changes(tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "one.py").write_text("1")
    members = [each for each in CANDIDATES if find_family(each.path) is CLIENTS]
    assert not leave_out(given=members, whole=Whole(unchanged_inputs=find_unchanged(tmp_path, Verdicts())))
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


def test_workers_hear_the_plan_as_it_was_made() -> None:
    plan = Plan("7", REACH.find(["templates/a.html", "tests/concurrency/doors.py"]), "/nowhere")
    assert read_plan(plan.as_json()) == plan


def run_suite(*words: str, **environment: str) -> str:
    """What a run on one worker prints; quick tests of arithmetic, of which a third is drawn."""
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


def test_the_build_machine_runs_what_a_person_runs_and_nothing_twice() -> None:
    script = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.rstrip().endswith("\nmake test")
    assert "reruns" not in script
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    commands = dict(re.findall(r"^([a-z-]+):[^\n]*\n((?:\t[^\n]*\n)+)", makefile, re.MULTILINE))
    assert "--draw" in commands["test"] and "--draw" not in commands["test-all"]
    assert json.dumps(commands).count("--reruns") == 0
