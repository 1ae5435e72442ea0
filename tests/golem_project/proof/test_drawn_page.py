"""docs/mutants.md says what the draws found, and everything it names is there and has its reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proof.drawn import CHECKOUT, DRAWN, KEPT, SEEDS
from tests.proof.drawn_page import PAGE, count_by_package, find_reason, take_over, write_page
from tests.proof.drawn_reasons import CHANGES_NOTHING, SURVIVES
from tests.proof.mutants import list_mutants

FOUND: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))


def names_of(module: str) -> set[str]:
    source = (CHECKOUT / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    return {each.name for each in list_mutants(source)}


def test_the_page_is_what_its_command_writes_of_what_was_found() -> None:
    assert PAGE.read_text() == write_page(FOUND).rstrip() + "\n", "run .venv/bin/python -m tests.proof.drawn_page"


@pytest.mark.parametrize("seed", [str(seed) for seed in SEEDS])
def test_of_every_draw_all_that_was_tried_is_noticed_or_listed(seed: str) -> None:
    told = FOUND[seed]
    assert len(told["noticed"]) + len(told["left"]) == told["tried"] <= DRAWN


def test_every_mutant_of_the_page_is_one_and_who_met_all_its_tests_has_its_reason() -> None:
    listed = [each for told in FOUND.values() for each in (*told["left"], *told["changes_nothing"])]
    modules = {each["module"] for each in listed} | CHANGES_NOTHING.keys() | SURVIVES.keys()
    named = {module: names_of(module) for module in modules}
    assert [each for each in listed if each["name"] not in named[each["module"]]] == []
    met_all = [each for told in FOUND.values() for each in told["left"] if not each["is_late"]]
    assert [each for each in met_all if each["name"] not in SURVIVES.get(each["module"], {})] == []
    assert [each for told in FOUND.values() for each in told["left"] if len(find_reason(each)) < 20] == []
    for table in (CHANGES_NOTHING, SURVIVES):
        assert [(module, name) for module in table for name in table[module] if name not in named[module]] == []


def test_a_survivor_and_what_changes_nothing_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {each["module"] + ": " + each["name"]: {"verdict": "survived"} for each in FOUND[str(SEEDS[0])]["left"]}
    told = take_over(known)[str(SEEDS[0])]
    assert (told["tried"], told["noticed"]) == (len(known), [])


@pytest.mark.parametrize("seed", [str(seed) for seed in SEEDS])
def test_the_counts_of_the_packages_add_up_to_those_of_the_draw(seed: str) -> None:
    counts = count_by_package(FOUND[seed])
    assert sum(tried for tried, _ in counts.values()) == FOUND[seed]["tried"]
    assert sum(noticed for _, noticed in counts.values()) == len(FOUND[seed]["noticed"])
