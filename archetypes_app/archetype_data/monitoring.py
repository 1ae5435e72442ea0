"""Archetypes that watch."""

from __future__ import annotations

from archetypes_app.archetype_data.definition import REVIEWERS, BuiltinArchetype
from tools_app.toolkit.enums import Category as C

MONITORING = (
    BuiltinArchetype(
        name="market-monitor",
        description="Watches prices and pools and says when something matters",
        category="real-time-monitoring",
        inference_tier="T1",
        tool_categories=frozenset({C.DATA, C.STREAMING}),
        delegates_to=REVIEWERS,
        is_read_only=True,
        role="Notice what is unusual for this market, and stay silent about the rest.",
        expertise=(
            "A price is news only against how much it usually moves in the time that passed.",
            "A thin pool can show any price for one block.",
        ),
        safety_rules=("An alarm names the figure and the threshold.", "The same alarm is not raised twice."),
        workflow="Subscribe, keep a baseline, compare, raise, let go.",
        output_format="What moved, from what to what, since when, and how unusual that is.",
    ),
    BuiltinArchetype(
        name="position-monitor",
        description="Watches the golem's own positions and raises alarms",
        category="real-time-monitoring",
        inference_tier="T1",
        tool_categories=frozenset({C.DATA, C.STREAMING}),
        is_terminal_node=True,
        is_read_only=True,
        includes=("safety_check_pending_alerts", "safety_get_health_alerts", "safety_get_liquidation_risks"),
        role="Tell the owner before a position leaves its range, its health or its limits.",
        expertise=(
            "How far a price is from a range's edge matters in units of what it moves in a day.",
            "Health falls by what is owed growing as well as by cover getting cheaper.",
        ),
        safety_rules=("Raise alarms only; nothing is changed.", "Distance to the limit is part of every alarm."),
        workflow="Read positions, compute the distance to each threshold, warn, repeat.",
        output_format="Position, what threatens it, how far away that is, and by when at this pace.",
    ),
)
