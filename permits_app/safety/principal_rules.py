"""Hook 5's part for others' money: what really left a principal, measured in the simulation of the exact bytes.

A contract through which golems act for others may move the money of everybody who trusted it. So whatever a call to
one moves of anybody in the golem's book is held to the plan, named or not, coins too.
"""

from __future__ import annotations

from collections import defaultdict

from permits_app.errors import SimulationFailed
from permits_app.hook_rejection import Reject
from permits_app.models import ReceivedRight
from permits_app.safety.format_rule_figures import format_amount
from permits_app.safety.hook import HookCall
from tools_app.simulation.engine import SimulationResult
from tools_app.standards.token_logs import read_transfers
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE


def judge_principals(call: HookCall, plan: TxPlan, simulation: SimulationResult) -> Reject | None:
    """More of a principal's money moves than the plan says, or of somebody in the book of whom it says nothing."""
    promised: dict[tuple[str, str], int] = defaultdict(int)
    for flow in plan.principals:
        promised[flow.principal, flow.token.address] += flow.most
    tokens = {token.address: token for token in plan.tokens}
    for (principal, address), most in promised.items():
        left = -simulation.delta_of(principal, address)
        if left > most:
            token = tokens[address]
            return _refuse(principal, format_amount(left, token), f"at most {format_amount(most, token)}")
    for principal in {each.principal for each in plan.principals}:
        coins = -simulation.delta_of(principal, NATIVE)
        if coins > promised.get((principal, NATIVE), 0):
            return _refuse(principal, f"{coins} wei", "no coin")
    known = _list_known(call, plan)
    for outcome in simulation.calls:
        for log in outcome.logs:
            for seen in read_transfers(log):
                if seen.sender in known and (seen.sender, seen.token) not in promised:
                    return _refuse(seen.sender, f"{seen.amount} base units of {seen.token}", "what the plan names")
    return None


def _list_known(call: HookCall, plan: TxPlan) -> frozenset[str]:
    """Principals in the golem's book, where the plan calls a contract through which they let it act."""
    named = {flow.principal for flow in plan.principals}
    owners = (SHELF.of_contract(plan.chain_id, address) for address in plan.contracts)
    if not any(owner is not None and owner.received is not None for owner in owners):
        return frozenset(named)
    rows = ReceivedRight.objects.filter(golem_id=call.golem.pk, chain_id=plan.chain_id)
    return frozenset({*named, *rows.values_list("principal", flat=True).distinct()})


def _refuse(principal: str, moved: str, limit: str) -> Reject:
    return Reject(
        rule="simulator.others_money",
        reason=f"{moved} of {principal}, which is not the golem, would be moved, and the plan does not say so",
        observed=moved,
        limit=limit,
        would_pass="a plan that names whose money it moves, and how much at most",
        error=SimulationFailed,
        data={"principal": principal},
    )
