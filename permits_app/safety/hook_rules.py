"""The hooks of pools: what the plan says of them is what its bytes reach, and each of them has code.

A hook is a stranger's code that runs with every use of its pool. The tier, the owner's list and what the owner reads go
by what the plan says; so that is held to the calls themselves, read by who did not make them.
"""

from __future__ import annotations

from permits_app.errors import HallucinationDetected
from permits_app.hook_rejection import Reject
from permits_app.safety.decoding import read_calls
from tools_app.standards.loan_callback import unfold
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import UnknownCall
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.protocol import SHELF


def reaches_hooks(plan: TxPlan) -> bool:
    """Whether a call of the plan goes to a contract whose pools may run hooks."""
    running = {address for address, each in SHELF.contracts_on(plan.chain_id) if each.runs_hooks}
    return any(call.to in running for call in unfold(plan.calls))


def judge_pool_hooks(*, plan: TxPlan, chain: ChainReader, account: str) -> Reject | None:
    """The calls reach other hooks than the plan says, or cannot be read for them. Raises the node errors."""
    if not plan.hooks and not reaches_hooks(plan):
        return None
    try:
        found = frozenset(read_calls(plan.calls, account=account, chain=chain).hooks)
    except UnknownCall as error:
        return _refuse(f"the calls cannot be read for the hooks they reach: {error}", observed="calls nobody can read")
    said = frozenset(plan.hooks)
    if found == said:
        return None
    first = min(found ^ said)
    what = "the calls reach it and the plan does not say so" if first in found else "the plan says so and no call does"
    return _refuse(
        f"the hook {first.address} of pool {first.pool} {first.words}: {what}", observed=f"hook {first.address}"
    )


def _refuse(reason: str, *, observed: str) -> Reject:
    return Reject(
        rule="hallucination_detector.pool_hook",
        reason=reason,
        observed=observed,
        limit="the hooks that the plan says",
        would_pass="a plan that names every hook of the pools its calls reach",
        error=HallucinationDetected,
    )
