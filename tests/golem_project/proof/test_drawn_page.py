"""docs/history/mutants.md says what the first passes found, and every reason given is of a mutant there is."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.proof.drawn import CHECKOUT, DRAWN, KEPT
from tests.proof.drawn_page import PAGE, count_by_package, find_reason, take_over, write_page
from tests.proof.drawn_reasons import CHANGES_NOTHING, SURVIVES
from tests.proof.mutants import list_mutants

FOUND: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
PASS: dict[str, Any] = {
    "commit": "c0ffee",
    "drawn": [
        {"module": "memory_app.decay", "name": name, "reason": "changes nothing" if name == "e" else None}
        for name in "abcde"
    ],
    "verdicts": {
        "memory_app.decay: a": {"verdict": "noticed", "by": "tests/a.py::test_a"},
        "memory_app.decay: b": {"verdict": "survived", "all": True},
        "memory_app.decay: c": {"verdict": "survived", "all": False, "is_last": False},
    },
}


def names_of(module: str) -> set[str]:
    source = (CHECKOUT / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    return {each.name for each in list_mutants(source)}


def test_the_page_is_what_its_command_writes_of_what_was_found() -> None:
    assert PAGE.read_text() == write_page(FOUND).rstrip() + "\n", "run .venv/bin/python -m tests.proof.drawn_page"


def test_of_every_pass_all_that_was_tried_is_noticed_or_listed_by_app() -> None:
    for told in FOUND["passes"].values():
        assert len(told["noticed"]) + len(told["left"]) == told["tried"] <= DRAWN
        assert [each for each in told["left"] if len(find_reason(each)) < 20] == []
        counts = count_by_package(told)
        assert sum(tried for tried, _ in counts.values()) == told["tried"]
        assert sum(noticed for _, noticed in counts.values()) == len(told["noticed"])


def test_every_reason_is_of_a_mutant_there_is() -> None:
    for table in (CHANGES_NOTHING, SURVIVES):
        named = {module: names_of(module) for module in table}
        assert [(module, name) for module in table for name in table[module] if name not in named[module]] == []


def test_a_pass_is_taken_with_what_has_its_last_word_alone_and_what_is_kept_of_it_stays() -> None:
    kept = take_over({"passes": {"before": {"tried": 0}}, "noticed_before": []}, PASS)
    told = kept["passes"]["c0ffee"]
    assert (told["tried"], [each["name"] for each in told["noticed"]]) == (2, ["a"])
    assert [each["name"] for each in told["left"]] == ["b"], "what was not asked to its end is not tried"
    assert [each["name"] for each in told["changes_nothing"]] == ["e"]
    assert list(kept["passes"]) == ["c0ffee", "before"], "the latest first"
    mended = copy.deepcopy(PASS)
    mended["verdicts"]["memory_app.decay: b"] = {"verdict": "noticed", "by": "tests/b.py::test_b"}
    assert take_over(kept, mended) == kept
