"""A report declares where each figure comes from: the plan's details, balances, or what a function makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tools_app.toolkit.plan import PlanOutcome, TokenFlow, TxPlan
from tools_app.toolkit.report import (
    Report,
    all_received,
    received,
    received_as,
    seen,
    spent,
    spent_as,
    told,
)
from tools_app.toolkit.result import TokenAmount, encode_result
from tools_app.toolkit.views import NATIVE, TokenMeta

PAID = TokenMeta(1, "0x" + "11" * 20, "USDC", 6, "", is_registered=True)
COIN = TokenMeta(1, NATIVE, "ETH", 18, "", is_registered=True)


def happened(details: Mapping[str, Any], deltas: Mapping[str, int]) -> PlanOutcome:
    plan = TxPlan(
        1,
        (),
        spends=(TokenFlow(PAID, 5, 6),),
        receives=(TokenFlow(COIN, 7, 6), TokenFlow(COIN, 1, 1)),
        details=details,
    )
    return PlanOutcome(plan, "0x" + "22" * 20, (), deltas)


class Everything(Report):
    """One of each."""

    market: str
    count: int
    health: str | None
    rows: tuple[str, ...]
    rate: str = told("borrow_rate")
    paid: TokenAmount = spent()
    came: TokenAmount = received()
    came_of_each: tuple[TokenAmount, ...] = all_received()
    planned_to_pay: TokenAmount = spent_as("amount")
    planned_to_get: TokenAmount = received_as("amount")
    calls: int = seen(lambda outcome: len(outcome.plan.calls))
    note: str | None = None
    why: str = "always the same"


DETAILS = {"market": "m", "count": "3", "health": None, "rows": ["a", "b"], "borrow_rate": 5, "amount": "5"}


def test_each_field_is_read_where_it_says_and_told_as_what_it_is() -> None:
    told_now = Everything.read(happened(DETAILS, {PAID.address: -4, NATIVE: 8}))
    assert told_now == {
        "market": "m",
        "count": 3,
        "health": None,
        "rows": ("a", "b"),
        "rate": "5",
        "paid": TokenAmount(4, PAID),
        "came": TokenAmount(8, COIN),
        "came_of_each": (TokenAmount(8, COIN),),
        "planned_to_pay": TokenAmount(5, PAID),
        "planned_to_get": TokenAmount(5, COIN),
        "calls": 0,
        "note": None,
        "why": "always the same",
    }
    assert list(told_now) == [*Everything.__annotations__]
    assert encode_result(told_now)["paid"] == "4"


def test_what_did_not_move_is_nothing_and_what_is_known_is_no_null() -> None:
    told_now = Everything.read(happened({**DETAILS, "health": "1.5"}, {}))
    assert (told_now["paid"].raw, told_now["came"].raw, told_now["health"]) == (0, 0, "1.5")


@pytest.mark.parametrize("missing", ["market", "borrow_rate", "amount"])
def test_a_detail_that_the_plan_does_not_have_is_never_made_up(missing: str) -> None:
    with pytest.raises(KeyError, match=missing):
        Everything.read(happened({name: each for name, each in DETAILS.items() if name != missing}, {}))
