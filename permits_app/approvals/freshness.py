"""Whether a request still is what its owners saw: hashes of plan and policy, and what an operation starts from.

New blocks change neither hash, so an approval outlives them.
"""

from __future__ import annotations

from archetypes_app.toolset import resolve_toolset
from permits_app.approvals import digest
from permits_app.approvals.errors import ChangeStale
from permits_app.approvals.operations import find_operation
from permits_app.models import ChangeRequest
from permits_app.models.permit import PermitStatus
from permits_app.policy import read_policy
from permits_app.sealing import hash_plan


def find_staleness(request: ChangeRequest) -> str:
    """Why the request is out of date; empty when it is not. Reads rows; asks no node."""
    if digest.hash_request(request) != request.digest:
        return "the stored request does not match its digest"
    policy = read_policy(golem=request.golem, toolset=resolve_toolset(request.golem))
    if policy.hash != request.policy_hash:
        return "limits, cage, phase or tools changed since it was asked for"
    if request.permit is not None:
        if request.permit.status != PermitStatus.AWAITING_APPROVAL:
            return f"its permit is {request.permit.status.lower()}"
        return "" if hash_plan(request.permit) == request.plan_hash else "the plan changed since it was asked for"
    computed = digest.hash_change(golem_id=request.golem_id, kind=request.kind, change=request.change)
    if computed != request.plan_hash:
        return "the change is not the one that was asked for"
    try:
        find_operation(request.kind).check_current(request.golem, request.change)
    except ChangeStale as error:
        return error.detail
    return ""
