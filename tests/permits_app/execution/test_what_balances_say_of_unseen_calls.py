"""What became of calls that no node shows, judged by what the account holds: what left counts as spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from permits_app.execution.infer_outcome_from_balances import UNREADABLE, Unexplained, judge_unseen
from permits_app.execution.outcome import Judgement
from tools_app.toolkit.plan import TokenFlow, TxPlan
from tools_app.toolkit.views import NATIVE, TokenMeta

SOLD: Final = TokenMeta(1, "0x" + "1" * 40, "SOLD", 6, "Sold", True)
BOUGHT: Final = TokenMeta(1, "0x" + "2" * 40, "BOUGHT", 6, "Bought", True)
OTHER: Final = TokenMeta(1, "0x" + "3" * 40, "OTHER", 6, "Other", True)
COIN: Final = TokenMeta(1, NATIVE, "ETH", 18, "Ether", True)
PLAN: Final = TxPlan(1, (), spends=(TokenFlow(SOLD, 500, 505),), receives=(TokenFlow(BOUGHT, 100, 95),))
UNSEEN: Final = Judgement(
    succeeded=False,
    is_verified=True,
    deltas={SOLD.address: -3},
    expected_deltas={},
    divergence_bps=0,
    gas_used=0,
    gas_expected=0,
    fee_wei=0,
    ground_truth_source="receipts",
    findings=("before",),
    is_coin_known=True,
)


def judge(
    changes: Mapping[str, int] | None, *, plan: TxPlan = PLAN, has_receipts: bool = False, is_coin_told: bool = True
) -> Judgement:
    found = Unexplained(changes, since_block=77, is_coin_told=is_coin_told)
    return judge_unseen(UNSEEN, plan=plan, found=found, has_receipts=has_receipts)


def test_balances_that_cannot_be_read_leave_everything_reserved_spent() -> None:
    judged = judge(None)
    assert judged == replace(
        UNSEEN,
        findings=("before", f"{UNREADABLE}: all that was reserved for it counts as spent"),
        unshown=frozenset({SOLD.address}),
        is_coin_known=False,
        is_fee_known=False,
    )


@pytest.mark.parametrize(
    "changes", [{}, {SOLD.address: 0}, {SOLD.address: 7}, {BOUGHT.address: 100, OTHER.address: -5}]
)
def test_where_nothing_left_that_the_plan_spends_the_judgement_stands(changes: dict[str, int]) -> None:
    assert judge(changes) is UNSEEN


def test_what_left_counts_as_spent_and_is_told_with_the_block_since_when() -> None:
    judged = judge({SOLD.address: -1, OTHER.address: -9})
    assert judged.deltas == {SOLD.address: -4}
    assert judged.findings == (
        "before",
        "SOLD: 1 left the account since block 77 and no transaction that a node shows explains it; it counts as spent",
    )
    assert (judged.succeeded, judged.ground_truth_source, judged.is_fee_known) == (False, "balance_check", False)


@pytest.mark.parametrize(
    ("sold", "bought", "was_carried_out"),
    [
        (-500, 100, True),
        (-505, 95, True),
        (-506, 95, False),
        (-505, 94, False),
        (-1, 95, True),
        (-500, 0, False),
    ],
)
def test_it_was_carried_out_where_what_it_spends_left_within_its_bound_and_what_it_promises_came(
    sold: int, bought: int, was_carried_out: bool
) -> None:
    judged = judge({SOLD.address: sold, BOUGHT.address: bought, OTHER.address: 0, NATIVE: -8})
    assert judged.succeeded is was_carried_out
    assert ("carried out" in judged.findings[-1]) is was_carried_out
    # What came counts only with the whole; the chain's coin is told elsewhere.
    more = {BOUGHT.address: bought} if was_carried_out else {}
    assert judged.deltas == {SOLD.address: sold - 3, **more}


def test_receipts_tell_of_success_and_balances_then_only_of_what_is_spent() -> None:
    judged = judge({SOLD.address: -500, BOUGHT.address: 100}, has_receipts=True)
    assert (judged.succeeded, judged.deltas) == (False, {SOLD.address: -503})
    gift = replace(PLAN, receives=())
    assert judge({SOLD.address: -500}, plan=gift).succeeded is False
    two = replace(PLAN, spends=(*PLAN.spends, TokenFlow(OTHER, 5, 5)))
    assert judge({SOLD.address: -500, BOUGHT.address: 100}, plan=two).succeeded is False


def test_the_chains_coin_counts_as_spent_only_where_nothing_else_may_have_moved_it() -> None:
    plan = replace(PLAN, spends=(TokenFlow(COIN, 500, 505),))
    told = judge({NATIVE: -500}, plan=plan)
    assert told.deltas == {SOLD.address: -3, NATIVE: -500}
    assert told.findings[1].startswith("the chain's coin: 500 left")
    assert judge({NATIVE: -500}, plan=plan, is_coin_told=False) is UNSEEN
