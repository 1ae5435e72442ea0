"""The mutator changes what it says, woven and alone, and the mutation proof tells who noticed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.proof import met_tests, safety
from tests.proof.mutants import CHOOSER, list_mutants, weave_mutants
from tests.proof.registry import Progress
from tests.proof.safety import Candidate, list_candidates, list_round, list_suites, module_path

SOURCE = '''
LIMIT = 3
TABLE = (LIMIT, 5)
SQL = "SELECT a FROM b WHERE c > 1 AND d IS NULL"

def f(a: int = 1) -> int:
    """Says 3 > 2."""
    if a:
        check(a)
    return a + 2 if not a > 3 and True else f'{a + 9}'

def g(rows):
    rows.filter(a=1, b=2).update(c=3)
    raise ValueError("3 > 2")
'''


def test_every_kind_of_change_is_made_once_and_in_order() -> None:
    changes = [mutant.change for mutant in list_mutants(SOURCE)]
    for expected in (
        "3 -> 4",
        "without LIMIT",
        "if a -> if not",
        "check(a) -> pass",
        "a + 2 -> a - 2",
        "a > 3 -> a >= 3",
        "True -> False",
        "not a > 3 and True -> not a > 3 or True",
        "filter without a=1",
        "update without c=3",
        "raise ValueError('3 > 2') -> pass",
    ):
        assert expected in changes
    assert sum("SQL" in change for change in changes) == 3
    assert not any("9" in change for change in changes)
    sources = [mutant.source for mutant in list_mutants(SOURCE)]
    assert len(set(sources)) == len(sources)
    assert len({mutant.name for mutant in list_mutants(SOURCE)}) == len(sources)


def test_a_woven_module_is_the_original_until_one_of_its_mutants_is_chosen() -> None:
    source = "LIMIT = 3\n\ndef f(a):\n    if a > LIMIT:\n        raise ValueError\n    return a + 1\n"

    def run(chosen: int, a: int) -> object:
        space: dict[str, object] = {CHOOSER: lambda number: number == chosen}
        exec(compile(weave_mutants(source, first=100), "woven", "exec"), space)
        try:
            return space["f"](a)  # type: ignore[operator]
        except ValueError:
            return "refused"

    told = {
        mutant.change: [run(100 + mutant.number, a) for a in (2, 3, 4)]
        for mutant in list_mutants(source)
        if mutant.is_woven
    }
    assert [run(-1, a) for a in (2, 3, 4)] == [3, 4, "refused"]
    assert told == {
        "if a > LIMIT -> if not": ["refused", "refused", 5],
        "a > LIMIT -> a >= LIMIT": [3, "refused", "refused"],
        "raise ValueError -> pass": [3, 4, 5],
        "a + 1 -> a - 1": [1, 2, "refused"],
        "1 -> 2": [4, 5, "refused"],
    }
    (alone,) = (mutant for mutant in list_mutants(source) if not mutant.is_woven)
    assert (alone.name, alone.binding) == ("LIMIT: 3 -> 4", "LIMIT = 4")


@pytest.mark.parametrize("module", sorted(list_suites()))
def test_every_proven_module_has_mutants_that_load_and_tests_that_exist(module: str) -> None:
    source = module_path(module).read_text(encoding="utf-8")
    mutants = list_mutants(source)
    assert len({mutant.name for mutant in mutants}) == len(mutants) > 0
    compile(weave_mutants(source, first=0), module, "exec")
    for mutant in mutants[:: max(1, len(mutants) // 5)]:
        compile(mutant.source, mutant.name, "exec")
    for test in list_suites()[module]:
        assert (module_path("tests").parent / test).exists()


def test_the_rounds_together_are_every_mutant_once() -> None:
    count = len(list_candidates())
    tried = [number for place in range(safety.ROUNDS) for number in list_round(place, count=count)]
    assert sorted(tried) == list(range(count))


def test_what_is_listed_as_equivalent_is_a_mutant_with_a_reason() -> None:
    known = {(candidate.module, candidate.mutant.name) for candidate in list_candidates()}
    listed = {
        (module, name): reason for module, reasons in safety.EQUIVALENT.items() for name, reason in reasons.items()
    }
    assert set(listed) <= known
    assert all(len(reason) > 20 for reason in listed.values())


@pytest.mark.timeout(600)
def test_a_mutant_of_the_spend_rule_is_noticed_alone_and_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "permits_app.limits.spend_rules"
    monkeypatch.setattr(
        safety, "SUITES", {"permits_app/limits/spend_rules.py": ("tests/permits_app/safety/test_spend_rules.py",)}
    )
    source = module_path(module).read_text(encoding="utf-8")
    wider = next(mutant for mutant in list_mutants(source) if "> window.limit_micro_usd -> " in mutant.change)
    assert not safety.survives(module, wider, first=["tests/permits_app/safety/test_spend_rules.py"])
    (verdict,) = safety.try_mutants([wider.number])
    assert (verdict["number"], verdict["verdict"]) == (wider.number, "noticed")
    assert Path(verdict["by"].split("::")[0]).name == "test_spend_rules.py"
    assert str(Candidate(module, wider)).startswith(f"{module}:{wider.line}: judge_spend: ")


@dataclass
class Answers:
    """Stands in for the run of the tests: which numbers survive, and what was asked. `ends_after` so many verdicts it
    is ended.
    """

    surviving: set[int]
    ends_after: int | None = None
    asked: list[int] = field(default_factory=list)
    noticed_before: dict[int, str] = field(default_factory=dict)
    met_before: dict[int, set[str]] = field(default_factory=dict)
    meets: Sequence[str] = ()
    quick_only: set[int] = field(default_factory=set)

    def __call__(
        self,
        wanted: Sequence[int],
        *,
        noticed_before: Mapping[int, str],
        met_before: Mapping[int, Iterable[str]],
        quick_only: Iterable[int],
    ) -> Iterator[dict[str, Any]]:
        self.quick_only = set(quick_only)
        self.asked, self.noticed_before = list(wanted), dict(noticed_before)
        self.met_before = {number: set(tests) for number, tests in met_before.items()}
        for number in sorted(self.surviving & set(wanted)) if self.meets else ():
            yield {"number": number, "verdict": "met", "tests": list(self.meets)}
        # What is noticed is told first.
        for told, number in enumerate(sorted(wanted, key=lambda each: each in self.surviving)):
            if told == self.ends_after:
                raise KeyboardInterrupt
            if number in self.surviving:
                yield {"number": number, "verdict": "survived"}
            else:
                yield {"number": number, "verdict": "noticed", "by": "tests/test_a.py::test_b"}


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> Answers:
    made = Answers({3, 5})
    monkeypatch.setattr(safety, "SUITES", {"permits_app/limits/spend_rules.py": ()})
    monkeypatch.setattr(safety, "ROUNDS", 2)
    monkeypatch.setattr(safety, "EQUIVALENT", {})
    monkeypatch.setattr(safety, "try_mutants", made)
    return made


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(id="p", what="w", rounds=2, path=tmp_path / "proof.json")


def test_a_run_with_findings_tries_those_again_and_says_what_became_of_all(
    verdicts: Answers, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidates = list_candidates()
    count = len(candidates)
    safety.prove_mutants(progress)
    assert sorted(verdicts.asked) == list(range(count))
    assert sorted(progress.findings) == sorted(f"survived: {candidates[number]}" for number in (3, 5))
    figures = f"mutants: {count} tried, {count - 2} noticed by a test, 0 change nothing, 2 survived"
    assert progress.notes[-1] == figures

    third = candidates[3]
    monkeypatch.setattr(safety, "EQUIVALENT", {third.module: {third.mutant.name: "because"}})
    safety.prove_mutants(progress)
    assert verdicts.asked == [3, 5]
    assert progress.findings == [f"survived: {candidates[5]}"]
    assert f"changes nothing: {third}: because" in progress.notes

    verdicts.surviving = {3}
    safety.prove_mutants(progress)
    assert (verdicts.asked, progress.findings) == ([5], [])
    assert progress.notes[-1] == f"mutants: {count} tried, {count - 1} noticed by a test, 1 change nothing, 0 survived"


def test_progress_of_other_sources_counts_for_nothing(verdicts: Answers, progress: Progress) -> None:
    progress.done, progress.findings, progress.notes = 1, ["survived: x:1: y"], ["sources 0123", "mutants: 9 tried"]
    safety.prove_mutants(progress)
    assert len(verdicts.asked) == len(list_candidates())
    assert len(progress.findings) == 2
    assert sum(note.startswith(("sources ", "mutants: ")) for note in progress.notes) == 2


def test_a_run_that_was_ended_goes_on_and_asks_about_no_mutant_twice(verdicts: Answers, progress: Progress) -> None:
    count = len(list_candidates())
    verdicts.ends_after = 4
    with pytest.raises(KeyboardInterrupt):
        safety.prove_mutants(progress)
    known = sorted(verdicts.asked, key=lambda each: each in verdicts.surviving)[:4]
    verdicts.ends_after = None
    safety.prove_mutants(progress)
    assert sorted([*verdicts.asked, *known]) == list(range(count))
    assert (progress.done, len(progress.findings)) == (2, 2)
    assert progress.notes[-1] == f"mutants: {count} tried, {count - 2} noticed by a test, 0 change nothing, 2 survived"


def test_what_a_mutant_met_before_a_run_was_ended_it_does_not_meet_again_unless_that_test_changed(
    verdicts: Answers, progress: Progress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("test_kept.py", "test_changed.py"):
        (tmp_path / name).write_text("before")
    monkeypatch.setattr(met_tests, "CHECKOUT", tmp_path)
    met_tests._digest.cache_clear()
    verdicts.ends_after, verdicts.meets = 1, ("test_kept.py::test_a", "test_changed.py::test_b")
    with pytest.raises(KeyboardInterrupt):
        safety.prove_mutants(progress)
    assert verdicts.met_before == {}
    (tmp_path / "test_changed.py").write_text("after")
    met_tests._digest.cache_clear()
    verdicts.ends_after, verdicts.meets = None, ()
    safety.prove_mutants(progress)
    assert verdicts.met_before == dict.fromkeys((3, 5), {"test_kept.py::test_a"})
    assert json.loads((tmp_path / "safety_mutants_met.json").read_text())["tests"] == {}
    met_tests._digest.cache_clear()


def test_after_a_change_of_the_sources_each_mutant_is_asked_first_of_what_noticed_it(
    verdicts: Answers, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = len(list_candidates())
    safety.prove_mutants(progress)
    assert verdicts.noticed_before == {}
    monkeypatch.setattr(safety, "_digest_sources", lambda: "others")
    safety.prove_mutants(progress)
    assert sorted(verdicts.asked) == list(range(count)), "a verdict counts for its own sources alone"
    assert verdicts.noticed_before == dict.fromkeys(set(range(count)) - {3, 5}, "tests/test_a.py::test_b")


def test_what_is_listed_as_equivalent_is_a_finding_when_noticed_or_gone(
    verdicts: Answers, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = list_candidates()[0]
    monkeypatch.setattr(safety, "EQUIVALENT", {first.module: {first.mutant.name: "because", "gone": "because"}})
    verdicts.surviving = set()
    safety.prove_mutants(progress)
    assert progress.findings == [
        f"listed as equivalent, but tests/test_a.py::test_b notices it: {first}",
        f"listed as equivalent, but there is no such mutant: {first.module}: gone",
    ]


def test_what_is_listed_as_equivalent_meets_the_quick_tests_alone(
    verdicts: Answers, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = list_candidates()[:2]
    monkeypatch.setattr(safety, "EQUIVALENT", {first.module: {first.mutant.name: "because"}})
    safety.prove_mutants(progress)
    assert 0 in verdicts.quick_only and 1 not in verdicts.quick_only
    assert second.mutant.name != first.mutant.name


def test_what_a_choice_is_called_is_a_text_and_what_it_is_kept_as_is_not() -> None:
    source = "class Colour(TextChoices):\n    RED = 'red', 'As red as can be'\n\nPAIR = ('a', 'b')\n"
    assert [each.change for each in list_mutants(source)] == ["without 'red'", "without 'a'", "without 'b'"]
