"""Writes in sentences what memory changed of a decision, by how much, and why. Pure.

Memory can change when something is done, its slippage, its deadline and its route, and nothing else; each sentence ends
by saying so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from golem_project.heartbeat.recorded_interventions import RecordedIntervention
from tools_app.core.stored_json import read_stored

NO_LIMIT = "No limit moved."
_NAMES: Final = {"slippage_bps": ("slippage", "basis points"), "deadline": ("deadline", "seconds")}


def tell_held_back(interventions: Sequence[Mapping[str, object]]) -> list[str]:
    """A sentence or two for each wish that waits for a memory, from the interventions of a decision's record."""
    found = (read_stored(RecordedIntervention, each).held_back for each in interventions)
    return [
        f"Memory lets {_word(held.action_type)} wait until the market is calm."
        f" It remembers, {held.confidence_percent}% sure: {held.text.rstrip('.')}."
        " Nothing but the time of it changed, and no limit moved."
        for held in found
        if held is not None
    ]


def tell_changes(action_type: str, soft: Mapping[str, Any]) -> list[str]:  # Any: JSON that a tick stored
    """A line for an action whose parameters memory changed, from the `soft_params` of its permit; none for others."""
    changes, before, behind = (soft.get(name) or {} for name in ("changes", "before", "behind"))
    if not changes:
        return []
    told = []
    for name, value in changes.items():
        change = _tell_change(name, value, before.get(name), _word(action_type))
        told.append(f"{change}, {_tell_outcomes(len(behind.get(name, ())))}")
    return [f"Memory changed the {' and '.join(told)}: {str(soft.get('note', '')).rstrip('.')}. {NO_LIMIT}"]


def _tell_change(name: str, value: Any, before: Any, action: str) -> str:  # Any: JSON that a tick stored
    label, unit = _NAMES.get(name, (name, ""))
    if not unit:
        return f"{label} of {action} to {value} where none was named"
    if not isinstance(before, int) or not before:
        return f"{label} of {action} to {value} {unit}"
    share = abs(100 * (value - before)) // before
    return f"{label} of {action} from {before} to {value} {unit}, {share}% {'less' if value < before else 'more'}"


def _tell_outcomes(count: int) -> str:
    return f"because of {count} outcome{'' if count == 1 else 's'}"


def _word(action_type: str) -> str:
    return action_type.replace("_", " ")
