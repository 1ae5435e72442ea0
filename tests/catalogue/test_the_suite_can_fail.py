"""A protocol that is dropped in passes the same suite with its own cases; what is not so is found, by each proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.catalogue import proofs
from tests.catalogue.proofs import AFTER, BEFORE, Proof, Trial, begin
from tests.catalogue.shelf import Filed
from tests.catalogue.stage import Stage, open_stage
from tests.live_golem import make_live_golem
from tests.made_up_bank.on_the_shelf import NAME, Bank
from tools_app.toolkit.case import Case
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.protocol import SHELF

E18 = 10**18
BANK = ("bank_deposit", "bank_borrow", "bank_repay", "bank_request", "bank_claim")


@pytest.fixture
def stage(db: None, bank: Bank) -> Stage:
    cases: dict[str, Filed] = {case.id: Filed(case, NAME) for case in bank.modules["cases"].CASES}
    assert tuple(cases) == BANK
    return open_stage(make_live_golem(bank.world), cases)


def try_out(stage: Stage, name: str, **changes: Any) -> Trial:
    case: Case = replace(stage.cases[name].case, **changes)
    stage.prepare(case)
    return begin(stage, case)


@pytest.mark.parametrize("name", BANK)
def test_a_protocol_that_is_dropped_in_is_true_in_every_way(stage: Stage, name: str) -> None:
    trial = try_out(stage, name)
    assert [(proof.__name__, found) for proof in BEFORE if (found := proof(trial))] == []
    trial = begin(stage, trial.case)
    assert [(proof.__name__, found) for proof in AFTER if (found := proof(trial))] == []


@pytest.mark.parametrize(
    ("proof", "name", "changes"),
    [
        (proofs.fits_every_dialect, "bank_deposit", {"params": {"amount": str(E18), "amuont": "1"}}),
        (proofs.moves_exactly_what_it_says, "bank_deposit", {"moves": {"DAI": -999 * E18}}),
        (proofs.moves_exactly_what_it_says, "bank_deposit", {"holds": {}}),
        (proofs.moves_exactly_what_it_says, "bank_borrow", {"owes": {"WETH": E18}}),
        (proofs.is_refused_with_any_word_changed, "bank_deposit", {"meaningless": {("deposit(uint256)", 0): "a"}}),
        (proofs.is_the_kind_that_is_measured, "bank_deposit", {"is_a": ActionClass.DECREASE_POSITION}),
        (proofs.refuses_what_it_says, "bank_deposit", {"refuses": (({"amount": str(E18)}, "HEALTH_TOO_LOW"),)}),
        (proofs.refuses_what_it_says, "bank_borrow", {"refuses": (({"amount": str(E18)}, "INVALID_PARAMS"),)}),
        (proofs.holds_after_300_days_without_anybody, "bank_deposit", {"when_old": "PRICE_STALE"}),
        (proofs.keeps_the_worth_and_reports_what_happened, "bank_deposit", {"tells": {"moved": {}}}),
    ],
)
def test_a_case_that_says_what_is_not_so_is_found(
    stage: Stage, proof: Proof, name: str, changes: dict[str, Any]
) -> None:
    if proof is proofs.fits_every_dialect:
        # Nobody could plan it: only what agents are told of its shape is asked.
        trial = try_out(stage, name)
        trial.case = replace(trial.case, **changes)
    else:
        trial = try_out(stage, name, **changes)
    assert proof(trial)


class Blind:
    """A reader of effects that reads what it likes: nothing."""

    def read(self, call: Any, *, earlier: Any, account: str, chain: Any, into: Effects) -> None:
        return None


@pytest.mark.parametrize(
    ("proof", "change"),
    [
        (proofs.is_read_alike_by_the_guardian, {"effects": Blind()}),
        (proofs.is_covered_by_what_is_suggested, {"contracts": ()}),
        (proofs.gets_out_under_a_halt, {"leaving": ()}),
        (proofs.gets_out_under_a_halt, {"exits": None}),
    ],
)
def test_a_protocol_that_leaves_something_out_is_found(
    stage: Stage, bank: Bank, proof: Callable[[Trial], list[str]], change: dict[str, Any]
) -> None:
    trial = try_out(stage, "bank_deposit")
    assert proof(trial) == []
    if proof is proofs.gets_out_under_a_halt:
        stage.carry_out(trial.plan)
    SHELF.remove(NAME)
    SHELF.add(replace(bank.protocol, **change))
    assert proof(trial)


@pytest.mark.parametrize("mood", [1, 2, 5])
def test_a_bank_that_does_more_than_it_is_asked_is_no_case(stage: Stage, bank: Bank, mood: int) -> None:
    bank.set_mood(mood)
    with pytest.raises(AssertionError, match="hook 5 refuses"):
        try_out(stage, "bank_deposit")
