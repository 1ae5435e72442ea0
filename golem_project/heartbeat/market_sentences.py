"""Writes in sentences what was known of the market at a decision, and what waited for it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def tell_doubted(interventions: Sequence[Mapping[str, Any]]) -> list[str]:  # Any: JSON that a tick stored
    """A sentence or two for each wish that waits, from the interventions of a decision's record."""
    found = [each["doubted"] for each in interventions if "doubted" in each]
    return [
        f"{str(each['action_type']).replace('_', ' ').capitalize()} waits: {str(each['words']).rstrip('.')}."
        " Nothing but the time of it changed, and no limit moved."
        for each in found
    ]


def tell_unknown(probes: Mapping[str, Any]) -> list[str]:  # Any: JSON that a tick stored
    """A sentence of what was not known of the market that was to be entered; none where all of it was."""
    missing = (probes.get("known_market") or {}).get("missing", ())
    return (
        [f"Not known of the market, and so no reason for anything: {'; '.join(map(str, missing))}."] if missing else []
    )
