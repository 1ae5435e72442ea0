"""What an action is by what it does to positions: only what really leaves is leaving."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permits_app.safety.classify_action import classify_measured
from tools_app.toolkit.enums import LEAVING, ActionClass
from tools_app.toolkit.positions import Leg, Position, PositionRef

A = ActionClass
LOAN = PositionRef("bank", "account", 1, "0xme")
VAULT = PositionRef("vault", "share", 1, "0xme")
QUEUED = PositionRef("vault", "request", 1, "7")
FLOOR = 15_000


def account(held: int, owed: int) -> Position:
    return Position(LOAN, "Loan", (Leg("cash", held, cover_bps=8_000), *([Leg("loan", -owed)] if owed else [])))


def vault(held: int) -> Position:
    return Position(VAULT, "Vault", (Leg("cash", held),))


def free(held: int) -> Position:
    return Position(QUEUED, "Request", (Leg("cash", held),))


def queued(held: int) -> Position:
    return Position(QUEUED, "Request", (Leg("cash", held, free_at=9),))


def health(position: Position) -> int | None:
    owed = -position.raw_of("loan")
    return position.raw_of("cash") * 8_000 // owed if owed else None


def classify(
    before: list[Position], after: list[Position], declared: A = A.DECREASE_POSITION, *, returns: bool = True
) -> A:
    return classify_measured(
        declared=declared,
        before=before,
        after=after,
        floor_bps=FLOOR,
        returns_to_golem=returns,
        health_before={each.ref: health(each) for each in before},
        health_after={each.ref: health(each) for each in after},
    )


BIG = 10**12


@pytest.mark.parametrize(
    ("before", "after", "measured"),
    [
        ([vault(BIG)], [vault(BIG // 2)], A.DECREASE_POSITION),
        ([account(9 * BIG, BIG)], [account(9 * BIG, BIG // 2)], A.DECREASE_POSITION),
        # Withdrawn down to the floor, and below it.
        ([account(9 * BIG, BIG)], [account(2 * BIG, BIG)], A.DECREASE_POSITION),
        ([account(9 * BIG, BIG)], [account(18 * BIG // 10, BIG)], A.INCREASE_POSITION),
        # A rescue that is too small is still a rescue; so is one that takes collateral and repays for it.
        ([account(15 * BIG // 10, BIG)], [account(15 * BIG // 10, 9 * BIG // 10)], A.DECREASE_POSITION),
        ([account(15 * BIG // 10, BIG)], [account(11 * BIG // 10, 7 * BIG // 10)], A.DECREASE_POSITION),
        # A debt that grows is none, whatever is taken out besides.
        ([account(9 * BIG, BIG)], [account(9 * BIG, BIG + BIG // 100)], A.INCREASE_POSITION),
        ([vault(BIG), account(9 * BIG, BIG)], [vault(BIG // 2), account(9 * BIG, 2 * BIG)], A.INCREASE_POSITION),
        ([vault(BIG)], [vault(2 * BIG)], A.INCREASE_POSITION),
        ([vault(BIG)], [vault(BIG), account(BIG, 0)], A.NEW_POSITION),
        ([vault(BIG)], [account(BIG, 0)], A.REBALANCE),
        # What waits on its way out is still leaving, as long as no more waits than was taken out.
        ([vault(BIG)], [vault(BIG // 2), queued(BIG // 2)], A.DECREASE_POSITION),
        ([vault(BIG)], [vault(BIG // 2), queued(BIG)], A.REBALANCE),
        # One cooldown for all: what is asked for later joins what waits already.
        ([vault(BIG), queued(BIG)], [vault(BIG // 2), queued(BIG + BIG // 2)], A.DECREASE_POSITION),
        ([vault(BIG), queued(BIG)], [vault(BIG // 2), queued(BIG * 2)], A.REBALANCE),
        ([vault(BIG), free(BIG)], [vault(BIG // 2), queued(BIG + BIG // 2)], A.REBALANCE),
    ],
)
def test_a_declared_leaving_is_what_it_does(before: list[Position], after: list[Position], measured: A) -> None:
    assert classify(before, after) is measured


def test_a_close_is_one_when_nothing_is_left() -> None:
    assert classify([vault(BIG)], [], A.CLOSE_POSITION) is A.CLOSE_POSITION
    assert classify([vault(BIG)], [vault(1)], A.CLOSE_POSITION) is A.DECREASE_POSITION


def test_what_goes_to_somebody_else_does_not_leave() -> None:
    assert classify([vault(BIG)], [], A.CLOSE_POSITION, returns=False) is A.INCREASE_POSITION


def test_where_no_position_moves_the_declared_class_stands() -> None:
    still = [vault(BIG), account(9 * BIG, BIG)]
    # The interest of a block is no move.
    later = [vault(BIG + 2), account(9 * BIG, BIG + BIG // 10**7)]
    for declared in A:
        assert classify(still, later, declared) is declared


LEGS = st.integers(0, 10 * BIG)


@given(LEGS, LEGS, LEGS, LEGS, st.sampled_from(list(A)))
def test_the_measured_class_is_never_laxer_than_the_declared_one_and_no_debt_that_grows_is_leaving(
    held: int, owed: int, held_after: int, owed_after: int, declared: A
) -> None:
    found = classify([account(held, owed)], [account(held_after, owed_after)], declared)
    if declared not in LEAVING and declared is not A.READ_ONLY:
        assert found not in LEAVING
    if owed_after > owed + 2 + owed // 10**6:
        assert found not in LEAVING
