"""RuleNeeds: what one rule or strategy of a golem needs of its limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuleNeeds:
    """What one rule needs of the limits. `at_once_micro_usd` is its largest action, `a_tick_micro_usd` all it may do
    in one tick and `a_day_micro_usd` what it does in a day where that is more. `position_micro_usd` is what it holds in
    one position, 0 where it keeps none; `range_ticks` is how wide that is.
    """

    name: str
    at_once_micro_usd: int
    a_tick_micro_usd: int
    a_day_micro_usd: int = 0
    writes: int = 1
    slippage_bps: int = 0
    position_micro_usd: int = 0
    range_ticks: int | None = None
