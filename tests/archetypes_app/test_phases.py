"""Vitality in whole numbers, thresholds to the millionth, and phases that only get worse by themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from hypothesis import given
from hypothesis import strategies as st

from archetypes_app.actions.change_phase import apply_vitality, reset_phase, worsen_phase
from archetypes_app.errors import PhaseNotMonotone, ReasonMissing
from archetypes_app.models import Archetype, Golem, PhaseTransition
from archetypes_app.phases import is_allowed, is_worse, phase_of_vitality
from archetypes_app.vitality import (
    MILLION,
    Vitality,
    VitalitySigns,
    add_hazard,
    compute_vitality,
    death_reserve,
    measure_economic,
    measure_epistemic,
)
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.toolkit.enums import ActionClass, Phase

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ORDER = (Phase.THRIVING, Phase.CAUTIOUS, Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL)
USD = 1_000_000

# Seed 001, "Phase-based gating", row by row.
TABLE = {
    ActionClass.NEW_POSITION: (True, True, False, False, False),
    ActionClass.INCREASE_POSITION: (True, True, False, False, False),
    ActionClass.REBALANCE: (True, True, True, False, False),
    ActionClass.DECREASE_POSITION: (True, True, True, True, False),
    ActionClass.CLOSE_POSITION: (True, True, True, True, True),
    ActionClass.READ_ONLY: (True, True, True, True, True),
}


@pytest.mark.parametrize("action_class", ActionClass)
def test_the_gating_row_of_the_seed_holds(action_class: ActionClass) -> None:
    assert tuple(is_allowed(phase, action_class) for phase in ORDER) == TABLE[action_class]


@pytest.mark.parametrize(
    ("vitality", "phase"),
    [
        (1_000_000, Phase.THRIVING),
        (700_001, Phase.THRIVING),
        (700_000, Phase.CAUTIOUS),
        (500_000, Phase.CAUTIOUS),
        (499_999, Phase.DEFENSIVE),
        (300_000, Phase.DEFENSIVE),
        (299_999, Phase.SURVIVAL),
        (100_000, Phase.SURVIVAL),
        (99_999, Phase.TERMINAL),
        (0, Phase.TERMINAL),
    ],
)
def test_thresholds_to_the_millionth(vitality: int, phase: Phase) -> None:
    assert phase_of_vitality(vitality) is phase


def test_the_death_reserve_is_two_percent_and_at_least_thirty_cents() -> None:
    assert death_reserve(10 * USD) == 300_000
    assert death_reserve(1_000 * USD) == 20 * USD
    assert death_reserve(50_000_001) == 1_000_001


def test_economic_vitality_counts_what_is_left_above_the_reserve() -> None:
    assert measure_economic(balance_micro_usd=1_000 * USD, starting_budget_micro_usd=1_000 * USD) == 980_000
    assert measure_economic(balance_micro_usd=20 * USD, starting_budget_micro_usd=1_000 * USD) == 0
    assert measure_economic(balance_micro_usd=9_000 * USD, starting_budget_micro_usd=1_000 * USD) == MILLION
    assert measure_economic(balance_micro_usd=5, starting_budget_micro_usd=0) == 0


def test_predictions_count_from_the_twentieth() -> None:
    assert measure_epistemic(predictions=19, correct=0) == MILLION
    assert measure_epistemic(predictions=20, correct=5) == 250_000


def test_hazard_is_a_millionth_a_tick_and_at_most_a_thousandth() -> None:
    assert add_hazard(accumulated_millionths=0, ticks=500) == 500
    assert add_hazard(accumulated_millionths=999_999, ticks=10) == MILLION


def test_impossible_figures_are_refused() -> None:
    with pytest.raises(ValueError, match="came true"):
        compute_vitality(VitalitySigns(1, 1, predictions=1, correct_predictions=2))
    with pytest.raises(ValueError, match="backwards"):
        add_hazard(accumulated_millionths=0, ticks=-1)


amounts = st.integers(0, 10**15)


@given(balance=amounts, budget=amounts, correct=st.integers(0, 500), wrong=st.integers(0, 500), hazard=amounts)
def test_vitality_is_between_zero_and_one_and_losing_money_never_raises_it(
    balance: int, budget: int, correct: int, wrong: int, hazard: int
) -> None:
    signs = VitalitySigns(balance, budget, correct + wrong, correct, hazard)
    poorer = VitalitySigns(balance // 2, budget, correct + wrong, correct, hazard)
    assert 0 <= compute_vitality(signs).value <= MILLION
    assert compute_vitality(poorer).value <= compute_vitality(signs).value


def make_vitality(value: int) -> Vitality:
    return Vitality(economic=value, epistemic=MILLION, stochastic=MILLION)


@pytest.fixture
def golem(db: None) -> Golem:
    owner = get_user_model().objects.create(username="ana")
    archetype = Archetype.objects.create(name="kind", category="golem")
    return Golem.objects.create(name="g", owner=owner, archetype=archetype, heartbeat_tick=7)


@pytest.mark.parametrize(("came_from", "to"), list(product(ORDER, ORDER)))
def test_a_phase_only_gets_worse_by_itself(golem: Golem, came_from: Phase, to: Phase) -> None:
    Golem.objects.filter(pk=golem.pk).update(phase=came_from)
    if is_worse(to, came_from):
        worsen_phase(golem=golem, to=to, reason="hunger", actor="system:heartbeat", now=NOW)
    else:
        with pytest.raises(PhaseNotMonotone):
            worsen_phase(golem=golem, to=to, reason="hope", actor="system:heartbeat", now=NOW)
    golem.refresh_from_db()
    assert golem.phase == max(came_from, to, key=ORDER.index)


def test_recovering_vitality_changes_nothing_and_falling_vitality_does(golem: Golem) -> None:
    assert apply_vitality(golem=golem, vitality=make_vitality(450_000), actor="s", now=NOW) is not None
    assert apply_vitality(golem=golem, vitality=make_vitality(900_000), actor="s", now=NOW) is None
    golem.refresh_from_db()
    assert golem.phase == Phase.DEFENSIVE


def test_only_a_reset_improves_a_phase_and_it_needs_a_reason(golem: Golem) -> None:
    worsen_phase(golem=golem, to=Phase.SURVIVAL, reason="hunger", actor="s", now=NOW)
    for reason in ("", "  "):
        with pytest.raises(ReasonMissing):
            reset_phase(golem=golem, to=Phase.THRIVING, reason=reason, actor="owner:1", now=NOW)
    golem.refresh_from_db()
    assert golem.phase == Phase.SURVIVAL
    assert reset_phase(golem=golem, to=Phase.THRIVING, reason="refilled", actor="owner:1", now=NOW) is not None
    assert reset_phase(golem=golem, to=Phase.THRIVING, reason="again", actor="owner:1", now=NOW) is None


def test_each_transition_is_a_row_an_audit_entry_and_an_event(golem: Golem) -> None:
    worsen_phase(golem=golem, to=Phase.CAUTIOUS, reason="hunger", actor="s", now=NOW, vitality=make_vitality(600_000))
    reset_phase(golem=golem, to=Phase.THRIVING, reason="refilled", actor="owner:1", now=NOW)
    rows = list(PhaseTransition.objects.filter(golem=golem).order_by("pk"))
    assert [(row.from_phase, row.to_phase, row.reason, row.actor) for row in rows] == [
        ("THRIVING", "CAUTIOUS", "hunger", "s"),
        ("CAUTIOUS", "THRIVING", "refilled", "owner:1"),
    ]
    entries = list(AuditEntry.objects.filter(golem_id=golem.pk, event="PhaseTransition").order_by("seq"))
    assert [entry.data["is_reset"] for entry in entries] == [False, True]
    assert entries[0].data["vitality_millionths"] == "600000"
    events: list[Any] = list(OutboxEvent.objects.filter(golem_id=golem.pk).order_by("sequence"))
    assert [(event.type, event.payload["to"], event.heartbeat_tick) for event in events] == [
        ("phase:transition", "CAUTIOUS", 7),
        ("phase:transition", "THRIVING", 7),
    ]


@pytest.mark.parametrize(
    ("word", "phase"),
    [
        ("stable", Phase.CAUTIOUS),
        ("Conservation", Phase.DEFENSIVE),
        ("declining", Phase.SURVIVAL),
        ("DESPERATE", Phase.SURVIVAL),
        (" terminal ", Phase.TERMINAL),
    ],
)
def test_other_words_for_a_phase_are_taken_for_it(word: str, phase: Phase) -> None:
    assert Phase(word) is phase


@pytest.mark.parametrize("word", ["", "stables", "CAUTIOUS;", "0"])
def test_a_word_for_no_phase_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="is not a valid Phase"):
        Phase(word)
