"""All that is kept of one asset at one protocol, and all that believes one oracle, as the simulation measured it.

Hook 1 judges the share that a plan says it leaves. A plan that says less than its calls do would pass it by; what they
put in beyond that is added here, once it was measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from permits_app.hook_rejection import Reject
from permits_app.safety.assets import RAISING, find_wrapped_native
from permits_app.safety.holding_rules import judge_failures, judge_share
from permits_app.safety.hook import HookCall
from permits_app.safety.hooks.policy_cage import judge_dependences
from permits_app.safety.position_rules import DUST, Moved, list_moved, price_on
from permits_app.safety.predicted_holdings import DEBT, Dependent, Share
from tools_app.core.units import BPS
from tools_app.portfolio.health import ValueOf
from tools_app.portfolio.issuer_and_bridge_risk import Dependence, DependenceKind, Failure, depends_on_oracles
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Position
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


def judge_silent_oracles(moved: Sequence[Moved]) -> Reject | None:
    """More goes into a position whose oracle gives no price now."""
    for each in moved:
        after = each.after
        if after is None or not after.silent_oracles or not any(raw > 0 for raw in each.list_changes().values()):
            continue
        failures = [
            Failure(Dependence(DependenceKind.ORACLE, f"{after.ref.chain_id}:{address}"), f"{after.label}: no price")
            for address in sorted(after.silent_oracles)
        ]
        return judge_failures(failures=failures, entered=frozenset(each.dependence for each in failures))
    return None


def judge_measured_oracles(call: HookCall, simulation: SimulationResult, chain: ChainReader) -> Reject | None:
    """What believes one oracle is too much once the calls ran: which one a position believes that is not there before,
    only the simulation tells. Raises the feeds' errors.
    """
    portfolio = call.records.portfolio if call.records is not None else None
    if portfolio is None or call.action_class not in RAISING:
        return None
    moved = list_moved(simulation)
    if (silent := judge_silent_oracles(moved)) is not None or call.cage.max_oracle_bps >= BPS:
        return silent
    value_of = price_on(chain)
    names = sorted({each.name for one in moved if one.after is not None for each in depends_on_oracles(one.after)})
    known = {each.name: each.before for each in portfolio.depending if each.kind == DependenceKind.ORACLE}
    found = []
    for name in names:
        before, after = (
            sum(_worth_believing(position, name, value_of) for position in positions)
            for positions in ([one.before for one in moved], [one.after for one in moved])
        )
        # Positions that the calls leave alone stand in what was known before.
        others = max(0, known.get(name, 0) - before)
        found.append(Dependent(DependenceKind.ORACLE.value, name, others + before, others + after))
    return judge_dependences(call, found, total_micro_usd=portfolio.total_before)


def _worth_believing(position: Position | None, name: str, value_of: ValueOf) -> int:
    if position is None or name not in {each.name for each in depends_on_oracles(position)}:
        return 0
    return sum(value_of(leg.token, leg.raw) for leg in position.legs if leg.raw > 0)


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
