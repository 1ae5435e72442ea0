"""recheck_permit: judge a permit once more before it is signed, by its hashes, its policy and the hooks."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from archetypes_app.toolset import has_tool, resolve_toolset
from permits_app.actions.make_permit_call import make_permit_call
from permits_app.errors import (
    CommitNotSigned,
    PlanTampered,
    PolicyChanged,
)
from permits_app.limits.policy import read_policy
from permits_app.models import ActionPermit
from permits_app.permits.permit_hashes import hash_plan, hash_simulation
from permits_app.safety import hook_chain
from permits_app.safety.gas_budget import check_gas_fits
from permits_app.safety.hook import HookCall
from permits_app.safety.load_call_records import RecordReader, records_of
from permits_app.safety.risk_tier_of_call import check_tier_holds
from tools_app.core import clock
from tools_app.core.single_row_sql import change_rows
from tools_app.toolkit.tooldef import LocalWriteTool, WriteTool


def recheck_permit(permit: ActionPermit, tool: WriteTool | LocalWriteTool, now: datetime) -> HookCall:
    """Run the hooks again on the stored plan, valued at the prices of now; hook 5 too when the block moved.

    Raises what they raise.
    """
    if hash_plan(permit) != permit.plan_hash:
        raise PlanTampered("the stored plan does not match its hash", permit_id=str(permit.pk))
    golem = permit.golem
    toolset = resolve_toolset(golem)
    policy = read_policy(golem=golem, toolset=toolset)
    if policy.hash != permit.policy_hash or not has_tool(golem, toolset, tool.name):
        raise PolicyChanged("limits, cage, phase or tools changed since the preview", permit_id=str(permit.pk))
    if tool.schema_version != permit.schema_version:
        raise PolicyChanged("the tool's schema changed since the preview", permit_id=str(permit.pk))
    call = make_permit_call(permit=permit, golem=golem, toolset=toolset, policy=policy, now=now)
    check_tier_holds(call=call, permit=permit)
    if call.chain is None:
        hook_chain.recheck(call, simulate=True)
        return call
    chain = call.chain
    call = replace(call, records=RecordReader(call))
    # In the block of the preview too, where others started meanwhile: what is left after all of them is measured.
    has_moved = chain.block.hash != permit.block_hash
    report = hook_chain.recheck(call, simulate=has_moved or bool(records_of(call).beside))
    if report.simulation is not None and call.plan is not None:
        outcomes = call.sent_by.outcomes_of_sent(report.simulation.calls)
        check_gas_fits(
            permit=permit,
            chain=chain,
            calls=call.sent_calls,
            outcomes=outcomes,
            has_run_within=report.simulation.terms is not None,
        )
        change_rows(
            ActionPermit,
            where={"pk": permit.pk},
            simulation_hash=hash_simulation(plan_hash=permit.plan_hash, simulation=report.simulation),
            block_number=report.simulation.block.number,
            block_hash=report.simulation.block.hash,
        )
    return call


def check_in_time(permit: ActionPermit) -> None:
    """That the permit is still valid. Raises CommitNotSigned for one that waited too long for a worker or a node."""
    if clock.now() >= permit.expires_at:
        raise say_not_signed(permit, str(permit.problem.get("code") or "WORKER_TIMEOUT"))
    if permit.problem:
        ActionPermit.objects.filter(pk=permit.pk).update(problem={})
        permit.problem = {}


def say_not_signed(permit: ActionPermit, cause: str) -> CommitNotSigned:
    return CommitNotSigned(
        f"nothing was signed for this permit ({cause}); nothing was sent and nothing will be",
        permit_id=str(permit.pk),
        cause=cause,
        expired_at=permit.expires_at.isoformat(),
        cleared_by="a new preview",
    )
