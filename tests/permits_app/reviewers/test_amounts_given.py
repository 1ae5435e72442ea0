"""How many are handed over of one number is what the plan names, number by number and taker by taker, or a finding."""

from __future__ import annotations

import pytest

from permits_app.reviewers.safety_guardian import judge_statements
from tools_app.toolkit.effects import Effects
from tools_app.toolkit.plan import AmountGiven, TxPlan

CARDS, TAKER, OTHER = ("0x" + each * 20 for each in ("11", "22", "33"))
NAMED = AmountGiven(CARDS, 7, TAKER, 5)


@pytest.mark.parametrize(
    ("read", "is_named"),
    [
        ((NAMED,), True),
        ((), False),
        ((NAMED, NAMED), False),
        ((AmountGiven(CARDS, 7, TAKER, 4),), False),
        ((AmountGiven(CARDS, 8, TAKER, 5),), False),
        ((AmountGiven(CARDS, 7, OTHER, 5),), False),
        ((AmountGiven(OTHER, 7, TAKER, 5),), False),
        ((NAMED, AmountGiven(CARDS, 8, TAKER, 1)), False),
    ],
)
def test_bytes_that_hand_over_another_amount_than_the_plan_names_are_found(
    read: tuple[AmountGiven, ...], is_named: bool
) -> None:
    plan = TxPlan(1, (), amounts=(NAMED,))
    found = judge_statements(Effects(amounts=list(read)), plan)
    assert bool(found) is not is_named


def test_who_hands_something_over_does_not_only_pay() -> None:
    paying = Effects(recipients=[TAKER], paid_plainly=[TAKER])
    assert paying.only_pays
    assert not Effects(recipients=[TAKER], paid_plainly=[TAKER], amounts=[NAMED]).only_pays
