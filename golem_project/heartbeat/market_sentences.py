"""Writes in sentences what was known of the market at a decision, and what waited for it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from golem_project.heartbeat.recorded_interventions import RecordedIntervention
from golem_project.heartbeat.recorded_probes import read_probes
from tools_app.core.stored_json import read_stored


def tell_doubted(interventions: Sequence[Mapping[str, object]]) -> list[str]:
    """A sentence or two for each wish that waits, from the interventions of a decision's record."""
    found = (read_stored(RecordedIntervention, each).doubted for each in interventions)
    return [
        f"{each.action_type.replace('_', ' ').capitalize()} waits: {each.words.rstrip('.')}."
        " Nothing but the time of it changed, and no limit moved."
        for each in found
        if each is not None
    ]


def tell_unknown(probes: Mapping[str, object]) -> list[str]:
    """A sentence of what was not known of the market that was to be entered; none where all of it was."""
    known = read_probes(probes).known_market
    missing = known.missing if known is not None else ()
    return [f"Not known of the market, and so no reason for anything: {'; '.join(missing)}."] if missing else []
