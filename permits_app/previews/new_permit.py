"""Makes the row of a permit from what was judged; stores nothing."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

from archetypes_app.models import Golem
from permits_app.limits.policy import Policy
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits.permit_hashes import hash_plan, hash_simulation
from permits_app.permits.permit_lifetime import PERMIT_TICKS, life_of
from permits_app.permits.plan_store import encode_batch, encode_bounds, encode_effect_bound
from permits_app.previews.approval_wait import needs_owners
from permits_app.previews.judged_call import JudgedCall
from permits_app.safety.hook import HookCall
from permits_app.safety.prediction import describe_expected
from tools_app.simulation.engine import SimulationResult


def make_permit(
    *, golem: Golem, policy: Policy, judged: JudgedCall, action_hash: str, api_key_id: UUID | None, now: datetime
) -> ActionPermit:
    """A permit that waits for its commit, or for owners; sealed, not saved."""
    call, simulation = judged.call, judged.report.simulation
    awaits_owner = needs_owners(tier=judged.risk_tier, call=call)
    permit = ActionPermit(
        id=uuid.uuid4(),
        golem=golem,
        api_key_id=api_key_id,
        created_at=now,
        tool_name=call.tool.name,
        schema_version=call.tool.schema_version,
        action_type=call.tool.key,
        venue=call.tool.venue,
        chain_id=call.plan.chain_id if call.plan else golem.home_chain_id,
        params=_as_json(call.params),
        action_hash=action_hash,
        action_class=call.action_class.value,
        risk_tier=judged.risk_tier.value,
        is_local=call.plan is None,
        signer=call.sent_by.signer if call.plan else "",
        acts_for=call.sent_by.acts_for if call.plan else "",
        value_micro_usd=call.value.total_micro_usd,
        prices=call.value.as_prices(),
        policy_hash=policy.hash,
        hook_decisions=list(judged.report.decisions),
        facts=dict(judged.report.facts),
        review=judged.review,
        soft_params=judged.soft_params,
        status=PermitStatus.AWAITING_APPROVAL if awaits_owner else PermitStatus.CREATED,
        expires_at=_find_end(call) or now + life_of(golem=golem, awaits_owner=awaits_owner),
        expires_at_tick=golem.heartbeat_tick + PERMIT_TICKS,
        bounds=encode_bounds(call.plan) if call.plan else encode_effect_bound(call.effect),
        code=judged.report.bound.as_dict() if judged.report.bound else {},
        calls=call.sent_by.encode_sent(call.sent_calls, judged.gas.limits) if call.plan and judged.gas else [],
        batch=encode_batch(call.plan.calls) if call.plan and call.sent_by.acts_for else [],
    )
    if judged.fees is not None:
        permit.max_fee_per_gas = str(judged.fees.max_fee)
        permit.max_priority_fee_per_gas = str(judged.fees.priority_fee)
    permit.expected_outcome = describe_expected(call=call, fees=judged.fees, gas=judged.gas, sources=judged.sources)
    permit.plan_hash = hash_plan(permit)
    if simulation is not None:
        _attach_simulation(permit, simulation)
    return permit


def _find_end(call: HookCall) -> datetime | None:
    """When what owners are asked to sign ends by itself: then the request ends, to the second."""
    return datetime.fromtimestamp(call.sent_by.ends_at, UTC) if call.plan and call.sent_by.ends_at else None


def _attach_simulation(permit: ActionPermit, simulation: SimulationResult) -> None:
    permit.simulation = simulation.as_dict()
    permit.block_number = simulation.block.number
    permit.block_hash = simulation.block.hash
    permit.simulation_hash = hash_simulation(plan_hash=permit.plan_hash, simulation=simulation)


def _as_json(params: Mapping[str, object]) -> dict[str, object]:
    return {
        name: str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53 else value
        for name, value in params.items()
    }
