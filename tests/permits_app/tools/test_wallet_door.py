"""What a golem holds everywhere is one answer over REST: `wallet_status`, where somebody might look for a portfolio."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.catalogue.door import Door
from tests.catalogue.door import door as door

pytestmark = pytest.mark.protocols("aave_v3")
# The rows are read at one block and rounded one by one.
ROUNDING = Decimal("0.001")


def look(door: Door) -> dict[str, Any]:
    answer = door.post("query_state", {"query": "wallet_status"})
    assert answer["http"] == 200, answer
    return dict(answer["data"])


def add_up(told: dict[str, Any]) -> Decimal:
    """Balances and positions, whose debts are taken off; what stands for a position has no value of its own."""
    rows = [*told["balances"], *told["positions"]]
    return sum((Decimal(row["value_usd"]) for row in rows if row["value_usd"] is not None), Decimal())


def test_one_answer_holds_balances_positions_and_debts_and_adds_up(door: Door) -> None:
    before = look(door)
    assert (before["positions"], before["not_counted"]) == ([], []) and Decimal(before["debt_usd"]) == 0
    door.do("aave_supply")
    for case in ("aave_borrow", "uniswap_lp_add_liquidity"):
        ended = door.commit(door.preview(case))
        assert ended["status"] == "COMMITTED", ended
    after = look(door)
    assert {row["position"].partition("/")[0] for row in after["positions"]} == {"aave_v3", "uniswap"}
    (loan,) = [row for row in after["positions"] if row["owes"]]
    assert "USDC" in str(loan["owes"]) and Decimal(loan["health"]) > 1
    assert Decimal(after["debt_usd"]) >= 3_000 and after["not_counted"] == []
    for told in (before, after):
        assert abs(add_up(told) - Decimal(told["total_value_usd"])) < ROUNDING
    # Lending, borrowing and providing cost gas and no more.
    assert abs(Decimal(after["total_value_usd"]) - Decimal(before["total_value_usd"])) < 100
    assert after["block_number"] > before["block_number"]


def test_the_texts_name_for_it_answers_the_same_and_one_that_nobody_gave_is_refused(door: Door) -> None:
    named, own = (door.post("query_state", {"query": each})["data"] for each in ("portfolio", "wallet_status"))
    assert named["balances"] == own["balances"]
    answer = door.post("query_state", {"query": "walet_status"})
    assert answer["http"] == 404 and answer["code"].startswith("UNKNOWN_"), answer
    assert "wallet_status" in str(answer), answer
