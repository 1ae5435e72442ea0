"""Hook 5 for a plan that sends nothing: what would be signed is read whole, by the protocol whose contract reads it.

Nothing runs, because nobody can carry a promise out before it is signed. So only what is known word by word is signed:
typed data of no known contract, of another chain, with a field nobody accounts for, without an end, or for an account
whose signature the golem's key cannot make alone is refused. A permit is refused by its name, whoever reads it: it lets
somebody take and brings nothing, and most of them nobody can take back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from permits_app.errors import SimulationFailed
from permits_app.hook_rejection import Reject
from permits_app.safety.hook import HookCall
from permits_app.safety.promise_signer import judge_safe_says_yes, judge_who_signs
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.standards.signed_order_tracking import find_reader, is_witnessed_order
from tools_app.standards.signed_rights import name_signed_right
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.enums import LEAVING, ActionClass
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.typed_data import TypedData

LONGEST_SECONDS: Final = 7 * 24 * 3_600
"""A promise that could be taken later than this is refused: nobody watches a price for so long."""


def judge_promise(
    call: HookCall,
    plan: TxPlan,
    typed: TypedData,
    chain: ChainReader,
    *,
    run: Callable[[SimulationRequest], SimulationResult],
) -> Reject | None:
    """What speaks against signing `typed`; `run` simulates. Raises what the chain and `run` raise."""
    route = call.sent_by
    if plan.calls:
        return _refuse("alone", "a plan both sends and promises", f"{len(plan.calls)} calls", "a promise of its own")
    if (other := judge_who_signs(route)) is not None:
        return other
    if call.action_class in LEAVING:
        # Leaving passes nearly every limit, so only what was measured to leave is it; nothing is measured here.
        raising = ", ".join(each.value for each in ActionClass if each not in LEAVING)
        return _refuse("class", "a promise says that it only leaves a position", call.action_class.value, raising)
    given = name_signed_right(typed) if not is_witnessed_order(typed) else None
    if given is not None:
        wanted = "an approval of the exact amount, in the plan that spends it"
        return _refuse("permit", f"{given.label} lets others take and brings nothing; {given.end}", given.name, wanted)
    owner = find_reader(typed)
    if owner is None or owner.promises is None or typed.chain_id != plan.chain_id:
        where = f"{typed.contract} on chain {typed.chain_id}"
        return _refuse("unknown", f"nobody here reads what is signed for {where}", where, "typed data that is known")
    effects = Effects()
    try:
        hash_typed_data(typed)
        owner.promises.read(typed, account=route.account, chain=chain, into=effects)
    except (UnknownCall, KeyError, TypeError, ValueError) as error:
        return _refuse("unknown", f"what would be signed cannot be read: {error}", str(error), "every field known")
    now = max(int(call.now.timestamp()), chain.block.timestamp)
    ends = effects.deadlines
    if plan.deadline is None or not ends or any(each != plan.deadline for each in ends):
        return _refuse("deadline", "the promise says another end than the plan", str(ends), str(plan.deadline))
    if plan.deadline > now + LONGEST_SECONDS:
        most = f"at most {LONGEST_SECONDS} s"
        return _refuse("deadline", "the promise could be taken for too long", f"{plan.deadline - now} s", most)
    if route.acts_for:
        return judge_safe_says_yes(typed, route=route, block=chain.block, run=run)
    return None


def _refuse(rule: str, reason: str, observed: str, limit: str) -> Reject:
    return Reject(
        rule=f"simulator.promise_{rule}",
        reason=reason,
        observed=observed,
        limit=limit,
        would_pass=limit,
        error=SimulationFailed,
    )
