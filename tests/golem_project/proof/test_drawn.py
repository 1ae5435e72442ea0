"""Mutants drawn by chance: the same ones each time, none of the safety code, each met by the tests near it."""

from __future__ import annotations

import ast
import json
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.proof import drawn, drawn_alone, drawn_record, first_pass, near_tests, probes
from tests.proof.drawn import Drawn
from tests.proof.mutants import list_mutants
from tests.proof.registry import Progress
from tests.proof.weaving import weave_probes

MODULE = "memory_app.decay"
COMMIT = "792f61a7" * 5


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw from one app alone, at a commit."""
    monkeypatch.setattr(drawn, "APPS", ("memory_app",))
    monkeypatch.setattr(drawn, "read_commit", lambda: COMMIT)


def list_all(module: str) -> list[Drawn]:
    path = drawn.CHECKOUT / (module.replace(".", "/") + ".py")
    return [Drawn(module, each) for each in list_mutants(path.read_text(encoding="utf-8"))]


def near(one: Drawn) -> list[str]:
    return near_tests.list_near(one.module, one.mutant)


def test_every_commit_draws_others(small: None) -> None:
    here, there = ({each.key for each in drawn.draw(12, seed=commit)} for commit in (COMMIT, COMMIT[::-1]))
    assert len(here & there) < 6


def test_what_is_not_committed_is_not_drawn_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(first_pass, "CHECKOUT", tmp_path)
    with pytest.raises(RuntimeError, match="needs a checkout of git"):
        first_pass.read_commit()
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    (tmp_path / "a.py").write_text("1")
    for words in (("init", "-q"), ("add", "a.py"), (*name, "commit", "-q", "-m", "one")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    assert len(first_pass.read_commit()) == 40
    (tmp_path / "a.py").write_text("2")
    with pytest.raises(RuntimeError, match=r"commit first[\s\S]*a\.py"):
        first_pass.read_commit()


def test_a_short_draw_is_the_beginning_of_a_long_one(small: None) -> None:
    long, short = drawn.draw(12, seed=COMMIT), drawn.draw(5, seed=COMMIT)
    assert short == long[: len(short)]
    assert len({each.key for each in long if each.reason is None}) == 12


def test_what_changes_nothing_is_named_and_another_is_drawn_for_it(
    small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = drawn.draw(4, seed=COMMIT)
    monkeypatch.setitem(drawn.EQUIVALENT, first.module, {first.mutant.name: "nobody could see it"})
    again = drawn.draw(4, seed=COMMIT)
    assert [each.key for each in again[:4]] == [each.key for each in (first, *others)]
    assert len(again) == 5 and again[0].reason == "nobody could see it"


def test_nothing_of_the_safety_code_and_no_migration_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn, "APPS", ("permits_app",))
    modules = {each.module for each in drawn.list_row(COMMIT)}
    assert len(modules) > 200
    assert [name for name in modules if name.startswith("permits_app.safety.") or ".migrations." in name] == []
    assert modules.isdisjoint(drawn.list_modules())


def test_the_tests_named_after_a_module_come_first_and_then_those_that_import_it() -> None:
    found = near(list_all(MODULE)[-1])
    assert found[0] == "tests/memory_app/test_decay.py" and len(found) == len(set(found))


def test_of_the_files_of_one_folder_those_that_speak_of_the_same_things_come_first() -> None:
    (held, *_) = [each for each in list_all("permits_app.execution.user_operations") if each.mutant.is_woven]
    folder = [name for name in near(held) if name.startswith("tests/permits_app/execution/test_")]
    assert folder.index("tests/permits_app/execution/test_zerodev_wallet.py") < 5


def test_a_part_that_ran_says_nothing_of_mutants_that_were_not_woven_in_then(tmp_path: Path) -> None:
    record = drawn_record.Record(tmp_path / "reached.json")
    record.keep_part("a part", {"one", "two"})
    record.keep_test("a test", seconds=1, reached=["one"])
    assert [record.is_known("a part", key) for key in ("one", "three")] == [True, False]
    record.keep_part("a part", {"three"})
    record.keep_test("a test", seconds=2, reached=["three"])
    record.save(is_last=True)
    again = drawn_record.Record.load(record.path)
    assert [again.is_known("a part", key) for key in ("one", "two", "three", "four")] == [True, True, True, False]
    assert again.list_reaching("one") == again.list_reaching("three") == ["a test"]


def test_a_constant_is_reached_where_it_is_used_and_a_class_where_its_methods_run() -> None:
    (tags, *_) = [
        each for each in list_all("tools_app.protocols.erc8004.tools.reputation") if each.mutant.place == "MOST_TAGS"
    ]
    used = probes.list_probes(tags.module, tags.mutant)
    assert used == {tags.module: ["identity_get_reputation_summary"]}
    (column, *_) = [each for each in list_all("permits_app.models.signed_promise") if not each.mutant.is_woven]
    assert "permits_app.actions.check_signed_promises" in probes.list_probes(column.module, column.mutant)
    (woven, *_) = [each for each in list_all(MODULE) if each.mutant.is_woven]
    assert probes.list_probes(MODULE, woven.mutant) == {}
    noted: list[int] = []
    tree = weave_probes(ast.parse('def f():\n    """What it is."""\n    return 3'), {"f": [7]}, "note")
    space: dict[str, Any] = {"note": noted.append}
    exec(compile(tree, "woven", "exec"), space)
    assert (space["f"](), space["f"].__doc__, noted) == (3, "What it is.", [7])


def test_what_compares_a_whole_kind_of_tables_comes_before_all_others() -> None:
    (status, *_) = [each for each in list_all("tools_app.protocols.erc8004.errors") if "404" in each.mutant.name]
    assert near(status)[0] == "tests/architecture/test_errors.py"
    (beside, *_) = [each for each in list_all("permits_app.tools.wallet_migrate") if "409" in each.mutant.name]
    assert near(beside)[0] == "tests/architecture/test_errors.py"
    (column, *_) = [each for each in list_all("permits_app.models.signed_promise") if not each.mutant.is_woven]
    assert near(column)[0] == "tests/architecture/test_migrations.py"
    (table, *_) = [each for each in list_all("tools_app.protocols.lido.tools.figures") if not each.mutant.is_woven]
    assert near(table)[0] == "tests/golem_project/pi/test_versions.py"
    (shown, *_) = [each for each in list_all("memory_app.admin.dreams") if each.mutant.place.endswith(".fields")]
    assert near(shown)[0] == "tests/admin/test_what_pages_show.py"
    (asked, *_) = [each for each in list_all("golem_project.stream.forms") if "60 -> 61" in each.mutant.name]
    assert "tests/admin/test_form_edges.py" in near(asked)[:2]
    (sent, *_) = [each for each in list_all("golem_project.pi.serializers") if "Input." in each.mutant.place]
    assert near(sent)[0] == "tests/golem_project/pi/test_versions.py"


def test_a_mutant_of_a_protocol_meets_the_cases_of_that_protocol_and_its_own_tools_first() -> None:
    module = list_all("tools_app.protocols.lido.tools.sell_earned_yield")
    harvest = next(each for each in module if each.mutant.place == "lido_harvest_yield")
    cases = [each for each in near(harvest) if each.startswith("tests/catalogue/test_cases.py")]
    assert cases == [f"tests/catalogue/test_cases.py@{word}" for word in ("lido_harvest_yield", "lido_")]
    assert drawn_record.is_meant("test_a_case[lido_stake]", "lido_")
    assert not drawn_record.is_meant("test_a_case[aave_supply]", "lido_")
    assert near(harvest).index(cases[0]) < 4
    built = list_all("golem_project.embedded.world.protocols.lido")[0]
    assert any(each.endswith("test_cases.py@lido_") for each in near(built)[:4])
    decay = list_all(MODULE)[0]
    assert not any("@" in each for each in near(decay))


@pytest.mark.parametrize(
    ("module", "folder"),
    [
        ("tools_app.protocols.lido.tools.figures", "lido"),
        ("tools_app.subsystems.intel.flow_tools", "intel"),
        ("permits_app.tools.wallet", "golem"),
        ("golem_project.embedded.world.protocols.lido", "lido"),
        ("tools_app.standards.aave_like.plans", "aave_v3"),
    ],
)
def test_a_mutant_of_a_folder_meets_the_reads_of_that_folder_and_of_no_other(module: str, folder: str) -> None:
    told = [each for each in near(list_all(module)[0])[:5] if each.startswith("tests/catalogue/test_reads.py")]
    assert told == [f"tests/catalogue/test_reads.py@{folder}]"]
    assert drawn_record.is_meant(f"test_every_read[{folder}]", f"{folder}]")
    assert not drawn_record.is_meant(f"test_every_read[{folder}_two]", f"{folder}]")


@pytest.mark.parametrize(
    ("package", "folder"),
    [
        ("permits_app.approval_pages", "tests/permits_app/approvals"),
        ("permits_app.admin", "tests/admin"),
        ("permits_app.limits", "tests/permits_app"),
        ("golem_project.heartbeat.duties", "tests/golem_project/heartbeat"),
        ("golem_project.embedded.world.protocols", "tests/golem_project/world"),
        ("tools_app.core", "tests/tools_app/core"),
    ],
)
def test_the_tests_beside_a_room_are_found_where_they_lie(package: str, folder: str) -> None:
    assert near_tests._find_folder(package) == folder and (drawn.CHECKOUT / folder).is_dir()


def test_a_word_that_stands_everywhere_leads_nowhere() -> None:
    assert near_tests._name_place("AssetForm.__init__") in ("AssetForm", "")
    assert near_tests._name_place("compute_retention") == "compute_retention"
    assert [near_tests._name_place(place) for place in ("__init__", "read", "golem", "Reader.golem")] == [
        "",
        "",
        "",
        "",
    ]


def test_a_case_is_no_product_and_nothing_of_the_product_reads_one() -> None:
    case = list_all("tools_app.protocols.lido.cases")[0]
    assert case.reason is not None and list_all("tools_app.protocols.lido.math")[0].reason is None
    readers = [
        path
        for app in drawn.APPS
        for path in (drawn.CHECKOUT / app).rglob("*.py")
        if ".cases import" in path.read_text(encoding="utf-8") or "import cases" in path.read_text(encoding="utf-8")
    ]
    assert readers == []


def test_names_that_were_read_before_are_not_read_again_until_their_source_changes(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "names.json"
    before = [each.key for each in drawn.draw(8, kept, seed=COMMIT)]
    asked: list[str] = []

    def count(source: str) -> list[Any]:
        asked.append(source)
        return list_mutants(source)

    monkeypatch.setattr(drawn, "list_mutants", count)
    assert [each.key for each in drawn.draw(8, kept, seed=COMMIT)] == before
    assert 0 < len(asked) <= len(before)
    names = json.loads(kept.read_text())
    names[MODULE]["digest"] = "another source"
    kept.write_text(json.dumps(names))
    assert [each.key for each in drawn.draw(8, kept, seed=COMMIT)] == before


def test_the_first_word_about_a_mutant_is_the_last_until_there_is_another_commit(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[list[str]] = []
    before = tmp_path / "verdicts.json"
    gone = {"module": MODULE, "name": "gone", "by": "tests/test_that_is_gone.py::test_it"}
    kept = {"module": MODULE, "name": "kept", "by": "tests/memory_app/test_decay.py::test_it"}
    before.write_text(json.dumps({"passes": {"1": {"noticed": [gone]}}, "noticed_before": [kept]}))
    monkeypatch.setattr(drawn, "KEPT", before)

    def judge(
        wanted: Sequence[Drawn], *, named: dict[str, list[str]], **_: Any
    ) -> Iterator[tuple[Drawn, dict[str, Any]]]:
        assert named == {f"{MODULE}: kept": ["tests/memory_app/test_decay.py::test_it"]}
        asked.append([each.key for each in wanted])
        for number, each in enumerate(wanted):
            yield each, {"verdict": "survived" if number < 2 else "noticed", "is_last": number != 1 or len(asked) > 1}

    monkeypatch.setattr(drawn, "try_drawn", judge)
    progress = Progress(id="drawn", what="", rounds=10, path=tmp_path / "proof.json")
    drawn.prove_drawn(progress)
    assert progress.done == 9 and progress.findings == [], "a part is no verdict on the whole"
    drawn.prove_drawn(progress)
    assert progress.done == 10 and progress.findings == ["all: 8 of 10 noticed, under 85%"]
    assert f"commit {COMMIT}, first pass: 10 tried, 8 noticed" in progress.notes[0]
    assert progress.notes[2].startswith("survived: ")
    drawn.prove_drawn(progress)
    # The survivor is not asked again, and what was not asked to its end is.
    assert [len(each) for each in asked] == [10, 1, 0] and asked[1] == asked[0][1:2]
    assert len(json.loads((tmp_path / "drawn.json").read_text())["verdicts"]) == 10
    monkeypatch.setattr(drawn, "read_commit", lambda: COMMIT[::-1])
    drawn.prove_drawn(progress)
    assert len(asked[-1]) == 10


def test_eighty_five_percent_of_all_and_seventy_five_of_each_app_are_asked_for() -> None:
    def told(app: str, tried: int, noticed: int) -> list[tuple[str, bool]]:
        return [(f"{app}.module", number < noticed) for number in range(tried)]

    assert first_pass.find_shortfalls([*told("tools_app", 96, 83), *told("memory_app", 4, 3)]) == []
    assert first_pass.find_shortfalls([*told("tools_app", 96, 82), *told("memory_app", 4, 2)]) == [
        "all: 84 of 100 noticed, under 85%",
        "memory_app: 2 of 4 noticed, under 75%",
    ]


def test_a_file_that_reads_otherwise_is_asked_anew_and_slow_tests_come_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(drawn_record, "CHECKOUT", tmp_path)
    names = [f"test_{letter}.py" for letter in "abcde"]
    for name in names:
        (tmp_path / name).write_text("one")
    before = drawn_record.list_parts(names)
    assert [part.split()[:2] for part in before[:3]] == [[name, "quick"] for name in names[:3]]
    assert before[3].split()[:2] == ["test_a.py", "slow"]
    (tmp_path / "test_b.py").write_text("another")
    drawn_record._digest.cache_clear()
    after = drawn_record.list_parts(names)
    assert [part.split()[:2] for part in set(after) - set(before)].count(["test_b.py", "quick"]) == 1
    assert len(set(after) & set(before)) == len(before) - 2
    drawn_record._digest.cache_clear()


def test_real_mutants_are_noticed_by_real_tests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run of its own, with servers of its own."""
    monkeypatch.setattr(drawn, "list_near", lambda *_: ["tests/memory_app/test_decay.py"])
    for name in drawn.SERVERS:
        monkeypatch.delenv(name, raising=False)
    wanted = [each for each in list_all(MODULE) if each.mutant.is_woven][:6]
    tried = drawn.try_drawn(wanted, record=tmp_path / "reached.json")
    verdicts = list({each.key: told for each, told in tried}.values())
    assert len(verdicts) == 6
    noticed = [each for each in verdicts if each["verdict"] == "noticed"]
    assert len(noticed) >= 4, verdicts
    assert all("tests/memory_app/test_decay.py::" in each["by"] for each in noticed)
    kept = json.loads((tmp_path / "reached.json").read_text())
    assert any(told["reached"] for told in kept["tests"].values())


