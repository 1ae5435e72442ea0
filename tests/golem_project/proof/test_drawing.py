"""`make test` draws a part of the expensive tests: not of what is quick about money or rows, not of what changed."""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase
from typing import Final

import pytest

from golem_project.embedded.paths import CHECKOUT
from tests.drawing.draw import Candidate, Whole, draw
from tests.drawing.families import ALWAYS, FAMILIES, MONEY, ROWS, Family, find_family
from tests.drawing.reach import EVERYTHING, Reach
from tests.durations import read_durations

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
    drawn = {each.name for each in CANDIDATES if find_family(each.path)}
    never = set(drawn)
    for seed in SEEDS:
        never &= leave_out(seed=seed)
    assert len(drawn) > 500
    assert never == set()


def test_a_draw_is_a_part_of_each_family_and_the_same_for_the_same_seed() -> None:
    one, again, other = leave_out(seed="a"), leave_out(seed="a"), leave_out(seed="b")
    assert one == again and one != other
    for family in FAMILIES:
        if family.one_in > 1 and not family.is_of_examples:
            members = {each.name for each in CANDIDATES if find_family(each.path) is family}
            ran = len(members - one) / len(members)
            assert 0 < ran < 0.75, family.name


def test_a_slow_file_is_drawn_whole_or_not_at_all() -> None:
    for family in (each for each in FAMILIES if each.is_of_slow_files):
        paths = [path for path in TESTS if find_family(path) is family]
        left = leave_out()
        shares = {path: sum(each.name in left for each in CANDIDATES if each.path == path) for path in paths}
        assert set(shares.values()) == {0, 7}, family.name


def test_a_test_is_drawn_or_not_whoever_is_collected_beside_it() -> None:
    half = CANDIDATES[::3]
    names = {each.name for each in half if not (found := find_family(each.path)) or not found.has_one_of_each_kind}
    assert leave_out(given=half) & names == leave_out() & names


def list_critical(*, is_slow: bool) -> list[str]:
    return [path for path in TESTS if path.startswith(CRITICAL) and (path in read_durations()) is is_slow]


def test_nothing_safety_critical_is_ever_left_out_that_is_quick_or_about_labels_and_architecture() -> None:
    never = ("tests/architecture/", "tests/taint/")
    kept = {*list_critical(is_slow=False), *(path for path in TESTS if path.startswith(never))}
    critical = {each.name for each in CANDIDATES if each.path in kept}
    assert len(critical) > 1_000
    unchanged = frozenset(family.name for family in FAMILIES)
    for seed in SEEDS:
        assert not critical & leave_out(seed=seed, whole=Whole(unchanged_inputs=unchanged))


@pytest.mark.parametrize(
    "changed",
    [
        "contracts/PolicyCage.sol",
        "permits_app/limits/ledger.py",
        "permits_app/models/permits.py",
        "permits_app/safety/hooks/simulator.py",
        "tools_app/chain/accounts.py",
        "tools_app/portfolio/worth.py",
        "tools_app/simulation/engine.py",
        "tools_app/toolkit/plan.py",
    ],
)
def test_where_anything_about_money_changed_no_test_about_money_is_left_out(changed: str) -> None:
    slow = {each.name for each in CANDIDATES if matches(each.path, MONEY) and each.path in read_durations()}
    assert len(slow) > 300
    assert slow & leave_out()
    for seed in SEEDS[:12]:
        assert not slow & leave_out(seed=seed, whole=REACH.find(["docs/map.md", changed]))


@pytest.mark.parametrize(
    "changed",
    [
        "archetypes_app/owner_group.py",
        "golem_project/people/invitations.py",
        "golem_project/pi/views.py",
        "memory_app/admin/episodes.py",
        "permits_app/admin/permits.py",
        "tools_app/admin/tools.py",
    ],
)
def test_where_a_page_or_its_people_changed_no_test_of_whose_rows_is_left_out(changed: str) -> None:
    slow = {each.name for each in CANDIDATES if matches(each.path, ROWS) and each.path in read_durations()}
    assert slow & leave_out()
    for seed in SEEDS[:12]:
        assert not slow & leave_out(seed=seed, whole=REACH.find([changed]))


