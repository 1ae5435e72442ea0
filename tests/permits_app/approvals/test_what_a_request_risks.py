"""What owners are told of a loan that waits for them: its amount, when it is liquidated, what may be lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from archetypes_app.models import ToolProfile
from permits_app.actions.request_change import _title_of
from permits_app.approval_pages.inbox import show_stake
from permits_app.approvals.approval_statement import describe_permit, say_fall
from tests.live_golem import LiveGolem


@pytest.mark.parametrize(
    ("health", "told"),
    [("1.18", "falls by 15.2%"), ("2", "falls by 50.0%"), ("1", "at once"), ("0.9", "at once"), (None, ""), ("x", "")],
)
def test_a_health_is_told_as_the_fall_that_liquidates(health: str | None, told: str) -> None:
    said = say_fall(health)
    assert told in said and bool(said) == bool(told)


@pytest.mark.django_db
@pytest.mark.protocols("aave_v3")
def test_a_loan_names_its_amount_its_liquidation_and_what_covers_it(live_golem: LiveGolem) -> None:
    live_golem.golem.profiles.add(ToolProfile.objects.get(name="lender"))
    at_lender: dict[str, Any] = {"venue": "aave", "token_in": None, "token_out": None}
    supply = {**at_lender, "action_type": "supply", "asset": "WETH", "amount": str(10**18)}
    live_golem.commit(live_golem.preview(**supply)["permit_id"])
    borrow = {**at_lender, "action_type": "borrow", "asset": "USDC", "amount": str(900 * 10**6)}
    permit = live_golem.permit(live_golem.preview(**borrow)["permit_id"])
    assert _title_of(permit) == "Borrow 900 USDC at aave"
    shown = describe_permit(permit)
    (position,) = shown["positions"]
    assert "falls by" in position["liquidated"] and position["owed_after"].startswith("900")
    stake = show_stake(SimpleNamespace(shown=shown, value_micro_usd=100_000, kind="permit"))  # type: ignore[arg-type]
    assert stake.startswith("what covers 900") and "$0.10 by the calls" in stake
