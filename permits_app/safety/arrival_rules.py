"""What leaves positions arrives with the golem, whatever its plan says of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from permits_app.errors import SimulationFailed
from permits_app.hook_rejection import Reject
from permits_app.safety.format_rule_figures import format_bps
from permits_app.safety.hook import HookCall
from permits_app.safety.position_rules import DUST, Moved, list_claim_tokens, list_moved, price_on
from permits_app.safety.risk_tier_of_call import returns_to_golem
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.core.units import BPS, format_micro_usd
from tools_app.portfolio.health import ValueOf
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.valuation_rules import Uncounted

VANISHES_UNSEEN: Final = 10_000
"""A cent, in micro-USD: what rounding in a feed and in a protocol may take."""
LEAST_OF_SHOWN_BPS: Final = 5_000
"""What never counts brings at least half of what people were shown, and costs at most twice of it: its price moves far
in the minutes of an average, and it is neither given away nor bought at any price.
"""


def judge_arrival(call: HookCall, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    """What leaves positions, or is borrowed, arrives in the wallet or in other positions.

    Worth at our feeds, less what slippage and price impact may take; a token that cannot be priced in base units. What
    is paid for something that never counts is held against what people are shown of it. Not judged of what the plan
    pays to others by name: that is a payment. Raises what the chain raises.
    """
    if not returns_to_golem(call):
        return None
    value_of, most_lost_bps = price_on(chain), call.limits.max_slippage_bps + call.limits.max_price_impact_bps
    moved, claims = list_moved(simulation), list_claim_tokens(simulation)
    net: dict[str, int] = defaultdict(int)
    out: dict[str, int] = defaultdict(int)
    shown, bought = _sum_sold(moved, value_of), _sum_bought(moved, value_of)
    for each in moved:
        for token, change in each.list_changes().items():
            net[token] += change
            out[token] += max(0, -change)
    if not any(raw > DUST for raw in out.values()) and not shown and bought is None:
        return None
    # What is one of a kind (the NFT of a position that is opened) is counted, and is worth what its position tells.
    items = {seen.token for seen in simulation.unexpected_transfers if seen.token_id is not None}
    for token, delta in simulation.deltas.items():
        if token not in claims and token not in items:
            net[token] += delta
    left = arrived = 0
    for token, raw in net.items():
        try:
            worth = value_of(token, raw)
            left, arrived = left + value_of(token, out[token]), arrived + worth
        except (PriceUnavailable, PriceStale):
            if raw < -DUST - out[token] * most_lost_bps // BPS:
                return _vanished(f"{-raw} base units of {token}", f"{out[token]} base units")
    most_lost = VANISHES_UNSEEN + left * most_lost_bps // BPS
    if bought is None and arrived < -most_lost:
        return _vanished(format_micro_usd(-arrived), format_micro_usd(left))
    if bought is not None and arrived < -most_lost - bought * BPS // LEAST_OF_SHOWN_BPS:
        return _bought_dearly(-arrived, bought)
    return _sold_for_nothing(arrived, shown) if shown else None


def _sold_for_nothing(arrived: int, shown: int) -> Reject | None:
    """What never counts brings its least part of what people were shown."""
    if arrived >= shown * LEAST_OF_SHOWN_BPS // BPS - VANISHES_UNSEEN:
        return None
    brings = format_micro_usd(max(0, arrived))
    return Reject(
        rule="simulator.sold_for_nothing",
        reason=f"what is shown at {format_micro_usd(shown)} and never counted would leave for {brings}",
        observed=brings,
        limit=f"at least {format_bps(LEAST_OF_SHOWN_BPS)} of what it is shown at",
        would_pass="a sale at a better price, or once the average price has followed the market",
        error=SimulationFailed,
    )


def _sum_sold(moved: Sequence[Moved], value_of: ValueOf) -> int:
    """Micro-USD at which people were shown the part that leaves of what never counts. Raises nothing."""
    total = 0
    for each in moved:
        changes = each.list_uncounted_changes(is_paid_for=True)
        for held in each.before.uncounted if each.before is not None else ():
            total += _show(held, -changes.get(held.token, 0), value_of)
    return total


def _sum_bought(moved: Sequence[Moved], value_of: ValueOf) -> int | None:
    """Micro-USD at which people are shown what comes in of what never counts; None where nothing does."""
    total, is_any = 0, False
    for each in moved:
        changes = each.list_uncounted_changes(is_paid_for=True)
        for held in each.after.uncounted if each.after is not None else ():
            is_any = is_any or changes.get(held.token, 0) > 0
            total += _show(held, changes.get(held.token, 0), value_of)
    return total if is_any else None


def _show(held: Uncounted, raw: int, value_of: ValueOf) -> int:
    """Micro-USD at which so much of it is shown: nothing of a negative amount, and of what has no price."""
    part = min(max(0, raw), held.raw)
    if held.market is None or not part:
        return 0
    try:
        return value_of(held.market.token, held.market.raw) * part // held.raw
    except (PriceUnavailable, PriceStale):
        return 0


def _bought_dearly(paid: int, shown: int) -> Reject:
    return Reject(
        rule="simulator.bought_dearly",
        reason=f"{format_micro_usd(paid)} would be paid for what is shown at {format_micro_usd(shown)}, uncounted",
        observed=format_micro_usd(paid),
        limit=f"what is shown is at least {format_bps(LEAST_OF_SHOWN_BPS)} of what is paid",
        would_pass="a purchase nearer to the market's price",
        error=SimulationFailed,
    )


def _vanished(lost: str, left: str) -> Reject:
    return Reject(
        rule="simulator.value_vanishes",
        reason=f"{left} would leave the golem's positions, and {lost} of it arrives nowhere that is the golem's",
        observed=lost,
        limit="all of it, less slippage and price impact",
        would_pass="calls that pay the golem itself",
        error=SimulationFailed,
    )
