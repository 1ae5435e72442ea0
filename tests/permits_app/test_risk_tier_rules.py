"""Risk tiers at their boundaries, and who needs the safety-guardian."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.permits.risk_tier_rules import classify_risk, explain_tier, is_riskier, needs_guardian
from tools_app.toolkit.enums import ActionClass, CapabilityTier, Category, RiskLayer, RiskTier

USD = 1_000_000
FIFTY, HUNDRED = 50_000 * USD, 100_000 * USD


def tier(category: Category = Category.TRADING, **changes: Any) -> RiskTier:
    facts: dict[str, Any] = {
        "capability": CapabilityTier.WRITE,
        "risk_layer": RiskLayer.BOUNDED,
        "action_class": ActionClass.NEW_POSITION,
        "value_micro_usd": 100 * USD,
    }
    return classify_risk(category=category, **{**facts, **changes})


@pytest.mark.parametrize(
    ("category", "value", "expected"),
    [
        (Category.TRADING, FIFTY - 1, RiskTier.STANDARD),
        (Category.TRADING, FIFTY, RiskTier.STANDARD),
        (Category.TRADING, FIFTY + 1, RiskTier.ELEVATED),
        (Category.LENDING, HUNDRED, RiskTier.STANDARD),
        (Category.LENDING, HUNDRED + 1, RiskTier.ELEVATED),
        (Category.STAKING, HUNDRED, RiskTier.STANDARD),
        (Category.STAKING, HUNDRED + 1, RiskTier.ELEVATED),
        (Category.RESTAKING, HUNDRED, RiskTier.STANDARD),
        (Category.YIELD, HUNDRED, RiskTier.STANDARD),
        (Category.VAULT, HUNDRED, RiskTier.STANDARD),
        (Category.LP, 1, RiskTier.ELEVATED),
        (Category.HOOK, 1, RiskTier.ELEVATED),
        (Category.DERIVATIVES, 1, RiskTier.ELEVATED),
    ],
)
def test_a_tier_changes_exactly_above_its_value(category: Category, value: int, expected: RiskTier) -> None:
    assert tier(category, value_micro_usd=value) is expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"risk_layer": RiskLayer.UNBOUNDED}, RiskTier.HIGH),
        ({"capability": CapabilityTier.PRIVILEGED}, RiskTier.CRITICAL),
        ({"capability": CapabilityTier.PRIVILEGED, "action_class": ActionClass.CLOSE_POSITION}, RiskTier.CRITICAL),
        ({"returns_to_golem": False}, RiskTier.ELEVATED),
        ({"action_class": ActionClass.READ_ONLY, "value_micro_usd": 0}, RiskTier.ROUTINE),
        ({"capability": CapabilityTier.READ}, RiskTier.ROUTINE),
    ],
)
def test_what_a_call_is_decides_before_what_it_is_worth(changes: dict[str, Any], expected: RiskTier) -> None:
    assert tier(**changes) is expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, RiskTier.ELEVATED),
        ({"value_micro_usd": FIFTY + 1}, RiskTier.HIGH),
        ({"risk_layer": RiskLayer.UNBOUNDED}, RiskTier.CRITICAL),
        ({"returns_to_golem": False}, RiskTier.HIGH),
        ({"action_class": ActionClass.CLOSE_POSITION}, RiskTier.STANDARD),
        ({"action_class": ActionClass.CLOSE_POSITION, "returns_to_golem": False}, RiskTier.ELEVATED),
        ({"action_class": ActionClass.READ_ONLY}, RiskTier.ROUTINE),
        ({"capability": CapabilityTier.PRIVILEGED}, RiskTier.CRITICAL),
    ],
)
def test_at_a_venue_that_is_not_trusted_a_call_is_one_tier_higher_and_leaving_is_not(
    changes: dict[str, Any], expected: RiskTier
) -> None:
    assert tier(is_venue_trusted=False, **changes) is expected


def test_a_tier_is_riskier_than_those_before_it_and_not_than_itself() -> None:
    order = [RiskTier.ROUTINE, RiskTier.STANDARD, RiskTier.ELEVATED, RiskTier.HIGH, RiskTier.CRITICAL]
    riskier = {(one, other) for one in order for other in order if is_riskier(one, than=other)}
    assert riskier == {(one, other) for place, one in enumerate(order) for other in order[:place]}


@pytest.mark.parametrize("leaving", [ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION])
@pytest.mark.parametrize("category", [Category.LP, Category.TRADING, Category.DERIVATIVES])
def test_getting_out_is_at_most_standard_when_it_returns_to_the_golem(leaving: ActionClass, category: Category) -> None:
    facts: dict[str, Any] = {
        "action_class": leaving,
        "value_micro_usd": 10 * HUNDRED,
        "risk_layer": RiskLayer.UNBOUNDED,
    }
    assert tier(category, **facts) is RiskTier.STANDARD
    assert tier(category, **facts, returns_to_golem=False) is RiskTier.HIGH


@pytest.mark.parametrize(
    ("given", "value", "expected"),
    [
        (RiskTier.STANDARD, 1_000 * USD, False),
        (RiskTier.STANDARD, 1_000 * USD + 1, True),
        (RiskTier.ROUTINE, 1_000 * USD + 1, True),
        (RiskTier.ELEVATED, 0, True),
        (RiskTier.HIGH, 0, True),
        (RiskTier.CRITICAL, 0, True),
    ],
)
def test_the_guardian_is_needed_from_elevated_on_and_above_the_hot_lane(
    given: RiskTier, value: int, expected: bool
) -> None:
    assert needs_guardian(given, value, 1_000 * USD) is expected


def test_why_owners_decide_is_said_by_its_rule() -> None:
    said = explain_tier(RiskTier.HIGH, capability=CapabilityTier.WRITE, risk_layer=RiskLayer.UNBOUNDED)
    assert "risk layer 3" in said and "whatever the amount" in said
    assert "privileged" in explain_tier(RiskTier.CRITICAL, capability=CapabilityTier.PRIVILEGED, risk_layer=None)
    assert explain_tier(RiskTier.ELEVATED, capability=None, risk_layer=None).startswith("owners decide on ELEVATED")
