"""The ActionGate: a golem whose predictions come true less often opens less. Off until its owner turns it on.

A prediction is a permit's expected outcome; it came true when the outcome was verified and no further from it than
the tolerance. Part of hook 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from permits_app.hook_rejection import Reject
from permits_app.safety.format_rule_figures import format_bps
from tools_app.core.units import BPS
from tools_app.toolkit.enums import ActionClass, RiskLayer

GATE_WINDOW = 50
GATE_LEAST_PREDICTIONS = 20
DIVERGENCE_TOLERANCE_BPS = 200


@dataclass(frozen=True, slots=True)
class GateLevel:
    """What is open at one level of accuracy: the size of one position, how many, and whether tools of layer 3 are."""

    most_bps: int
    most_positions: int
    allows_leverage: bool = False


_LEVELS = ((4_500, GateLevel(200, 2)), (6_000, GateLevel(1_000, 5)))
_BEST = GateLevel(2_500, 10, allows_leverage=True)


def level_of(*, predictions: Sequence[bool]) -> GateLevel | None:
    """What `predictions` (newest first, True where one came true) open; None when they are too few for anything."""
    window = predictions[:GATE_WINDOW]
    if len(window) < GATE_LEAST_PREDICTIONS:
        return None
    right = sum(window)
    for below_bps, level in _LEVELS:
        if right * BPS < below_bps * len(window):
            return level
    return _BEST


def judge_gate(
    *,
    predictions: Sequence[bool],
    action_class: ActionClass,
    layer: RiskLayer,
    size_micro_usd: int,
    total_micro_usd: int,
    positions: int,
) -> Reject | None:
    """Whether this opening fits the level; only NEW_POSITION opens. `positions` are those held before it."""
    if action_class is not ActionClass.NEW_POSITION:
        return None
    level = level_of(predictions=predictions)
    seen = f"{sum(predictions[:GATE_WINDOW])} of {len(predictions[:GATE_WINDOW])} predictions right"
    if level is None:
        return _closed("few_predictions", seen, f"{GATE_LEAST_PREDICTIONS} predictions", "nothing is opened yet")
    if layer is RiskLayer.UNBOUNDED and not level.allows_leverage:
        return _closed("leverage", seen, "60% right", "no tool of risk layer 3 yet")
    if positions >= level.most_positions:
        return _closed("positions", f"{positions} positions; {seen}", f"{level.most_positions} positions", "no more")
    if size_micro_usd * BPS > level.most_bps * total_micro_usd:
        share = format_bps(-(-size_micro_usd * BPS // total_micro_usd)) if total_micro_usd else "all of it"
        return _closed("size", f"{share}; {seen}", format_bps(level.most_bps), "a smaller position would be opened")
    return None


def _closed(rule: str, observed: str, limit: str, words: str) -> Reject:
    return Reject(
        rule=f"policy_cage.action_gate_{rule}",
        reason=f"the action gate is on: {words} ({observed}; {limit})",
        observed=observed,
        limit=limit,
        would_pass="a decrease or close, or this once more predictions came true, or with the gate turned off",
    )
