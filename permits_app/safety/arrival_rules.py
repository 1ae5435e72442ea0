"""What leaves positions arrives with the golem, whatever its plan says of it."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from permits_app.errors import SimulationFailed
from permits_app.rejection import Reject
from permits_app.safety.hook import HookCall
from permits_app.safety.position_rules import DUST, list_claim_tokens, list_moved, price_on
from permits_app.safety.tiers import returns_to_golem
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import BPS, format_micro_usd
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader

VANISHES_UNSEEN: Final = 10_000
"""A cent, in micro-USD: what rounding in a feed and in a protocol may take."""


def judge_arrival(call: HookCall, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    """What leaves positions, or is borrowed, arrives in the wallet or in other positions.

    Worth at our feeds, less what slippage and price impact may take; a token that cannot be priced in base units. Not
    judged of what the plan pays to others by name: that is a payment. Raises what the chain raises.
    """
    if not returns_to_golem(call):
        return None
    value_of, most_lost_bps = price_on(chain), call.limits.max_slippage_bps + call.limits.max_price_impact_bps
    moved, claims = list_moved(simulation), list_claim_tokens(simulation)
    net: dict[str, int] = defaultdict(int)
    out: dict[str, int] = defaultdict(int)
    for each in moved:
        for token, change in each.list_changes().items():
            net[token] += change
            out[token] += max(0, -change)
    if not any(raw > DUST for raw in out.values()):
        return None
    for token, delta in simulation.deltas.items():
        if token not in claims:
            net[token] += delta
    left = arrived = 0
    for token, raw in net.items():
        try:
            worth = value_of(token, raw)
            left, arrived = left + value_of(token, out[token]), arrived + worth
        except (PriceUnavailable, PriceStale):
            if raw < -DUST - out[token] * most_lost_bps // BPS:
                return _vanished(f"{-raw} base units of {token}", f"{out[token]} base units")
    if arrived < -VANISHES_UNSEEN - left * most_lost_bps // BPS:
        return _vanished(format_micro_usd(-arrived), format_micro_usd(left))
    return None


def _vanished(lost: str, left: str) -> Reject:
    return Reject(
        rule="simulator.value_vanishes",
        reason=f"{left} would leave the golem's positions, and {lost} of it arrives nowhere that is the golem's",
        observed=lost,
        limit="all of it, less slippage and price impact",
        would_pass="calls that pay the golem itself",
        error=SimulationFailed,
    )
