"""Under a halt: standing token approvals are set to zero, by the same executor as everything else.

The plan is the runtime's own: approvals of zero, nothing else; it is simulated, gets a permit bound to the halt's
epoch, and storing its bytes checks both. Seed: decisions, "Halt"; "Safety hooks" (a standing allowance).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from archetypes_app.models import Golem
from permits_app import capabilities
from permits_app.errors import SameActionPending, SimulationFailed
from permits_app.execution import executor
from permits_app.execution.lease import take_lease
from permits_app.execution.settlement import finish
from permits_app.models import ActionPermit, SpendEntry
from permits_app.models.permit import PermitStatus
from permits_app.plan_store import encode_bounds, encode_calls
from permits_app.safety.gas_budget import GasBudget, budget_gas, limit_gas
from permits_app.sealing import hash_action, hash_plan, hash_simulation
from permits_app.valuation import PlanValue, value_gas
from tools_app import runner
from tools_app.core import audit_log, clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.select import run_simulation
from tools_app.standards import erc20
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass, RiskTier
from tools_app.toolkit.plan import AllowanceLeft, TxPlan
from tools_app.toolkit.views import TokenMeta

TOOL_NAME = "emergency_halt"
_BUDGET_MS = 10_000


def find_standing(
    *, chain: ChainReader, account: str, pairs: Sequence[tuple[str, str]]
) -> list[tuple[TokenMeta, str, int]]:
    """Of (token address, spender) pairs, those the chain still lets take something: token, spender, base units."""
    found = []
    for address, spender in pairs:
        token = chain.token(address)
        left = erc20.allowance(chain, token, account, spender)
        if left:
            found.append((token, spender, left))
    return found


def revoke_standing(
    *, golem: Golem, epoch: int, chain_id: int, pairs: Sequence[tuple[str, str]], actor: str, now: datetime
) -> list[dict[str, Any]]:
    """Set every allowance of `pairs` that still stands to zero; says for each what came of it.

    Raises the node's errors, SameActionPending while another worker does it, SimulationFailed, SignerUnavailable,
    GolemHalted when another halt came meanwhile.
    """
    chain = runner.open_reader(chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    standing = find_standing(chain=chain, account=golem.address, pairs=pairs)
    if not standing:
        return []
    permit = _open_permit(golem, epoch, chain, standing, actor, now)
    lease = take_lease(permit_id=permit.pk, now=clock.now()) if permit is not None else None
    if permit is None or lease is None:
        raise SameActionPending("another worker revokes these allowances; what is left is looked at again")
    try:
        expires = now + timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
        capability = capabilities.mint(permit=permit, expires_at=expires, now=now)
        pending = chain.pending_nonce(permit.signer)
        execution = executor.execute(permit=permit, capability=capability, pending_nonce=pending, lease=lease)
        finish(permit=permit, tool=None, execution=execution)
    finally:
        lease.release()
    permit.refresh_from_db()
    hashes = list(permit.transactions.order_by("call_index").values_list("tx_hash", flat=True))
    return [
        {
            "token": token.symbol,
            "token_address": token.address,
            "spender": spender,
            "was": str(left),
            "permit_id": str(permit.pk),
            "tx_hash": tx_hash,
            "outcome": permit.status,
        }
        for (token, spender, left), tx_hash in zip(standing, hashes, strict=False)
    ]


def _open_permit(
    golem: Golem,
    epoch: int,
    chain: ChainReader,
    standing: Sequence[tuple[TokenMeta, str, int]],
    actor: str,
    now: datetime,
) -> ActionPermit | None:
    plan = TxPlan(
        chain_id=chain.chain_id,
        calls=tuple(erc20.revoke(token=token, spender=spender) for token, spender, _ in standing),
        allowances=tuple(AllowanceLeft(token=t, spender=s, granted=0, left=0) for t, s, _ in standing),
        action_class=ActionClass.CLOSE_POSITION,
    )
    request = SimulationRequest(chain_id=plan.chain_id, sender=golem.address, calls=plan.calls, block=chain.block)
    simulation = run_simulation(request, deadline=Deadline.after_ms(_BUDGET_MS))
    if not simulation.succeeded:
        raise SimulationFailed("setting the standing allowances to zero reverts in simulation")
    permit, value = _make_permit(golem, epoch, chain, plan, simulation, now)
    try:
        with transaction.atomic():
            permit.save(force_insert=True)
            SpendEntry.objects.create(
                golem=golem, permit=permit, reserved_micro_usd=value.gas_micro_usd, counts_per_day=False,
                counted_at=now, breakdown=value.as_breakdown(),
            )  # fmt: skip
            audit_log.append(
                golem_id=golem.pk, event="HaltRevocationStarted", actor=actor, now=now,
                data={"permit_id": str(permit.pk), "plan_hash": permit.plan_hash, "halt_epoch": epoch,
                      "revoked": [{"token": t.address, "spender": s, "was": str(left)} for t, s, left in standing]},
            )  # fmt: skip
    except IntegrityError as error:
        if "permit_equal_action_once" in str(error):
            return None
        raise
    return permit


def _make_permit(
    golem: Golem, epoch: int, chain: ChainReader, plan: TxPlan, simulation: SimulationResult, now: datetime
) -> tuple[ActionPermit, PlanValue]:
    fees = chain.fees()
    # A halt waits neither for an oracle nor for a price: without them what they would add stays uncounted.
    try:
        gas = budget_gas(chain=chain, calls=plan.calls, outcomes=simulation.calls)
    except GolemError:
        gas = GasBudget(tuple(limit_gas(outcome) for outcome in simulation.calls), fees.max_fee)
    try:
        gas_micro_usd = value_gas(budget_wei=gas.wei, chain=chain)
    except GolemError:
        gas_micro_usd = 0
    permit = ActionPermit(
        id=uuid.uuid4(),
        golem=golem,
        created_at=now,
        status=PermitStatus.COMMITTING,
        committing_at=now,
        halt_epoch=epoch,
        tool_name=TOOL_NAME,
        action_type="revoke_allowances",
        venue="golem",
        chain_id=plan.chain_id,
        params={},
        action_hash=hash_action(
            golem_id=golem.pk, tool_name=TOOL_NAME, params={"halt_epoch": epoch, "chain_id": plan.chain_id}
        ),
        action_class=ActionClass.CLOSE_POSITION.value,
        risk_tier=RiskTier.ROUTINE.value,
        signer=golem.address,
        value_micro_usd=gas_micro_usd,
        policy_hash="",
        bounds=encode_bounds(plan),
        calls=encode_calls(plan, gas.limits),
        max_fee_per_gas=str(fees.max_fee),
        max_priority_fee_per_gas=str(fees.priority_fee),
        expected_outcome={
            "balance_deltas": [],
            "gas_used": sum(outcome.gas_used for outcome in simulation.calls),
            "gas_limit": sum(gas.limits),
        },
        expires_at=now + timedelta(seconds=golem.permit_ttl_seconds),
        expires_at_tick=golem.heartbeat_tick + 3,
        simulation=simulation.as_dict(),
        block_number=simulation.block.number,
        block_hash=simulation.block.hash,
    )
    permit.plan_hash = hash_plan(permit)
    permit.simulation_hash = hash_simulation(plan_hash=permit.plan_hash, simulation=simulation)
    return permit, PlanValue(gas_micro_usd=gas_micro_usd, gas_wei=gas.wei)