def test_what_is_about_money_or_rows_is_in_no_family_of_something_else() -> None:
    assert all(pattern.endswith("/*") or list(CHECKOUT.glob(f"{pattern}.py")) for pattern in (*ALWAYS, *MONEY, *ROWS))
    greedy = Family(name="greedy", paths=("tests/*",), one_in=2)
    assert not [path for path in TESTS if path.startswith(CRITICAL) and greedy.holds(path)]
    for path in list_critical(is_slow=True):
        family = find_family(path)
        assert family is None or family.is_guarded, path


def test_what_is_slow_and_in_no_other_family_is_drawn_and_what_is_quick_is_not() -> None:
    slow = {path for path in TESTS if path in read_durations()}
    assert len(slow) > 200
    assert [path for path in slow if find_family(path) is None and not matches(path, ALWAYS)] == []
    last = [family for family in FAMILIES if family.is_of_slow_files]
    assert len(last) == 3
    assert [path for path in TESTS if find_family(path) in last and path not in slow] == []


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def test_every_pattern_of_a_family_finds_tests() -> None:
    for family in FAMILIES:
        for pattern in (*family.paths, *family.always):
            assert [path for path in TESTS if Family("one", (pattern,), is_guarded=family.is_guarded).holds(path)], (
                pattern
            )
        for prefix in (*family.whole_when, *family.inputs):
            assert (CHECKOUT / prefix).exists(), prefix


def test_one_case_of_each_protocol_runs_whatever_the_seed() -> None:
    path = "tests/catalogue/test_cases.py"
    kinds = [f"protocol_{number}" for number in range(12)]
    cases = [Candidate(f"{path}::test[{kind}-{number}]", path, True, kind) for kind in kinds for number in range(9)]
    for seed in SEEDS:
        kept = {each.kind for each in cases if each.name not in leave_out(seed=seed, given=cases)}
        assert kept == set(kinds)


WALKS: Final = "tests/permits_app/safety/test_leaving_safes.py"


def test_of_what_is_one_of_many_examples_one_of_each_test_runs_and_all_of_them_in_turn() -> None:
    names = [f"{WALKS}::test_{test}[{number}]" for test in ("one", "other") for number in range(3)]
    walks = [Candidate(name, WALKS, True, is_one_of_many=True) for name in names]
    met: set[str] = set()
    for seed in SEEDS:
        kept = set(names) - leave_out(seed=seed, given=walks)
        assert sorted(name.partition("[")[0] for name in kept) == sorted({name.partition("[")[0] for name in names})
        met |= kept
    assert met == set(names)
    for changed in (WALKS, "tests/permits_app/safety/leaving_walk.py", "permits_app/limits/anything.py"):
        assert not leave_out(given=walks, whole=REACH.find([changed])), changed
    assert leave_out(given=walks, whole=REACH.find(["docs/map.md"]))


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
        if family:
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
        ("golem_project/cockpit/page_contents.py", "tests/browser/test_cockpit.py"),
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
        ("clients/typescript/package.json", "clients"),
        ("contracts/anything.sol", "Solidity compiled anew"),
    ],
)
def test_what_a_family_rests_on_makes_all_of_it_run(changed: str, family: str) -> None:
    whole = REACH.find([changed])
    assert whole.families[family] == changed
    members = {each.name for each in CANDIDATES if (found := find_family(each.path)) and found.name == family}
    assert members and not members & leave_out(whole=whole)


@pytest.mark.parametrize(
    "changed", [*EVERYTHING, "tests/services.py", "tests/live_golem.py", "tests/drawing/families.py"]
)
def test_what_every_test_rests_on_makes_everything_run(changed: str) -> None:
    assert leave_out(whole=REACH.find(["README.md", changed])) == frozenset()
