"""What happened decides how long it is remembered, what a conclusion is about and how long that lasts."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from memory_app.actions.consolidate import consolidate
from memory_app.decay import STABILITY_DAYS, Importance
from memory_app.importance import judge_importance
from memory_app.insights import insight_retention
from memory_app.models import Insight
from memory_app.models.insight import InsightCategory
from memory_app.reflection import reflect
from tests.memory_app.factories import NOW, make_golem, remember

TOKEN = "0x" + "11" * 20


def deltas(raw: int) -> dict[str, Any]:
    return {"balance_deltas": [{"token": TOKEN, "symbol": "WETH", "raw": str(raw), "units": "x"}]}


GOOD: dict[str, Any] = {"prediction": deltas(10_000), "outcome": {**deltas(10_000), "succeeded": True}}
SHORT: dict[str, Any] = {"prediction": deltas(10_000), "outcome": {**deltas(9_900), "succeeded": True}}
MORE: dict[str, Any] = {"prediction": deltas(10_000), "outcome": {**deltas(10_100), "succeeded": True}}


def reverted(reason: str) -> dict[str, Any]:
    return {"prediction": {}, "outcome": {"status": "REVERTED", "revert_reason": reason}}


@pytest.mark.parametrize(
    ("facts", "signs", "expected"),
    [
        (GOOD, {"is_verified": True}, Importance.BASE),
        ({**GOOD, "outcome": {**deltas(9_990), "succeeded": True}}, {"is_verified": True}, Importance.BASE),
        ({**GOOD, "outcome": {**deltas(9_989), "succeeded": True}}, {"is_verified": True}, Importance.MEV),
        (SHORT, {"is_verified": True}, Importance.MEV),
        (MORE, {"is_verified": True}, Importance.BASE),
        (reverted("Too little received"), {"is_verified": False}, Importance.MEV),
        (reverted("paused"), {"is_verified": False}, Importance.NOTABLE),
        (GOOD, {"is_verified": False}, Importance.CRITICAL),
        (GOOD, {"is_verified": True, "was_taken_back": True}, Importance.CRITICAL),
        (GOOD, {"is_verified": True, "lowered_a_debt_in_danger": True}, Importance.EMERGENCY),
    ],
)
def test_importance_follows_from_what_happened(facts: dict[str, Any], signs: Any, expected: Importance) -> None:
    reflection = reflect(prediction=facts["prediction"], outcome=facts["outcome"])
    assert judge_importance(reflection=reflection, **signs) is expected


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "category"),
    [
        (GOOD, InsightCategory.SLIPPAGE),
        (reverted("Too little received"), InsightCategory.SLIPPAGE),
        (reverted("Transaction too old"), InsightCategory.GAS_TIMING),
        (reverted("SPL"), InsightCategory.LIQUIDITY_DEPTH),
        (reverted("paused"), InsightCategory.GENERAL),
        ({**SHORT, "importance": "mev"}, InsightCategory.MEV_PATTERN),
        (MORE, InsightCategory.VOLATILITY),
        ({**GOOD, "importance": "emergency"}, InsightCategory.EMERGENCY),
        (
            {**GOOD, "tool_name": "uniswap_lp_add_liquidity", "action_type": "add_liquidity"},
            InsightCategory.POOL_BEHAVIOR,
        ),
        (
            {**GOOD, "tool_name": "uniswap_lp_remove_liquidity", "action_type": "remove_liquidity"},
            InsightCategory.REBALANCE_TIMING,
        ),
        (
            {**GOOD, "tool_name": "uniswap_lp_collect_fees", "action_type": "collect_fees"},
            InsightCategory.FEE_OPTIMIZATION,
        ),
        ({**GOOD, "tool_name": "vault_deposit", "action_type": "deposit"}, InsightCategory.VAULT_STRATEGY),
    ],
)
def test_every_category_has_a_producer(given: dict[str, Any], category: InsightCategory) -> None:
    golem = make_golem()
    for _ in range(3):
        remember(golem, f"did it {uuid.uuid4()}", permit_id=uuid.uuid4(), **given)
    consolidate(golem_id=golem.pk, now=NOW)
    assert Insight.objects.get(golem=golem).category == category


@pytest.mark.django_db
@pytest.mark.parametrize(("importance", "days"), [("base", 7), ("mev", 90), ("emergency", 180)])
def test_a_conclusion_lasts_as_long_as_the_weightiest_experience_behind_it(importance: str, days: int) -> None:
    golem = make_golem()
    for weight in ("base", "base", importance):
        remember(golem, f"did it {uuid.uuid4()}", permit_id=uuid.uuid4(), importance=weight, **GOOD)
    consolidate(golem_id=golem.pk, now=NOW)
    insight = Insight.objects.get(golem=golem)
    assert insight.stability_days == days == STABILITY_DAYS[Importance(importance.upper())]
    faded = insight_retention(insight=insight, now=NOW + timedelta(days=days))
    assert 0.36 < faded < 0.37
