"""Measure a golem's vitality once a tick and let its phase follow, which only ever gets worse by itself.

Locks the golem's row. Writes its VitalityRecord; when the phase worsens, a PhaseTransition, an audit entry and
phase:transition, all in one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.actions.change_phase import apply_vitality
from archetypes_app.models import Golem, PhaseTransition, VitalityRecord
from archetypes_app.vitality import (
    Vitality,
    VitalitySigns,
    add_hazard,
    compute_vitality,
    death_reserve,
)
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.enums import Phase


@dataclass(frozen=True, slots=True)
class VitalityFacts:
    """What a tick measured. Micro-USD; predictions are those since `since_tick`.

    `starting_budget_micro_usd` None: the one on record, or at the first measured tick the balance itself.
    """

    balance_micro_usd: int
    starting_budget_micro_usd: int | None = None
    predictions: int = 0
    correct_predictions: int = 0


@dataclass(frozen=True, slots=True)
class VitalityUpdate:
    """The vitality of this tick, what it was computed from, and the phase before and after."""

    vitality: Vitality
    starting_budget_micro_usd: int
    death_reserve_micro_usd: int
    hazard_millionths: int
    phase_before: Phase
    phase: Phase
    transition: PhaseTransition | None


@retry_aborted
def update_vitality(
    *, golem_id: UUID, facts: VitalityFacts, now: datetime, actor: str = "system:heartbeat"
) -> VitalityUpdate | None:
    """Vitality of the golem's present heartbeat tick; None while it never had a balance, since nothing can run out.

    Measuring one tick twice gives the same figures: hazard counts ticks, not calls. Raises ValueError for figures that
    cannot be, such as more predictions right than made.
    """
    with transaction.atomic():
        rows = Golem.objects.select_related("vitality_record").select_for_update(no_key=True, of=("self",))
        golem = rows.get(pk=golem_id)
        known: VitalityRecord | None = getattr(golem, "vitality_record", None)
        recorded = known.starting_budget_micro_usd if known else None
        budget = facts.starting_budget_micro_usd or recorded or facts.balance_micro_usd
        if budget <= 0:
            return None
        tick = golem.heartbeat_tick
        hazard = add_hazard(
            accumulated_millionths=known.hazard_millionths if known else 0,
            ticks=max(0, tick - known.heartbeat_tick) if known else 0,
        )
        vitality = compute_vitality(
            VitalitySigns(
                balance_micro_usd=facts.balance_micro_usd,
                starting_budget_micro_usd=budget,
                predictions=facts.predictions,
                correct_predictions=facts.correct_predictions,
                hazard_millionths=hazard,
            )
        )
        _store(golem, known, facts, budget, hazard, vitality, now)
        before = Phase(golem.phase)
        is_worse = vitality.phase is not before
        transition = apply_vitality(golem=golem, vitality=vitality, actor=actor, now=now) if is_worse else None
    return VitalityUpdate(
        vitality=vitality,
        starting_budget_micro_usd=budget,
        death_reserve_micro_usd=death_reserve(budget),
        hazard_millionths=hazard,
        phase_before=before,
        phase=Phase(golem.phase),
        transition=transition,
    )


def _store(
    golem: Golem,
    known: VitalityRecord | None,
    facts: VitalityFacts,
    budget: int,
    hazard: int,
    vitality: Vitality,
    now: datetime,
) -> None:
    columns = {
        "starting_budget_micro_usd": budget,
        "balance_micro_usd": facts.balance_micro_usd,
        "predictions": facts.predictions,
        "correct_predictions": facts.correct_predictions,
        "hazard_millionths": hazard,
        "economic": vitality.economic,
        "epistemic": vitality.epistemic,
        "stochastic": vitality.stochastic,
        "value": vitality.value,
        # A clock of ticks that was set back must not stand in the way of a reading.
        "heartbeat_tick": max(golem.heartbeat_tick, known.heartbeat_tick if known else 0),
        "measured_at": now,
    }
    if known is None:
        VitalityRecord.objects.create(golem=golem, since_tick=golem.heartbeat_tick, **columns)
    else:
        VitalityRecord.objects.filter(pk=golem.pk).update(**columns)
