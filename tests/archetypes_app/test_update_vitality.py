"""Vitality at run time: measured once a tick, kept, and followed by a phase that only gets worse by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from archetypes_app.actions.change_phase import reset_phase
from archetypes_app.actions.update_vitality import VitalityFacts, update_vitality
from archetypes_app.models import Golem, PhaseTransition, VitalityRecord
from tests.factories import make_golem, make_owner
from tools_app.core.models import AuditEntry, OutboxEvent
from tools_app.toolkit.enums import Phase

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
USD = 1_000_000


@pytest.fixture
def golem(db: None) -> Golem:
    return make_golem(owner=make_owner())


def beat(golem: Golem, *, ticks: int = 1) -> None:
    Golem.objects.filter(pk=golem.pk).update(heartbeat_tick=golem.heartbeat_tick + ticks)
    golem.refresh_from_db()


def test_the_first_balance_found_is_the_budget_and_stays_it(golem: Golem) -> None:
    first = update_vitality(golem_id=golem.pk, facts=VitalityFacts(1_000 * USD), now=NOW)
    beat(golem)
    second = update_vitality(golem_id=golem.pk, facts=VitalityFacts(620 * USD), now=NOW + timedelta(minutes=1))
    assert first is not None and second is not None
    assert (first.starting_budget_micro_usd, second.starting_budget_micro_usd) == (1_000 * USD, 1_000 * USD)
    assert second.death_reserve_micro_usd == 20 * USD
    assert (first.vitality.economic, second.vitality.economic) == (980_000, 600_000)
    row = VitalityRecord.objects.get(pk=golem.pk)
    assert (row.value, row.balance_micro_usd, row.heartbeat_tick) == (second.vitality.value, 620 * USD, 1)


def test_a_golem_that_never_had_a_balance_is_not_measured_and_does_not_die(golem: Golem) -> None:
    assert update_vitality(golem_id=golem.pk, facts=VitalityFacts(0), now=NOW) is None
    golem.refresh_from_db()
    assert golem.phase == Phase.THRIVING
    assert not VitalityRecord.objects.exists()


def test_falling_vitality_moves_the_phase_step_by_step_and_never_back(golem: Golem) -> None:
    phases = []
    for balance in (1_000, 700, 900, 450, 200, 1_000, 30):
        beat(golem)
        update = update_vitality(golem_id=golem.pk, facts=VitalityFacts(balance * USD), now=NOW)
        assert update is not None
        phases.append(update.phase)
    assert phases == [
        Phase.THRIVING,
        Phase.CAUTIOUS,
        Phase.CAUTIOUS,
        Phase.DEFENSIVE,
        Phase.SURVIVAL,
        Phase.SURVIVAL,
        Phase.TERMINAL,
    ]
    golem.refresh_from_db()
    assert golem.phase == Phase.TERMINAL


def test_a_transition_by_vitality_is_a_row_an_audit_entry_and_an_event(golem: Golem) -> None:
    update_vitality(golem_id=golem.pk, facts=VitalityFacts(1_000 * USD), now=NOW)
    beat(golem, ticks=9)
    update = update_vitality(golem_id=golem.pk, facts=VitalityFacts(400 * USD), now=NOW)
    assert update is not None and update.transition is not None
    assert (update.phase_before, update.phase) == (Phase.THRIVING, Phase.DEFENSIVE)
    row = PhaseTransition.objects.get(golem=golem)
    assert (row.from_phase, row.to_phase, row.actor) == ("THRIVING", "DEFENSIVE", "system:heartbeat")
    entry = AuditEntry.objects.get(golem_id=golem.pk, event="PhaseTransition")
    assert entry.data["vitality_millionths"] == str(update.vitality.value)
    event = OutboxEvent.objects.get(golem_id=golem.pk, type="phase:transition")
    assert (event.heartbeat_tick, event.payload["to"]) == (9, "DEFENSIVE")


def test_hazard_counts_ticks_and_not_calls(golem: Golem) -> None:
    facts = VitalityFacts(1_000 * USD)
    update_vitality(golem_id=golem.pk, facts=facts, now=NOW)
    beat(golem, ticks=500)
    once = update_vitality(golem_id=golem.pk, facts=facts, now=NOW)
    again = update_vitality(golem_id=golem.pk, facts=facts, now=NOW)
    assert once is not None and again is not None
    assert (once.hazard_millionths, again.hazard_millionths) == (500, 500)
    assert once.vitality.stochastic == 999_500


def test_wrong_predictions_count_from_the_twentieth(golem: Golem) -> None:
    few = update_vitality(golem_id=golem.pk, facts=VitalityFacts(1_000 * USD, None, 19, 0), now=NOW)
    beat(golem)
    many = update_vitality(golem_id=golem.pk, facts=VitalityFacts(1_000 * USD, None, 40, 20), now=NOW)
    assert few is not None and many is not None
    assert (few.vitality.epistemic, many.vitality.epistemic) == (1_000_000, 500_000)
    assert many.phase is Phase.DEFENSIVE


def test_an_owners_reset_begins_a_new_life_that_the_next_tick_does_not_undo(golem: Golem) -> None:
    update_vitality(golem_id=golem.pk, facts=VitalityFacts(1_000 * USD), now=NOW)
    beat(golem, ticks=3_000)
    update_vitality(golem_id=golem.pk, facts=VitalityFacts(100 * USD, None, 50, 10), now=NOW)
    golem.refresh_from_db()
    assert golem.phase == Phase.TERMINAL
    reset_phase(golem=golem, to=Phase.THRIVING, reason="goes on with less", actor="owner:1", now=NOW)
    beat(golem)
    update = update_vitality(golem_id=golem.pk, facts=VitalityFacts(100 * USD), now=NOW)
    assert update is not None
    assert (update.starting_budget_micro_usd, update.hazard_millionths) == (100 * USD, 1)
    assert update.phase is Phase.THRIVING


def test_impossible_figures_change_nothing(golem: Golem) -> None:
    with pytest.raises(ValueError, match="came true"):
        update_vitality(golem_id=golem.pk, facts=VitalityFacts(USD, None, 1, 2), now=NOW)
    assert not VitalityRecord.objects.exists()


def test_the_database_refuses_a_vitality_above_one(golem: Golem) -> None:
    update_vitality(golem_id=golem.pk, facts=VitalityFacts(USD), now=NOW)
    with pytest.raises(IntegrityError, match="vitality_record_value"), transaction.atomic():
        VitalityRecord.objects.filter(pk=golem.pk).update(value=1_000_001)


def test_a_reading_costs_two_queries_while_the_phase_stays(golem: Golem, django_assert_num_queries) -> None:
    update_vitality(golem_id=golem.pk, facts=VitalityFacts(USD), now=NOW)
    with django_assert_num_queries(4) as sent:  # a savepoint opened and released, the locked row, the update
        update = update_vitality(golem_id=golem.pk, facts=VitalityFacts(USD), now=NOW + timedelta(seconds=60))
    words = [query["sql"].split()[0] for query in sent.captured_queries]
    assert words == ["SAVEPOINT", "SELECT", "UPDATE", "RELEASE"]
    assert update is not None and update.transition is None
    assert VitalityRecord.objects.get(pk=golem.pk).measured_at == NOW + timedelta(seconds=60)
