"""Rights that no log tells, read before and after a plan that speaks of them: none may be left that was not there.

Such a right is given by a call of the account itself, so the plan's calls name every one that it can give.
"""

from __future__ import annotations

from permits_app.errors import SimulationFailed
from permits_app.hook_rejection import Reject
from tools_app.portfolio.rights_without_logs import gauge_given_rights
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.positions import Gauge


def gauge_rights(*, plan: TxPlan, account: str) -> tuple[Gauge, ...]:
    """What is asked for besides the plan's own gauges, after them and in this order."""
    calls = ((call.to, call.data) for call in plan.calls)
    return gauge_given_rights(chain_id=plan.chain_id, account=account, calls=calls)


def judge_asked_rights(*, plan: TxPlan, simulation: SimulationResult) -> Reject | None:
    """A right is left behind. `simulation` measured what `gauge_rights` asks for."""
    rights, own = gauge_rights(plan=plan, account=simulation.account), len(plan.gauges)
    measured = zip(rights, simulation.gauges_before[own:], simulation.gauges_after[own:], strict=True)
    for right, before, after in measured:
        if after > before:
            return Reject(
                rule="simulator.right_left",
                reason=f"a right would be left that no log tells ({right.name})",
                observed=str(after),
                limit=str(before),
                would_pass="a plan that takes the right back with its last call",
                error=SimulationFailed,
                data={"right": right.name, "contract": right.to},
            )
    return None
