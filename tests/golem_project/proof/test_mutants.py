"""The mutator changes what it says, and the short form of the mutation proof."""

from __future__ import annotations

import pytest

from golem_project.proof.mutants import Mutant, list_mutants
from golem_project.proof.safety import TESTS, choose_mutants, module_path, survives


def test_every_kind_of_change_is_made_once_and_in_order() -> None:
    source = "def f(a: int = 1) -> int:\n    return a + 2 if not a > 3 and True else f'{a + 9}'\n"
    changes = [mutant.change for mutant in list_mutants(source)]
    assert "a + 2 -> a - 2" in changes
    assert "a > 3 -> a >= 3" in changes
    assert "True -> False" in changes
    assert "2 -> 3" in changes
    assert "not a > 3 and True -> not a > 3 or True" in changes
    assert not any("9" in change.split(" -> ")[0] and "+" in change for change in changes)
    assert len({mutant.source for mutant in list_mutants(source)}) == len(changes)


@pytest.mark.parametrize("module", sorted(TESTS))
def test_every_proven_module_has_mutants_and_its_tests(module: str) -> None:
    assert list_mutants(module_path(module).read_text(encoding="utf-8"))
    for test in TESTS[module]:
        assert (module_path("tests").parent / test).exists()


def test_a_round_is_the_same_round_again() -> None:
    assert choose_mutants(7) == choose_mutants(7)
    assert choose_mutants(7) != choose_mutants(8)


def test_a_mutant_of_the_spend_rule_is_noticed_and_the_rule_itself_passes() -> None:
    module = "permits_app.safety.spend_rules"
    source = module_path(module).read_text(encoding="utf-8")
    wider = next(mutant for mutant in list_mutants(source) if " > window.limit" in mutant.change)
    assert survives(module, Mutant(0, "nothing", source))
    assert not survives(module, wider)
