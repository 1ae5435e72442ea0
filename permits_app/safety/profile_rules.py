"""What a conservative profile refuses of one call beyond the tools it lacks: several pools at once, narrow ranges.

Part of hook 1. The tools themselves are left out by `archetypes_app/toolset.py`.
"""

from __future__ import annotations

from archetypes_app.profiles import CONSERVATIVE_LEAST_TICKS
from permits_app.hook_rejection import Reject
from permits_app.safety.hook import HookCall
from tools_app.toolkit.enums import LEAVING
from tools_app.toolkit.plan import TxPlan


def judge_profile(call: HookCall, *, is_conservative: bool) -> Reject | None:
    """The conservative rules, for a golem that has such a profile; leaving a position is never stopped."""
    if call.plan is None or call.action_class in LEAVING or not is_conservative:
        return None
    return judge_hops(call.plan) or judge_range(call.plan)


def judge_hops(plan: TxPlan) -> Reject | None:
    """A swap through more than one pool."""
    route = plan.details.get("route")
    hops = len(route) if isinstance(route, list | tuple) else 1
    if hops <= 1:
        return None
    return Reject(
        rule="policy_cage.conservative_hops",
        reason=f"a conservative profile swaps through one pool; this route has {hops}",
        observed=f"{hops} pools",
        limit="1 pool",
        would_pass="a pair with a pool of its own",
    )


def judge_range(plan: TxPlan) -> Reject | None:
    """A liquidity range under fifty ticks."""
    lower, upper = plan.details.get("tick_lower"), plan.details.get("tick_upper")
    if lower is None or upper is None:
        return None
    ticks = int(upper) - int(lower)
    if ticks >= CONSERVATIVE_LEAST_TICKS:
        return None
    return Reject(
        rule="policy_cage.conservative_range",
        reason=f"a conservative profile opens no range under {CONSERVATIVE_LEAST_TICKS} ticks; this one has {ticks}",
        observed=f"{ticks} ticks",
        limit=f"at least {CONSERVATIVE_LEAST_TICKS} ticks",
        would_pass=f"a range of {CONSERVATIVE_LEAST_TICKS} ticks or more",
    )
