"""list_decisions: what a golem's last ticks saw, decided and did, for a page or a program."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch

from archetypes_app.models import DecisionCycleRecord, Golem
from permits_app.models.action_record import ActionRecord
from tools_app.core.units import format_micro_usd

LARGEST_PAGE = 100


def list_decisions(
    *, golem: Golem, limit: int = 20, before_tick: int | None = None, only_thinking: bool = False
) -> list[dict[str, Any]]:
    """The newest decisions first, at most 100, older than `before_tick`; quiet ones left out with `only_thinking`.

    Each with its actions and the outcomes of their permits. Amounts in micro-USD are decimal strings, USD beside them.
    """
    outcomes = Prefetch("permit__outcomes", to_attr="known_outcomes")
    actions = ActionRecord.objects.select_related("permit").prefetch_related(outcomes).order_by("position")
    rows = (
        DecisionCycleRecord.objects.filter(golem=golem)
        .select_related("tick")
        .prefetch_related(Prefetch("tick__actions", queryset=actions))
        .order_by("-heartbeat_tick")
    )
    if before_tick is not None:
        rows = rows.filter(heartbeat_tick__lt=before_tick)
    if only_thinking:
        rows = rows.exclude(tier="T0")
    return [describe_decision(row) for row in rows[: max(1, min(limit, LARGEST_PAGE))]]


def describe_decision(row: DecisionCycleRecord) -> dict[str, Any]:
    """One decision as JSON."""
    return {
        "decision_id": str(row.pk),
        "heartbeat_tick": row.heartbeat_tick,
        "decided_at": row.decided_at.isoformat(),
        "status": row.tick.status,
        "lateness_ms": row.tick.lateness_ms,
        "duration_ms": row.tick.duration_ms,
        "missed_before": row.tick.missed_before,
        "is_live": row.is_live,
        "tier": row.tier,
        "reason": row.gating_reason,
        "prediction_error_millionths": row.prediction_error,
        "threshold_millionths": row.threshold,
        "observation": row.observation,
        "regime": row.regime,
        "probes": row.probes,
        "anomalies": row.anomalies,
        "pad_before": row.pad_before,
        "pad_after": row.pad_after,
        "context_summary": row.context_summary,
        "interventions": row.interventions,
        "deliberation": row.deliberation,
        "outcome": row.outcome,
        "episodes_written": row.episodes_written,
        "mutations": row.mutations,
        "vitality_millionths": row.vitality,
        "phase": row.phase,
        "costs": row.costs,
        "actions": [_describe_action(each) for each in row.tick.actions.all()],
    }


def _describe_action(action: ActionRecord) -> dict[str, Any]:
    outcome = action.permit.outcome if action.permit is not None else None
    gas = action.gas_micro_usd
    return {
        "action_type": action.action_type,
        "venue": action.venue or None,
        "tool": action.tool_name or None,
        "params": action.params,
        "reason": action.reason,
        "state": action.state,
        "block_reason": action.block_reason or None,
        "permit_id": str(action.permit_id) if action.permit_id is not None else None,
        "tx_hashes": action.tx_hashes,
        "gas_micro_usd": None if gas is None else str(gas),
        "gas_usd": None if gas is None else format_micro_usd(gas),
        "outcome": None
        if outcome is None
        else {
            "verified": outcome.is_verified,
            "expected": outcome.expected.get("balance_deltas", []),
            "actual": outcome.actual.get("balance_deltas", []),
            "pnl_micro_usd": None if outcome.pnl_micro_usd is None else str(outcome.pnl_micro_usd),
            "pnl_parts": outcome.pnl_parts,
            "ground_truth_source": outcome.ground_truth_source,
        },
    }
