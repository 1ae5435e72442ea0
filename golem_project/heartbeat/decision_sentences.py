"""A decision of a heartbeat in sentences, for people; the record itself stays folded beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archetypes_app.models import DecisionCycleRecord
from golem_project.heartbeat.market_sentences import tell_doubted, tell_unknown
from golem_project.heartbeat.memory_effect_sentences import tell_changes, tell_held_back
from golem_project.heartbeat.model_failures import describe_failure
from golem_project.heartbeat.recorded_thought import (
    RecordedCall,
    RecordedCosts,
    RecordedThought,
    read_costs,
    read_thought,
)
from golem_project.heartbeat.rule_needs import tell_way_out
from permits_app.words.move_words import describe_move
from tools_app.core.units import format_micro_usd
from tools_app.wording.address_names import name_addresses
from tools_app.wording.formats import format_millionths


def tell_decision(row: DecisionCycleRecord) -> list[str]:
    """Sentences: when, how hard it thought and why, the market, vitality, and each action with its end, and what memory
    changed of them.
    """
    how = "It acted with its money." if row.is_live else "It rehearsed: nothing was signed."
    why = name_addresses(row.gating_reason, row.golem.home_chain_id)
    breakdown = tell_breakdown(row.outcome)
    lines = [
        f"Tick {row.heartbeat_tick} at {row.decided_at:%Y-%m-%d %H:%M:%S} UTC. {how}",
        f"It thought at tier {row.tier}: {why or 'quiet, nothing asked for thinking'}.",
        *tell_thinking(row.deliberation, row.costs),
        *([breakdown] if breakdown else []),
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
    lines += [*held, *wanted] or [_tell_nothing(read_thought(row.deliberation), is_broken=bool(breakdown))]
    late = (row.tick.lateness_ms or 0) / 1_000
    if late >= 1:
        lines.append(f"The tick began {late:.1f} s late.")
    return lines


def _tell_failure(thought: RecordedThought, costs: RecordedCosts) -> str:
    """Why a model could not think to the end, what that cost and who acted in its place; empty where it could."""
    code = thought.stopped_by or ""
    if not code:
        return ""
    cost = format_micro_usd(costs.model_micro_usd or 0)
    if thought.rules_stood_in:
        instead = "The rules acted in its place."
    elif thought.touched:
        instead = "What it had begun by then is listed with the tick's actions."
    else:
        instead = "Nobody acted in its place."
    bills = _tell_bills(thought)
    return f"It could not think to the end: {describe_failure(code)}. That cost {cost}.{bills} {instead}"


def tell_thinking(deliberation: Mapping[str, object], costs: Mapping[str, object]) -> list[str]:
    """What a model was told, what it asked for, what was refused and why, what that cost, in this order; and before all
    else why it could not think to the end, where it could not.
    """
    thought, cost = read_thought(deliberation), read_costs(costs)
    failure = _tell_failure(thought, cost)
    return [
        *([failure] if failure else []),
        *_tell_told(thought),
        *_tell_asked(thought),
        *([] if failure else _tell_cost(thought, cost)),
    ]


def _tell_told(thought: RecordedThought) -> list[str]:
    """The sections of its request, and which standing words of its owner were in it."""
    told = thought.told or ()
    lines = []
    if told:
        sections = "; ".join(f"{title}: {tokens:,}" for title, tokens in told)
        lines.append(
            f"Its model was told about {sum(tokens for _, tokens in told):,} tokens, beside its tools' parameters:"
            f" {sections}."
        )
    versions = thought.directives or {}
    if versions:
        named = " and ".join(f"{name} in version {version}" for name, version in versions.items())
        lines.append(f"It was told {named}.")
    for name, titles in (thought.left_out or {}).items():
        lines.append(f"Of {name} there was no room for: {', '.join(titles)}.")
    return lines


def _tell_asked(thought: RecordedThought) -> list[str]:
    """What it called in order, and each refusal with its reason."""
    asked = thought.asked or ()
    if not asked:
        return []
    lines = [f"It asked for: {', '.join(map(_name_call, asked))}."]
    for each in asked:
        if each.code:
            reason = (each.reason or "").rstrip(".")
            lines.append(f"Refused was {_name_call(each)}: {reason or 'no reason was given'} ({each.code}).")
    return lines


def _name_call(call: RecordedCall) -> str:
    return f"{call.name} ({call.about})" if call.about else call.name


def _tell_cost(thought: RecordedThought, costs: RecordedCosts) -> list[str]:
    """What thinking cost, with whom it asked."""
    if not thought.model:
        return []
    read, written = costs.input_llm_tokens or 0, costs.output_llm_tokens or 0
    others, whole = costs.delegates_micro_usd or 0, costs.model_micro_usd or 0
    of_them = f", {format_micro_usd(others)} of it for whom it asked" if others else ""
    bills = _tell_bills(thought)
    return [
        f"Thinking cost {format_micro_usd(whole)}{of_them}: {read:,} tokens were read and {written:,} written.{bills}"
    ]


def _tell_bills(thought: RecordedThought) -> str:
    """How many bills of its provider were not what its tokens come to, and what counts in their place."""
    doubted, dearer = thought.doubted_bills or 0, thought.dearer_bills or 0
    lines = [f" {doubted} of its bills could not be true and count as the worst case."] if doubted else []
    if dearer:
        lines.append(f" Above the prices in the settings, and counted as billed: {dearer} of its bills.")
    return "".join(lines)


def tell_trouble(
    deliberation: Mapping[str, object],
    costs: Mapping[str, object],
    outcome: Mapping[str, object],
) -> str:
    """Why a model could not think, or that the tick itself failed; empty where neither is so."""
    return _tell_failure(read_thought(deliberation), read_costs(costs)) or tell_breakdown(outcome)


def tell_breakdown(outcome: Mapping[str, object]) -> str:
    """That the tick itself failed, and by which code; empty where it came to its end."""
    code = outcome.get("error_code")
    return f"The tick failed before its end ({code}); what it had begun is listed with its actions." if code else ""


def _tell_nothing(thought: RecordedThought, *, is_broken: bool) -> str:
    """Whoever could not think, or not to the end of the tick, is not said to have wanted nothing."""
    if is_broken:
        return "What else it would have wanted is not known."
    if thought.stopped_by and not thought.rules_stood_in:
        return "What it would have wanted is not known."
    return "It wanted nothing."


def _tell_memory(action: Any) -> list[str]:  # Any: JSON that a tick stored
    if action.permit is None:
        return []
    return tell_changes(action.action_type, action.permit.soft_params or {})


def _tell_action(action: Any) -> str:  # Any: JSON that a tick stored
    name = action.action_type.replace("_", " ")
    what = describe_move(action.action_type, action.permit.bounds) if action.permit is not None else name.capitalize()
    why = str(action.block_reason or action.reason).rstrip(".")
    told = f"{what}: {str(action.state).lower()}{f', {why}' if why else ''}."
    way_out = tell_way_out(action.problem) if action.problem else ""
    return f"{told} {way_out}" if way_out else told
