"""Change a golem's phase: it only gets worse by itself; an owner's reset, with a reason, improves it.

Locks the golem's row. Writes a PhaseTransition, appends PhaseTransition to the audit log and emits phase:transition,
all in one transaction.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from archetypes_app.errors import PhaseNotMonotone, ReasonMissing
from archetypes_app.models import Golem, Heartbeat, HeartbeatTick, PhaseTransition, VitalityRecord
from archetypes_app.models.tick import TickStatus
from archetypes_app.phases import is_worse
from archetypes_app.vitality import Vitality
from tools_app.core import audit_log, event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted
from tools_app.toolkit.enums import Phase


@retry_aborted
def worsen_phase(
    *, golem: Golem, to: Phase, reason: str, actor: str, now: datetime, vitality: Vitality | None = None
) -> PhaseTransition:
    """Move `golem` to a worse phase. Raises PhaseNotMonotone when `to` is the same or better, ReasonMissing."""
    with transaction.atomic():
        locked = _lock(golem)
        current = Phase(locked.phase)
        if not is_worse(to, current):
            raise PhaseNotMonotone(
                f"{golem.name} is {current.value}; {to.value} is not worse, and only its owner's reset improves it",
                phase=current.value,
                asked=to.value,
            )
        return _change(locked, golem, to, reason, actor, now, vitality, is_reset=False)


@retry_aborted
def apply_vitality(*, golem: Golem, vitality: Vitality, actor: str, now: datetime) -> PhaseTransition | None:
    """Worsen the phase when `vitality` stands for a worse one; None when it does not, whatever it stands for."""
    with transaction.atomic():
        locked = _lock(golem)
        if not is_worse(vitality.phase, Phase(locked.phase)):
            return None
        _lock_pulse(locked)
        reason = f"vitality fell to {vitality.value} millionths"
        return _change(locked, golem, vitality.phase, reason, actor, now, vitality, is_reset=False)


@retry_aborted
def reset_phase(*, golem: Golem, to: Phase, reason: str, actor: str, now: datetime) -> PhaseTransition | None:
    """An owner's reset to any phase, for a reason; None when the golem is in it already. Raises ReasonMissing.

    A new life begins with it: budget, hazard and predictions count from here, or the next tick would undo it.
    The caller has made sure that `actor` is the golem's owner or an operator.
    """
    with transaction.atomic():
        locked = _lock(golem)
        if Phase(locked.phase) is to:
            return None
        VitalityRecord.objects.filter(pk=locked.pk).update(
            starting_budget_micro_usd=None,
            hazard_millionths=0,
            predictions=0,
            correct_predictions=0,
            since_tick=locked.heartbeat_tick,
            heartbeat_tick=locked.heartbeat_tick,
        )
        return _change(locked, golem, to, reason, actor, now, None, is_reset=True)


def _lock(golem: Golem) -> Golem:
    return Golem.objects.select_for_update(no_key=True).get(pk=golem.pk)


def _lock_pulse(golem: Golem) -> None:
    # A tick that measured this ends in the same transaction: its clock and its row are locked before the audit log.
    list(Heartbeat.objects.select_for_update(no_key=True).filter(golem=golem).values_list("pk"))
    running = HeartbeatTick.objects.select_for_update(no_key=True).filter(golem=golem, status=TickStatus.RUNNING)
    list(running.values_list("pk"))


def _change(
    locked: Golem,
    golem: Golem,
    to: Phase,
    reason: str,
    actor: str,
    now: datetime,
    vitality: Vitality | None,
    *,
    is_reset: bool,
) -> PhaseTransition:
    words = reason.strip()
    if not words:
        raise ReasonMissing("say why the phase changes; it is kept in the golem's history")
    came_from = Phase(locked.phase)
    Golem.objects.filter(pk=locked.pk).update(phase=to.value, updated_at=now)
    golem.phase = to.value
    row = PhaseTransition.objects.create(
        golem=locked, from_phase=came_from.value, to_phase=to.value, reason=words, actor=actor, occurred_at=now
    )
    facts: dict[str, object] = {"from": came_from.value, "to": to.value, "reason": words, "is_reset": is_reset}
    if vitality is not None:
        facts["vitality_millionths"] = str(vitality.value)
    tick = locked.heartbeat_tick
    audit_log.append(golem_id=locked.pk, event="PhaseTransition", actor=actor, data=facts, now=now, heartbeat_tick=tick)
    event_bus.emit(golem_id=locked.pk, event=Event(EventType.PHASE_TRANSITION, facts), now=now, heartbeat_tick=tick)
    return row
