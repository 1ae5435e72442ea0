"""The events of a tick: heartbeat:tick, heartbeat:tier, heartbeat:complete."""

from __future__ import annotations

from archetypes_app.models import DecisionCycleRecord
from archetypes_app.models.archetype import InferenceTier
from golem_project.heartbeat.cycle_state import CycleState
from golem_project.heartbeat.tick_claims import TickEnd
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType


def make_opening_events(state: CycleState) -> list[Event]:
    """The tick began, and what the gate chose; the choice only where there was something to choose."""
    begun = state.begun
    events = [
        Event(
            EventType.HEARTBEAT_TICK,
            {
                "heartbeat_tick": begun.number,
                "regime": state.analysis.regime.value,
                "theta_seconds": begun.theta_seconds,
                "due_at": begun.scheduled_at.isoformat(),
                "lateness_ms": begun.lateness_ms,
                "phase": state.golem.phase,
                "is_dry_run": not state.golem.is_live,
            },
        )
    ]
    if state.verdict.tier is not InferenceTier.T0:
        events.append(
            Event(
                EventType.HEARTBEAT_TIER,
                {
                    "tier": state.verdict.tier.value,
                    "gating_reason": state.verdict.reason,
                    "prediction_error_bps": state.verdict.prediction_error // 100,
                    "threshold_bps": state.verdict.threshold // 100,
                    "regime": state.analysis.regime.value,
                    "heartbeat_tick": begun.number,
                },
            )
        )
    return events


def make_complete_event(
    state: CycleState, *, record: DecisionCycleRecord, end: TickEnd, theta_seconds: int, error: GolemError | None
) -> Event:
    """The tick is over."""
    payload: dict[str, object] = {
        "heartbeat_tick": state.begun.number,
        "tier": state.verdict.tier.value,
        "duration_ms": end.duration_ms,
        "reason": state.verdict.reason,
        "is_quiet": state.is_quiet,
        "action_count": len(state.actions),
        "actions": [
            {"action_type": each.action_type, "state": str(each.state), "reason": each.reason[:200]}
            for each in state.actions
        ],
        "permit_ids": [str(each.permit_id) for each in state.actions if each.permit_id is not None],
        "phase": record.phase,
        "next_tick_at": end.next_tick_at.isoformat(),
        "cost_micro_usd": record.costs["model_micro_usd"],
        "is_dry_run": not record.is_live,
        "regime": record.regime,
        "theta_seconds": theta_seconds,
    }
    if record.vitality is not None:
        payload["vitality_millionths"] = str(record.vitality)
    if error is not None:
        payload["error_code"] = error.code
    return Event(EventType.HEARTBEAT_COMPLETE, payload)
