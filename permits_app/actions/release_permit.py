"""A permit that waited goes back to CREATED: hooks and simulation judge its stored plan on the newest block.

The tool is not asked again; what is signed is what was simulated, approved and announced. Outside its bounds the plan
is refused, and a fee that no longer fits its caps is too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from archetypes_app.models import Golem
from archetypes_app.toolset import has_tool, resolve_toolset
from permits_app.actions.make_permit_call import make_permit_call
from permits_app.errors import PermitNotCommittable, PlanTampered, PolicyChanged
from permits_app.limits import ledger
from permits_app.limits.policy import read_policy
from permits_app.models import ActionPermit, ChangeRequest
from permits_app.models.permit import PermitStatus
from permits_app.permits import lifecycle
from permits_app.permits.permit_hashes import hash_plan, hash_simulation
from permits_app.permits.permit_lifetime import PERMIT_TICKS, cut_to_signed, life_of
from permits_app.safety import hook_chain
from permits_app.safety.gas_budget import check_fee_fits, check_gas_fits
from permits_app.safety.hook import HookCall
from permits_app.safety.hook_chain import HookReport
from permits_app.safety.risk_tier_of_call import check_tier_holds
from tools_app.core.json_types import JsonObject
from tools_app.simulation.engine import SimulationResult


@dataclass(frozen=True, slots=True)
class FreshJudgement:
    """What hooks 1 to 6 said of the stored plan now."""

    decisions: tuple[dict[str, object], ...]
    simulation: SimulationResult | None


def judge_stored_plan(*, permit: ActionPermit, golem: Golem, now: datetime) -> tuple[HookCall, HookReport]:
    """The stored plan before hooks 1 to 6 at the newest block. Reads the chain; no transaction may be open. Raises what
    the hooks raise, PolicyChanged, PlanTampered.
    """
    if hash_plan(permit) != permit.plan_hash:
        raise PlanTampered("the stored plan does not match its hash", permit_id=str(permit.pk))
    toolset = resolve_toolset(golem)
    policy = read_policy(golem=golem, toolset=toolset)
    if policy.hash != permit.policy_hash or not has_tool(golem, toolset, permit.tool_name):
        raise PolicyChanged("limits, cage, phase or tools changed since the preview", permit_id=str(permit.pk))
    call = make_permit_call(permit=permit, golem=golem, toolset=toolset, now=now)
    check_tier_holds(call=call, permit=permit)
    return call, hook_chain.recheck(call, simulate=True)


def resimulate(*, permit: ActionPermit, golem: Golem, now: datetime) -> FreshJudgement:
    """Judge the stored plan, with the fee and the gas it may have. Reads the chain; no transaction may be open. Raises
    what the hooks raise, PolicyChanged, PlanTampered.
    """
    call, report = judge_stored_plan(permit=permit, golem=golem, now=now)
    if call.chain is not None:
        check_fee_fits(permit=permit, chain=call.chain)
    if report.simulation is not None and call.chain is not None and call.plan is not None:
        outcomes = call.sent_by.outcomes_of_sent(report.simulation.calls)
        check_gas_fits(
            permit=permit,
            chain=call.chain,
            calls=call.sent_calls,
            outcomes=outcomes,
            has_run_within=report.simulation.terms is not None,
        )
    return FreshJudgement(report.decisions, report.simulation)


def open_again(
    *, permit: ActionPermit, fresh: FreshJudgement, leaving: PermitStatus, actor: str, now: datetime
) -> None:
    """Back to CREATED with a fresh life and the new simulation; joins the caller's transaction.

    Raises PermitNotCommittable when the permit moved on meanwhile.
    """
    columns: JsonObject = {
        "expires_at": cut_to_signed(permit, now + life_of(golem=permit.golem)),
        "expires_at_tick": Golem.objects.values_list("heartbeat_tick", flat=True).get(pk=permit.golem_id)
        + PERMIT_TICKS,
        "hook_decisions": list(fresh.decisions) or permit.hook_decisions,
    }
    if fresh.simulation is not None:
        columns |= {
            "simulation": fresh.simulation.as_dict(),
            "simulation_hash": hash_simulation(plan_hash=permit.plan_hash, simulation=fresh.simulation),
            "block_number": fresh.simulation.block.number,
            "block_hash": fresh.simulation.block.hash,
        }
    done = lifecycle.transition(
        permit_id=permit.pk, leaving=leaving, to=PermitStatus.CREATED, actor=actor, now=now, **columns
    )
    if not done:
        raise PermitNotCommittable("the permit moved on while it was judged again", permit_id=str(permit.pk))


def end_waiting_permit(
    request: ChangeRequest,
    to: PermitStatus,
    actor: str,
    reason: str,
    now: datetime,
    *,
    problem: Mapping[str, object] | None = None,
) -> None:
    """End the permit of a request that will not be executed and give back what it reserved. `problem` is the refusal
    as its agent is told it.
    """
    if request.permit_id is None:
        return
    done = lifecycle.transition(
        permit_id=request.permit_id,
        leaving=PermitStatus.AWAITING_APPROVAL,
        to=to,
        actor=actor,
        now=now,
        reason=reason,
        finished_at=now,
        problem=dict(problem or {}),
    )
    if done:
        ledger.release(permit_id=request.permit_id)
