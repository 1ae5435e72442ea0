"""Health between the calls of a plan, measured: a plan that ends well may not pass through danger on its way.

Where each call is a transaction of its own, the plan may stop after any of them: the next is not mined, or reverts. So
every state that it passes through is held to a floor, each simulated as the calls up to it. Where one transaction
carries all calls nothing can stop between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from permits_app.custody.signing_route import Carrier, SigningRoute
from permits_app.hook_rejection import Reject
from permits_app.safety.format_rule_figures import format_ratio
from permits_app.safety.hook import HookCall
from permits_app.safety.position_rules import list_moved, price_on, refuse_unpriced
from tools_app.chain.feeds import PriceStale, PriceUnavailable
from tools_app.portfolio.health import ValueOf, measure_health
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.toolkit.enums import LEAVING
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import HealthTooLow
from tools_app.toolkit.protocol import SHELF, Trait

LIQUIDATION_BPS: Final = 10_000
"""Cover over debt at which lenders liquidate."""
ROOM_ON_THE_WAY_BPS: Final = 1_500
"""Of the room above liquidation a way out may use three quarters, counted of this much at most."""


def judge_steps(
    *,
    call: HookCall,
    request: SimulationRequest,
    run: Callable[[SimulationRequest], SimulationResult],
) -> Reject | None:
    """A debt would stand on too little between two calls. `request` asks for all of them, which were judged; `run`
    simulates the first few. Raises what `run` raises.
    """
    plan, chain = call.plan, call.chain
    if plan is None or chain is None:
        return None
    try:
        return judge_way(
            plan=plan,
            route=call.sent_by,
            request=request,
            run=run,
            floor_bps=call.cage.min_health_bps,
            value_of=price_on(chain),
            is_raising=call.action_class not in LEAVING,
        )
    except (PriceUnavailable, PriceStale) as error:
        return refuse_unpriced(
            error,
            rule="simulator.health_unknown",
            what="what a debt stands on between two calls cannot be priced",
            limit="a fresh price of everything owed and of its cover",
        )


def judge_way(
    *,
    plan: TxPlan,
    route: SigningRoute,
    request: SimulationRequest,
    run: Callable[[SimulationRequest], SimulationResult],
    floor_bps: int,
    value_of: ValueOf,
    is_raising: bool,
) -> Reject | None:
    """The same, of what signs by `route` and leaves a debt with `floor_bps`. Raises what `run` and `value_of` raise."""
    if route.carrier is not Carrier.NONE or route.waits_for_owners:
        return None
    for cut in _list_cuts(plan):
        passed = run(replace(request, calls=request.calls[:cut], terms=None, gauges=()))
        refusal = _judge_state(plan, passed, cut, floor_bps, value_of, is_raising=is_raising)
        if refusal is not None:
            return refusal
    return None


def least_on_the_way(*, before_bps: int | None, floor_bps: int, is_raising: bool) -> int:
    """The least health between two calls: the floor for what raises risk; for a way out, a quarter of the room there
    was above liquidation. None before: there was no debt.
    """
    if is_raising or before_bps is None:
        return floor_bps
    room = min(max(0, before_bps - LIQUIDATION_BPS), ROOM_ON_THE_WAY_BPS)
    return LIQUIDATION_BPS + room // 4


def _list_cuts(plan: TxPlan) -> list[int]:
    """After which calls to look: those at protocols that know debts, but for the last, which the whole run tells."""
    found = []
    for index, each in enumerate(plan.calls[:-1], 1):
        protocol = SHELF.of_contract(plan.chain_id, each.to)
        if protocol is not None and Trait.LEVERAGE in protocol.traits:
            found.append(index)
    return found


def _judge_state(
    plan: TxPlan, passed: SimulationResult, cut: int, floor_bps: int, value_of: ValueOf, *, is_raising: bool
) -> Reject | None:
    for each in list_moved(passed):
        health = measure_health(each.after, value_of)
        if health is None or not each.list_changes():
            continue
        before = measure_health(each.before, value_of)
        if not is_raising and before is not None and health >= before:
            # However ill it is: this made it no worse.
            continue
        least = least_on_the_way(before_bps=before, floor_bps=floor_bps, is_raising=is_raising)
        if health < least:
            return Reject(
                rule="simulator.health_on_the_way",
                reason=(
                    f"after call {cut} of {len(plan.calls)} the health of {each.ref} would be {format_ratio(health)},"
                    f" whatever comes after it; at least {format_ratio(least)} is asked at every step"
                ),
                observed=format_ratio(health),
                limit=f"at least {format_ratio(least)} after every call",
                would_pass="smaller steps, or an account that makes all calls in one transaction",
                error=HealthTooLow,
                data={"position": str(each.ref), "health_bps": str(health), "least_health_bps": str(least)},
            )
    return None
