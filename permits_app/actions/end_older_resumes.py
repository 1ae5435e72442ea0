"""end_older_resumes: requests to resume a golem that was halted again since they were asked for are over.

An approval of such a request was given for another halt. Whoever gave it is named in the audit log and told by an
event. Appends ChangeStale, emits approval:cancelled.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from permits_app.actions.close_stale_change import close_stale_change
from permits_app.approvals.operations.resume import RESUME, say_over
from permits_app.models import ChangeRequest, OwnerApproval
from permits_app.models.approval import LIVE_STATES, ChangeState, Verdict
from permits_app.models.owner_transaction import OwnerTransactionState

# What was released may be on its way to a block; only the chain ends it, and then it resumes nothing here.
_UNDER_WAY = (OwnerTransactionState.RELEASED, OwnerTransactionState.SENT)


def end_older_resumes(*, golem_id: UUID, now: datetime) -> list[UUID]:
    """Close those of one golem; which."""
    rows = ChangeRequest.objects.filter(kind=RESUME, golem_id=golem_id, state__in=LIVE_STATES)
    rows = rows.exclude(owner_transaction__state__in=[str(state) for state in _UNDER_WAY])
    ended = []
    for request in rows.select_related("golem", "permit").order_by("pk"):
        if str(request.golem.halt_epoch) == request.change["halt_epoch"]:
            continue
        approved = OwnerApproval.objects.filter(request=request, verdict=Verdict.APPROVE).order_by("pk")
        facts = {"approved_by": [f"owner:{pk}" for pk in approved.values_list("owner_id", flat=True)]}
        close_stale_change(request=request, why=say_over(request.golem, request.change), now=now, facts=facts)
        request.refresh_from_db(fields=["state"])
        if request.state == ChangeState.STALE:
            ended.append(request.pk)
    return ended
