"""`make proof ONLY=...` proves what its names say, and says so where a name is nobody's."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management.base import CommandError

from tests.proof.command import Command
from tests.proof.registry import PROOFS, choose_proofs, load_proofs

IDS = ("cage.holes", "cage.heists", "clock", "safety.mutants", "drawn.mutants", "cage.invariants")


def test_a_proof_is_named_whole_by_its_beginning_or_by_the_word_after_its_dot() -> None:
    assert choose_proofs("cage.heists", IDS) == ["cage.heists"]
    assert choose_proofs("cage", IDS) == ["cage.holes", "cage.heists", "cage.invariants"]
    assert choose_proofs("heists", IDS) == ["cage.heists"]
    assert choose_proofs("cl", IDS) == ["clock"]
    assert choose_proofs("mutants", IDS) == ["safety.mutants", "drawn.mutants"]


def test_two_names_are_both_proven_in_the_order_of_the_list() -> None:
    assert choose_proofs("safety|heists", IDS) == ["cage.heists", "safety.mutants"]
    assert choose_proofs("", IDS) == list(IDS)


@pytest.mark.parametrize("only", ["heist s", "safty", "heists|safty", "heists||safety|nobody"])
def test_a_name_that_no_proof_bears_is_refused_with_the_names_there_are(only: str) -> None:
    with pytest.raises(ValueError, match=r"no proof is called .*there are: cage\.heists, cage\.holes"):
        choose_proofs(only, IDS)


@pytest.mark.django_db
def test_the_command_proves_nothing_and_fails_for_a_name_that_no_proof_bears() -> None:
    load_proofs()
    with pytest.raises(CommandError, match="no proof is called 'heistz'"):
        Command(stdout=StringIO()).handle(only="heistz|safety", restart=False, rounds=0)
    assert "cage.heists" in PROOFS
