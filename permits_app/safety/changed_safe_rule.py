"""Hook 1's part for a golem that acts through a Safe: it refuses where more can happen there than its owners agreed.

A module moves whatever it likes, a guard refuses what owners sign, a handler signs for the Safe, and another code may
do anything. So the Safe is read at the block of the call, at the preview and at the commit. Leaving goes on, as long as
the Safe runs the code it ran: what a stranger can do there, waiting makes no smaller.
"""

from __future__ import annotations

from permits_app.custody.agreed_safe import find_agreed_safe
from permits_app.custody.signing_route import Carrier
from permits_app.errors import SafeNotAsAgreed
from permits_app.hook_rejection import Reject
from permits_app.policy_cage.safe_watch import read_safe_state, say_change
from permits_app.safety.hook import HookCall
from permits_app.safety.risk_tier_of_call import returns_to_golem
from tools_app.toolkit.enums import LEAVING

_CARRIERS = frozenset({Carrier.CAGE, Carrier.SAFE, Carrier.OWNERS})


def judge_agreed_safe(call: HookCall) -> Reject | None:
    """None where the account is no Safe, or one as its owners agreed. Raises what a node raises."""
    if call.plan is None or call.chain is None:
        return None
    route = call.sent_by
    agreed = find_agreed_safe(call.golem) if route.carrier in _CARRIERS else None
    if agreed is None or agreed.account != route.account:
        return None
    state = read_safe_state(call.chain, route.account)
    if state is None:
        lines, has_other_code = [f"{route.account} does not answer as a Safe does"], True
    else:
        found = agreed.list_unagreed(state)
        lines, has_other_code = [say_change(each) for each in found], any(each.what == "code" for each in found)
    if not lines or (call.action_class in LEAVING and returns_to_golem(call) and not has_other_code):
        return None
    return Reject(
        rule="policy_cage.safe_not_agreed",
        reason=f"the Safe {route.account} is not as its owners agreed: {'; '.join(lines)}",
        observed=lines[0],
        limit="what its owners agreed to, the golem's cage and the loan callback of this product",
        would_pass="what leaves positions for the Safe; the same action once an owner removed this from the Safe, or"
        " took note of it on the golem's page of the Safe",
        error=SafeNotAsAgreed,
        data={"account": route.account, "lines": lines},
    )
