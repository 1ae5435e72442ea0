"""What the bank's tools do, as whoever drops a protocol in says it."""

from __future__ import annotations

from tools_app.toolkit.case import Case, Together
from tools_app.toolkit.enums import ActionClass

E18 = 10**18

CASES = (
    Case(
        "bank_deposit",
        {"amount": str(1_000 * E18)},
        ActionClass.NEW_POSITION,
        moves={"DAI": -1_000 * E18},
        holds={"DAI": 1_000 * E18},
        refuses=(({"amount": "0"}, "INVALID_PARAMS"), ({"amount": str(10**30)}, "INSUFFICIENT_BALANCE")),
    ),
    Case(
        "bank_borrow",
        {"amount": str(E18 // 10)},
        ActionClass.INCREASE_POSITION,
        after=("bank_deposit",),
        moves={"WETH": E18 // 10},
        owes={"WETH": E18 // 10},
        refuses=(({"amount": str(E18 // 5)}, "HEALTH_TOO_LOW"),),
    ),
    Case(
        "bank_repay",
        {"amount": str(E18 // 20)},
        ActionClass.DECREASE_POSITION,
        after=("bank_borrow",),
        moves={"WETH": -(E18 // 20)},
        owes={"WETH": -(E18 // 20)},
    ),
    Case(
        "bank_request",
        {"amount": str(400 * E18)},
        ActionClass.DECREASE_POSITION,
        after=("bank_deposit",),
    ),
    Case(
        "bank_claim",
        {"request_id": "0"},
        ActionClass.CLOSE_POSITION,
        after=("bank_request",),
        given=("a day has passed",),
        moves={"DAI": 400 * E18},
        holds={"DAI": -400 * E18},
    ),
)

TOGETHER = (
    Together(
        "bank_request",
        {"amount": str(600 * E18)},
        {"amount": str(700 * E18)},
        {"amount": str(300 * E18)},
    ),
)
