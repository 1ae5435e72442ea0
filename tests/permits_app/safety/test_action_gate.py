"""The action gate at every boundary of its table, and its switch."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.errors import PolicyRejected
from permits_app.models import PolicyCage
from permits_app.safety.action_gate import GateLevel, judge_gate, level_of
from tests.live_golem import LiveGolem
from tools_app.toolkit.enums import ActionClass, RiskLayer

SMALL, MIDDLE, LARGE = GateLevel(200, 2), GateLevel(1_000, 5), GateLevel(2_500, 10, allows_leverage=True)


@pytest.mark.parametrize(
    ("right", "seen", "level"),
    [
        (19, 19, None),
        (20, 20, LARGE),
        (8, 20, SMALL),
        (9, 20, MIDDLE),
        (11, 20, MIDDLE),
        (12, 20, LARGE),
        (22, 50, SMALL),
        (23, 50, MIDDLE),
        (29, 50, MIDDLE),
        (30, 50, LARGE),
    ],
)
def test_accuracy_opens_exactly_its_level(right: int, seen: int, level: GateLevel | None) -> None:
    assert level_of(predictions=[True] * right + [False] * (seen - right)) == level


def test_predictions_beyond_the_last_fifty_do_not_count() -> None:
    assert level_of(predictions=[False] * 50 + [True] * 500) == SMALL
    assert level_of(predictions=[True] * 30 + [False] * 20 + [False]) == LARGE
    assert level_of(predictions=[True] * 29 + [False] * 21 + [True]) == MIDDLE


def judge(right: int = 50, **changes: Any) -> str | None:
    facts: dict[str, Any] = {
        "predictions": [True] * right + [False] * (50 - right),
        "action_class": ActionClass.NEW_POSITION,
        "layer": RiskLayer.BOUNDED,
        "size_micro_usd": 0,
        "total_micro_usd": 10_000,
        "positions": 0,
    }
    refusal = judge_gate(**{**facts, **changes})
    return refusal.rule.removeprefix("policy_cage.action_gate_") if refusal else None


@pytest.mark.parametrize(("right", "most", "positions"), [(50, 2_500, 10), (25, 1_000, 5), (10, 200, 2)])
def test_size_and_number_are_held_to_the_level(right: int, most: int, positions: int) -> None:
    assert judge(right, size_micro_usd=most - 1) is None
    assert judge(right, size_micro_usd=most) is None
    assert judge(right, size_micro_usd=most + 1) == "size"
    assert judge(right, positions=positions - 1) is None
    assert judge(right, positions=positions) == "positions"


@pytest.mark.parametrize(
    ("size", "total", "share"), [(2_501, 10_000, "2501 bps (25.01%)"), (1, 3, "3334 bps (33.34%)"), (1, 0, "all of it")]
)
def test_too_large_a_position_is_told_as_its_share(size: int, total: int, share: str) -> None:
    refusal = judge_gate(
        predictions=[True] * 50,
        action_class=ActionClass.NEW_POSITION,
        layer=RiskLayer.BOUNDED,
        size_micro_usd=size,
        total_micro_usd=total,
        positions=0,
    )
    assert refusal is not None
    assert (refusal.observed, refusal.limit) == (f"{share}; 50 of 50 predictions right", "2500 bps (25%)")


def test_leverage_opens_only_at_the_best_level_and_nothing_but_opening_is_gated() -> None:
    assert judge(30, layer=RiskLayer.UNBOUNDED) is None
    assert judge(29, layer=RiskLayer.UNBOUNDED) == "leverage"
    for action_class in set(ActionClass) - {ActionClass.NEW_POSITION}:
        assert judge(0, action_class=action_class, size_micro_usd=10_000, positions=99) is None


def test_a_golem_without_predictions_opens_nothing_once_its_owner_turned_the_gate_on(live_golem: LiveGolem) -> None:
    first = live_golem.preview()
    assert live_golem.permit(first["permit_id"]).action_class in ("NEW_POSITION", "INCREASE_POSITION")
    PolicyCage.objects.filter(golem=live_golem.golem).update(is_action_gate_on=True)
    if live_golem.permit(first["permit_id"]).action_class == "NEW_POSITION":
        with pytest.raises(PolicyRejected) as refused:
            live_golem.preview(amount="400000000")
        assert refused.value.data["rule"] == "policy_cage.action_gate_few_predictions"
