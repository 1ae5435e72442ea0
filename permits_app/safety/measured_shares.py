"""All that is kept of one asset at one protocol, as the simulation measured it.

Hook 1 judges the share that a plan says it leaves. A plan that says less than its calls do would pass it by; what they
put in beyond that is added here, once it was measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from permits_app.rejection import Reject
from permits_app.safety.assets import RAISING, find_wrapped_native
from permits_app.safety.foresight import DEBT, Share
from permits_app.safety.holding_rules import judge_share
from permits_app.safety.hook import HookCall
from permits_app.safety.position_rules import DUST, list_moved, price_on
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import NATIVE


def judge_measured_shares(call: HookCall, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    """More was put into a protocol than the plan says, and with it the share is too large. Raises the feeds' errors."""
    portfolio = call.records.portfolio if call.records is not None else None
    if call.plan is None or portfolio is None or call.action_class not in RAISING:
        return None
    value_of, wrapped = price_on(chain), find_wrapped_native(chain)
    known = {(share.protocol, share.asset): share for share in portfolio.shares}
    for (protocol, token), raw in sorted(_list_unsaid(call.plan, simulation).items()):
        asset = wrapped if token == NATIVE and wrapped is not None else token
        share = known.get((protocol, asset), Share(protocol, asset, 0, 0))
        refusal = judge_share(
            share=Share(protocol, asset, share.before, share.after + value_of(token, raw)),
            symbol=portfolio.names.get(asset, asset),
            total_micro_usd=portfolio.total_before,
            most_bps=call.cage.max_position_bps,
        )
        if refusal is not None:
            return refusal
    return None


def _list_unsaid(plan: TxPlan, simulation: SimulationResult) -> Mapping[tuple[str, str], int]:
    """Base units by protocol and token by which holdings grew beyond what the plan expects."""
    grown: dict[tuple[str, str], int] = defaultdict(int)
    for moved in list_moved(simulation):
        for position, sign in ((moved.before, -1), (moved.after, 1)):
            for leg in position.legs if position is not None else ():
                if leg.raw > 0:
                    grown[moved.ref.protocol, leg.token] += sign * leg.raw
    for change in plan.changes:
        if change.counts and change.kind != DEBT and (change.protocol, change.token) in grown:
            grown[change.protocol, change.token] -= max(0, change.expected)
    return {key: raw for key, raw in grown.items() if raw > DUST}
