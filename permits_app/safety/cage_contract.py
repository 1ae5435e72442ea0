"""Hook 1's part for a golem whose cage is a contract: it refuses behind a stale mirror, and what the cage would refuse.

The contract has the last word; this only says it before anything is signed.
"""

from __future__ import annotations

from permits_app.errors import CageMirrorBehind, CageWouldRefuse
from permits_app.hook_rejection import Reject
from permits_app.models import CageMirror
from permits_app.policy_cage.mirror import is_behind
from permits_app.policy_cage.preflight import predict
from permits_app.policy_cage.preflight_simulation import observe_batch
from permits_app.policy_cage.preflight_types import Refusal
from permits_app.policy_cage.roles import find_payout, list_payees, predict_payout
from permits_app.policy_cage.state import CageState
from permits_app.safety.hook import HookCall
from tools_app.core.clock import Deadline
from tools_app.core.errors import Recovery
from tools_app.toolkit.enums import EngineSetting

PREFLIGHT_BUDGET_MS = 8_000


def judge_contract(call: HookCall) -> Reject | None:
    """None without a contract, or when it would let the plan through.

    Raises SimulationUnavailable, SimulationTimeout, SimulationDisagrees, and what a node raises.
    """
    mirror: CageMirror | None = getattr(call.cage, "mirror", None)
    if mirror is None or call.plan is None:
        return None
    if is_behind(mirror, now=call.now):
        return Reject(
            rule="policy_cage.mirror_behind",
            reason=f"the golem's cage was last seen at block {mirror.block_number}"
            + (f": {mirror.problem}" if mirror.problem else ""),
            observed=f"seen {mirror.synced_at.isoformat()}" if mirror.synced_at else "never seen",
            limit="a cage seen at the newest block",
            would_pass="the same action once the mirror has caught up",
            error=CageMirrorBehind,
            data={"block_number": str(mirror.block_number), "contract": mirror.contract},
        )
    # A plain account, and another than the cage's, act by themselves: the contract's rules are known, and not between.
    if not mirror.is_enforced or mirror.account != call.view.address:
        return None
    if call.plan.promise is not None:
        return Reject(
            rule="policy_cage.promise",
            reason=f"the Safe {mirror.account} stands behind the cage {mirror.contract}, which holds calls to its rules"
            " and no signatures; only the Safe's owners sign for it",
            observed="a promise, which is signed and not sent",
            limit="calls that the cage makes",
            would_pass="the same action of a golem whose key is its account, or the only owner of its Safe; or the"
            " Safe's owners sign it themselves",
            data={"recovery": Recovery.ASK_OWNER, "contract": mirror.contract},
        )
    if call.chain is None or call.chain.chain_id != mirror.chain_id:
        return Reject(
            rule="policy_cage.other_chain",
            reason=f"the golem's cage is on chain {mirror.chain_id}",
            observed="no chain" if call.chain is None else f"chain {call.chain.chain_id}",
            limit=f"chain {mirror.chain_id}",
            would_pass="the same action on the chain of the cage",
        )
    state = CageState.from_dict(mirror.state)
    observed = observe_batch(
        state=state,
        calls=call.plan.calls,
        chain=call.chain,
        now=int(call.now.timestamp()),
        deadline=Deadline.after_ms(PREFLIGHT_BUDGET_MS),
        setting=EngineSetting(call.golem.simulation_engine),
    )
    # As the golem's route carries them.
    paid = find_payout(call.plan.calls, list_payees(state))
    answer = (
        predict(state, call.plan.calls, observed, sender=state.session.key)
        if paid is None
        else predict_payout(state, paid, observed, sender=state.session.key)
    )
    return describe_refusal(answer, mirror) if isinstance(answer, Refusal) else None


def describe_refusal(refusal: Refusal, mirror: CageMirror) -> Reject:
    """The contract's error with its values; the last two are the observed and the allowed one where it has both."""
    values = [f"0x{value.hex()}" if isinstance(value, bytes) else str(value) for value in refusal.args]
    observed, limit = values[-2:] if len(values) >= 2 else (", ".join(values), "")
    return Reject(
        rule="policy_cage.contract",
        reason=f"the cage {mirror.contract} would refuse: {refusal.name}({', '.join(values)})",
        observed=observed,
        limit=limit or "what the owner set on chain",
        would_pass="what stays inside the rules of the contract",
        error=CageWouldRefuse,
        data={"error": refusal.name, "values": values, "contract": mirror.contract},
    )
