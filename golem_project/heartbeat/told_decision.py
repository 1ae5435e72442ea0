"""A decision of a heartbeat in sentences, for people; the record itself stays folded beside it."""

from __future__ import annotations

from typing import Any

from archetypes_app.models import DecisionCycleRecord
from golem_project.heartbeat.told_market import tell_doubted, tell_unknown
from golem_project.heartbeat.told_memory import tell_changes, tell_held_back
from permits_app.permits.decisions import describe_decision
from permits_app.words.move_words import describe_move
from tools_app.admin.display import format_millionths
from tools_app.admin.tokens import name_addresses


def tell_decision(row: DecisionCycleRecord) -> list[str]:
    """Sentences: when, how hard it thought and why, the market, vitality, and each action with its end, and what memory
    changed of them.
    """
    told = describe_decision(row)
    how = "It acted with its money." if row.is_live else "It rehearsed: nothing was signed."
    why = name_addresses(row.gating_reason, row.golem.home_chain_id)
    lines = [
        f"Tick {row.heartbeat_tick} at {row.decided_at:%Y-%m-%d %H:%M:%S} UTC. {how}",
        f"It thought at tier {row.tier}: {why or 'quiet, nothing asked for thinking'}.",
        f"The market looked {str(row.regime).lower() or 'unknown'}.",
    ]
    if row.vitality is not None:
        lines.append(f"Its vitality was {format_millionths(row.vitality)}, its phase {str(row.phase).lower()}.")
    if row.anomalies:
        lines.append("Noticed: " + "; ".join(str(each) for each in row.anomalies[:5]) + ".")
    actions = list(row.tick.actions.select_related("permit"))
    lines += tell_unknown(row.probes)
    held = [*tell_held_back(row.interventions), *tell_doubted(row.interventions)]
    wanted = [line for each in actions for line in (_tell_action(each), *_tell_memory(each))]
    lines += [*held, *wanted] or ["It wanted nothing."]
    late = int(told["lateness_ms"] or 0) / 1_000
    if late >= 1:
        lines.append(f"The tick began {late:.1f} s late.")
    return lines


def _tell_memory(action: Any) -> list[str]:
    if action.permit is None:
        return []
    return tell_changes(action.action_type, action.permit.soft_params or {})


def _tell_action(action: Any) -> str:
    name = action.action_type.replace("_", " ")
    what = describe_move(action.action_type, action.permit.bounds) if action.permit is not None else name.capitalize()
    why = action.block_reason or action.reason
    return f"{what}: {str(action.state).lower()}{f', {why}' if why else ''}."