def test_a_mutant_of_what_runs_while_a_module_loads_is_tried_in_a_process_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mutants = [each for each in list_all("memory_app.models.provenance") if "UNTRUSTED" in each.mutant.name]
    monkeypatch.setattr(drawn, "list_near", lambda *_: ["tests/architecture/test_migrations.py"])
    *_, (_, verdict) = drawn.try_drawn(mutants[:1], record=tmp_path / "reached.json")
    assert verdict["verdict"] == "noticed" and "test_migrations.py" in verdict["by"] and verdict["alone"]


def test_what_needs_a_process_of_its_own_is_told_while_the_others_still_run(
    small: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A run that is ended by hand keeps what it found: the last few are not left to its very end."""
    first, second = drawn.draw(2, seed=COMMIT)[:2]
    told = threading.Event()

    def run(*_: Any, **__: Any) -> Iterator[tuple[Drawn, dict[str, Any]] | None]:
        yield first, {"verdict": "alone"}
        for _pause in range(100):
            if told.wait(0.05):
                break
            yield None
        yield second, {"verdict": "noticed", "by": "the rest"}

    monkeypatch.setattr(drawn, "_try_forked", run)
    alone = drawn._Alone(("a test",), failed=None, is_unreached=False, is_ended=True, seconds=1)
    monkeypatch.setattr(drawn, "_try_alone", lambda *_: alone)
    seen = []
    for each, verdict in drawn.try_drawn([first, second], record=tmp_path / "reached.json"):
        seen.append((each.key, verdict["verdict"]))
        told.set()
    assert seen == [(first.key, "survived"), (second.key, "noticed")]


def test_in_a_process_of_its_own_the_test_that_noticed_it_before_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    class Item:
        def __init__(self, nodeid: str, is_slow: bool) -> None:
            self.nodeid, self.name, self._is_slow = nodeid, nodeid.partition("::")[2], is_slow

        def get_closest_marker(self, _: str) -> object | None:
            return self._is_slow or None

    items: list[Any] = [Item("a.py::quick", False), Item("a.py::slow", True), Item("b.py::named", True)]
    monkeypatch.setenv(drawn_alone.FIRST_VARIABLE, json.dumps(["b.py::named"]))
    drawn_alone.pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == ["b.py::named", "a.py::quick", "a.py::slow"]
