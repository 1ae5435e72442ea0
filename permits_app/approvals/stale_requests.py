"""Tells whether a request still is what its owners saw, by hashes of plan and policy.

New blocks change neither hash, so an approval outlives them.
"""

from __future__ import annotations

from datetime import datetime

from archetypes_app.toolset import resolve_toolset
from permits_app.approval_errors import ChangeStale
from permits_app.approvals import request_digest
from permits_app.approvals.operations import find_operation
from permits_app.approvals.owner_calls import read_end_signed
from permits_app.approvals.safe_nonces import check_not_past
from permits_app.approvals.votes import count_given
from permits_app.custody.safe_view import SafeView, open_chain, read_safe
from permits_app.limits.policy import read_policy
from permits_app.models import ChangeRequest, OwnerTransaction
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.permits.permit_hashes import hash_plan
from tools_app.standards.deadline_contract import is_there


def find_staleness(request: ChangeRequest) -> str:
    """Why the request is out of date; empty when it is not. Reads rows; asks no node."""
    if request_digest.hash_request(request) != request.digest:
        return "the stored request does not match its digest"
    if request.state == ChangeState.APPROVED and count_given(request) < request.required_approvals:
        return "who approved it decides for this golem no longer"
    policy = read_policy(golem=request.golem, toolset=resolve_toolset(request.golem))
    if policy.hash != request.policy_hash:
        return "limits, cage, phase or tools changed since it was asked for"
    if request.permit is not None:
        if request.permit.status != PermitStatus.AWAITING_APPROVAL:
            return f"its permit is {request.permit.status.lower()}"
        if hash_plan(request.permit) != request.plan_hash:
            return "the plan changed since it was asked for"
        return _check_operation(request, request.change["operation"]) if "operation" in request.change else ""
    computed = request_digest.hash_change(golem_id=request.golem_id, kind=request.kind, change=request.change)
    if computed != request.plan_hash:
        return "the change is not the one that was asked for"
    return _check_operation(request, request.kind)


def check_safe_current(request: ChangeRequest, *, now: datetime) -> SafeView | None:
    """The Safe of a change on chain as it is now; None for one that is none. Asks a node; no transaction may be open.

    Raises ChangeStale when the Safe executed something else under this nonce, it was given up, or what ends it by time
    is gone from the chain.
    """
    asked: OwnerTransaction | None = getattr(request, "owner_transaction", None)
    if asked is None:
        return None
    chain = open_chain(asked.chain_id, now=now)
    safe = read_safe(chain, asked.safe)
    check_not_past(asked, safe)
    # A plan's hooks ask the same right before it is sent.
    if request.permit is None and read_end_signed(request.change["safe_tx"]) and not is_there(chain):
        raise ChangeStale("what ends by time what the owners sign is not on the chain any more; ask for it again")
    return safe


def _check_operation(request: ChangeRequest, name: str) -> str:
    try:
        find_operation(name).check_current(request.golem, request.change)
    except ChangeStale as error:
        return error.detail
    return ""
