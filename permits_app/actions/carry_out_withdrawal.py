"""carry_out_withdrawal: what owners approved leaves the account, once, in a permit that the server makes.

The transfer is simulated anew at the newest block. A row ties the request to its permit in the transaction that stores
the permit, so a worker that died is followed and never repeated. Appends WithdrawalStarted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from permits_app.approval_errors import ChangeStale, WithdrawalFailed
from permits_app.approvals.stale_requests import find_staleness
from permits_app.custody.safe_view import open_chain
from permits_app.execution.approved_withdrawal import read_asked_withdrawal
from permits_app.execution.halt_permits import HaltPlan, execute_halt_plan
from permits_app.models import ActionPermit, ChangeRequest, Withdrawal
from permits_app.models.approval import ChangeState
from permits_app.models.permit import UNFINISHED, PermitStatus
from permits_app.models.withdrawal import WITHDRAW
from permits_app.permits.row_locks import lock_request
from permits_app.safety.withdrawal_plan import check_withdrawal, plan_withdrawal
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.simulation.engine import SimulationResult
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.views import NATIVE

_ACTOR: Final = "system:approvals"


def carry_out_withdrawal(*, request: ChangeRequest, now: datetime) -> JsonObject | None:
    """What became of it, JSON-ready; None while it is under way. Begins it when nobody did.

    Raises ChangeStale, WithdrawalFailed, SimulationFailed, SameActionPending, SignerUnavailable, GolemHalted, and the
    node's errors; then nothing of it was sent and nothing will be.
    """
    permit = _find_permit(request)
    if permit is None:
        try:
            permit = _begin(request, now)
        except GolemError:
            permit = _find_permit(request)
            if permit is None:
                raise
    if permit.status in UNFINISHED:
        return None
    if permit.status != PermitStatus.COMMITTED:
        raise WithdrawalFailed(
            f"the transfer ended {permit.get_status_display().lower()}: {permit.status_reason or 'it did not happen'}",
            permit_id=str(permit.pk),
        )
    sent = permit.transactions.filter(is_live=True).order_by("call_index").values_list("tx_hash", flat=True)
    return {"permit_id": str(permit.pk), "tx_hash": next(iter(sent), "")}


def _find_permit(request: ChangeRequest) -> ActionPermit | None:
    row = Withdrawal.objects.select_related("permit").filter(request=request).first()
    return row.permit if row is not None else None


def _begin(request: ChangeRequest, now: datetime) -> ActionPermit:
    golem, asked = request.golem, read_asked_withdrawal(request)
    _check_fresh(request)
    chain = open_chain(asked.chain_id, now=now)
    token = chain.native() if asked.token == NATIVE else chain.token(asked.token)
    amount, to = asked.amount, asked.to
    plan = plan_withdrawal(chain_id=chain.chain_id, token=token, amount=amount, to=to)
    wanted = HaltPlan(
        plan=plan,
        action_type=WITHDRAW,
        params={"request_id": str(request.pk), "token": token.address, "amount": str(amount), "to": to},
        event="WithdrawalStarted",
        facts={"request_id": str(request.pk), "token": token.address, "amount": str(amount), "to": to},
        check=partial(_check, plan),
        tool_name=WITHDRAW,
        join=partial(_join, request, now),
    )
    return execute_halt_plan(golem=golem, epoch=golem.halt_epoch, chain=chain, wanted=wanted, actor=_ACTOR, now=now)


def _check(plan: TxPlan, simulation: SimulationResult, calls: Sequence[Call]) -> None:
    check_withdrawal(simulation, plan=plan)


def _join(request: ChangeRequest, now: datetime, permit: ActionPermit) -> None:
    """The request, locked, still is what its owners approved, and the halt the one that was there; bind the permit."""
    lock_request(request)
    fresh = ChangeRequest.objects.select_related("golem__archetype", "golem__owner").get(pk=request.pk)
    _check_fresh(fresh)
    if fresh.golem.halt_epoch != permit.halt_epoch:
        raise ChangeStale("the golem was halted or resumed meanwhile; ask for the withdrawal again")
    Withdrawal.objects.create(request=fresh, permit=permit, begun_at=now)


def _check_fresh(request: ChangeRequest) -> None:
    """Raises ChangeStale."""
    if request.state != ChangeState.APPROVED:
        raise ChangeStale(f"the request is {request.get_state_display().lower()}")
    if why := find_staleness(request):
        raise ChangeStale(why, request_id=str(request.pk))
