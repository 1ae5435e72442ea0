"""carry_out_wish: what owners approved of an agent's wish takes effect, under the capability of the wish's permit.

On chain that means: the signed transaction of the owners may leave; the relayer sends it next, and what goes with it
here is written once the chain has it. Otherwise the owners' operation is applied in the caller's transaction.
"""

from __future__ import annotations

from datetime import datetime

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeClosed
from permits_app.approvals.operations import find_operation
from permits_app.approvals.owner_states import find_owner_transaction, release_owner_transaction
from permits_app.limits import ledger
from permits_app.models import ChangeRequest
from permits_app.models.approval import ChangeState

_ACTOR = "system:approvals"


def carry_out_wish(*, request: ChangeRequest, now: datetime) -> bool:
    """Whether it goes on chain. Joins the caller's transaction; takes the locks of limits and golem.

    Raises ChangeClosed, ChangeStale and what the operation raises.
    """
    if request.state not in (ChangeState.APPROVED, ChangeState.EXECUTED):
        raise ChangeClosed(f"the request is {request.get_state_display().lower()}", state=request.state)
    ledger.lock_policy(request.golem_id)
    golem = Golem.objects.select_related("archetype", "owner").get(pk=request.golem_id)
    if find_owner_transaction(request) is not None:
        release_owner_transaction(request=request, actor=_ACTOR, now=now)
        return True
    operation = find_operation(request.change["operation"])
    operation.check_current(golem, request.change)
    operation.apply(golem=golem, change=request.change, actor=request.asker, reason=request.title, now=now)
    return False
