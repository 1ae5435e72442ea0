"""Under a halt, for a cage's phase and for an owner's withdrawal: one plan of the server's own, in a permit bound to
its epoch, simulated before.

The same executor as for everything else; what such a permit may hold is judged from its bytes (`halt_signing_rule.py`).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import IntegrityError, transaction

from archetypes_app.models import Golem
from permits_app.custody.signing_route import SigningRoute, find_own_route
from permits_app.errors import SameActionPending
from permits_app.execution import executor
from permits_app.execution.commit_lease import giving_back, take_lease
from permits_app.execution.finish_permit import finish
from permits_app.limits.valuation import PlanValue, value_gas
from permits_app.models import ActionPermit, SpendEntry
from permits_app.models.permit import PermitStatus
from permits_app.permits import capabilities
from permits_app.permits.permit_hashes import hash_action, hash_plan, hash_simulation
from permits_app.permits.permit_lifetime import PERMIT_TICKS, life_of
from permits_app.permits.plan_store import encode_batch, encode_bounds
from permits_app.safety.balances_after_open_permits import judge_no_debt_grew
from permits_app.safety.final_simulation import Rehearsed, rehearse
from permits_app.safety.gas_budget import GasBudget
from permits_app.safety.hooks.simulator import build_request
from permits_app.safety.positions_to_simulate import Run, run_asking
from tools_app.core import audit_log, clock
from tools_app.core.clock import Deadline
from tools_app.core.errors import GolemError
from tools_app.core.transaction_retry import retry_aborted
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.simulation.select import run_simulation
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import ActionClass, RiskTier
from tools_app.toolkit.plan import Call, TxPlan

TOOL_NAME = "emergency_halt"
_BUDGET_MS = 10_000


@dataclass(frozen=True, slots=True)
class HaltPlan:
    """What the runtime wants done: `params` make it one action of its own, `facts` go into the audit log as `event`.

    `check` raises what it has against the simulation of the calls it is told, and `check_way` against what lies between
    them, which it has run as far as it wants. `route` is another than the golem's own
    where a key acts for itself, as the session key does that makes a cage's phase worse. `join` is called in the
    transaction that stores the permit, before it: what it locks stays locked, and what it raises stores nothing.
    """

    plan: TxPlan
    action_type: str
    params: Mapping[str, object]
    event: str
    facts: Mapping[str, object]
    check: Callable[[SimulationResult, Sequence[Call]], None]
    tool_name: str = TOOL_NAME
    route: SigningRoute | None = None
    check_way: Callable[[SigningRoute, SimulationRequest, Run], None] | None = None
    join: Callable[[ActionPermit], None] | None = None


def execute_halt_plan(
    *, golem: Golem, epoch: int, chain: ChainReader, wanted: HaltPlan, actor: str, now: datetime
) -> ActionPermit:
    """Simulate, sign and send `wanted`; the permit as it ended.

    A debt that grows is refused for every plan. Raises the node's errors, what the checks of `wanted` raise,
    SimulationFailed for a debt, SameActionPending while another worker does it, SignerUnavailable, GolemHalted when
    another halt came meanwhile.
    """
    route = wanted.route or find_own_route(golem=golem, chain=chain)
    request = build_request(plan=wanted.plan, route=route, chain=chain)
    run = partial(run_simulation, deadline=Deadline.after_ms(_BUDGET_MS))

    def judge(simulation: SimulationResult, gas: GasBudget) -> None:
        wanted.check(simulation, request.calls)
        if (refusal := judge_no_debt_grew(simulation)) is not None:
            raise refusal.as_error("simulator")

    rehearsed: Rehearsed[None] = rehearse(
        request,
        route=route,
        chain=chain,
        calls=route.carry(wanted.plan.calls),
        run=run_asking(run, chain=chain, account=route.account),
        judge=judge,
    )
    if wanted.check_way is not None:
        wanted.check_way(route, request, run)
    permit = _open_permit(golem, epoch, chain, wanted, route, rehearsed, actor, now)
    lease = take_lease(permit_id=permit.pk, now=clock.now()) if permit is not None else None
    if permit is None or lease is None:
        raise SameActionPending("another worker does this under the halt; what is left is looked at again")
    with giving_back(lease):
        expires = clock.now() + timedelta(seconds=settings.GOLEM_COMMIT_LEASE_SECONDS)
        capability = capabilities.mint(permit=permit, expires_at=expires, now=now)
        execution = executor.execute(
            permit=permit,
            capability=capability,
            # A halt leaves at whatever price there is: it was judged by its end in this very moment, not by its worth.
            worth_micro_usd=permit.value_micro_usd,
            chain=chain,
            lease=lease,
        )
        finish(permit=permit, tool=None, execution=execution)
        lease.release()
    permit.refresh_from_db()
    return permit


def _open_permit(
    golem: Golem,
    epoch: int,
    chain: ChainReader,
    wanted: HaltPlan,
    route: SigningRoute,
    rehearsed: Rehearsed[None],
    actor: str,
    now: datetime,
) -> ActionPermit | None:
    calls, simulation, gas = route.carry(wanted.plan.calls), rehearsed.simulation, rehearsed.gas
    value = _value(gas, chain)
    permit = _make_permit(golem, epoch, chain, wanted, simulation, gas, value, now)
    permit.signer, permit.acts_for = route.signer, route.acts_for
    permit.calls = route.encode_sent(calls, gas.limits)
    permit.batch = encode_batch(wanted.plan.calls) if route.acts_for else []
    permit.plan_hash = hash_plan(permit)
    permit.simulation_hash = hash_simulation(plan_hash=permit.plan_hash, simulation=simulation)
    return permit if _store(permit, wanted, value, actor, now) else None


@retry_aborted
def _store(permit: ActionPermit, wanted: HaltPlan, value: PlanValue, actor: str, now: datetime) -> bool:
    """False when another worker has an equal one under way."""
    golem = permit.golem
    try:
        with transaction.atomic():
            if wanted.join is not None:
                wanted.join(permit)
            permit.save(force_insert=True)
            SpendEntry.objects.create(
                golem=golem,
                permit=permit,
                reserved_micro_usd=value.total_micro_usd,
                counts_per_day=False,
                counted_at=now,
                breakdown=value.as_breakdown(),
            )
            audit_log.append(
                golem_id=golem.pk,
                event=wanted.event,
                actor=actor,
                now=now,
                data={
                    "permit_id": str(permit.pk),
                    "plan_hash": permit.plan_hash,
                    "halt_epoch": permit.halt_epoch,
                    **wanted.facts,
                },
            )
    except IntegrityError as error:
        if any(name in str(error) for name in ("permit_equal_action_once", "permits_app_withdrawal_pkey")):
            return False
        raise
    return True


def _make_permit(
    golem: Golem,
    epoch: int,
    chain: ChainReader,
    wanted: HaltPlan,
    simulation: SimulationResult,
    gas: GasBudget,
    value: PlanValue,
    now: datetime,
) -> ActionPermit:
    plan = wanted.plan
    return ActionPermit(
        id=uuid.uuid4(),
        golem=golem,
        created_at=now,
        status=PermitStatus.COMMITTING,
        committing_at=now,
        halt_epoch=epoch,
        tool_name=wanted.tool_name,
        action_type=wanted.action_type,
        venue="golem",
        chain_id=plan.chain_id,
        params=dict(wanted.params),
        action_hash=hash_action(
            golem_id=golem.pk,
            tool_name=wanted.tool_name,
            params={**wanted.params, "halt_epoch": epoch, "chain_id": plan.chain_id},
        ),
        action_class=ActionClass.CLOSE_POSITION.value,
        risk_tier=RiskTier.ROUTINE.value,
        value_micro_usd=value.total_micro_usd,
        policy_hash="",
        bounds=encode_bounds(plan),
        max_fee_per_gas=str(gas.max_fee_per_gas),
        max_priority_fee_per_gas=str(chain.fees().priority_fee),
        expected_outcome={
            "balance_deltas": [
                {"token": flow.token.address, "symbol": flow.token.symbol, "raw": str(flow.expected)}
                for flow in plan.receives
            ],
            "gas_used": sum(outcome.gas_used for outcome in simulation.calls),
            "gas_limit": sum(gas.limits),
        },
        expires_at=now + life_of(golem=golem),
        expires_at_tick=golem.heartbeat_tick + PERMIT_TICKS,
        simulation=simulation.as_dict(),
        block_number=simulation.block.number,
        block_hash=simulation.block.hash,
    )


def _value(gas: GasBudget, chain: ChainReader) -> PlanValue:
    try:
        return PlanValue(gas_micro_usd=value_gas(budget_wei=gas.wei, chain=chain), gas_wei=gas.wei)
    except GolemError:
        # A halt does not wait for a price: without one the gas stays uncounted.
        return PlanValue()
