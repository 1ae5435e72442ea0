"""close_stale_change: a request whose plan or policy moved is over, with the permit that waited for it.

Takes the request's lock; tells approval:* through `states`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from django.db import transaction

from permits_app.actions.release_permit import end_waiting_permit
from permits_app.approval_errors import ChangeStale
from permits_app.approvals import request_states
from permits_app.models import ChangeRequest
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.permits.row_locks import lock_request
from tools_app.core.transaction_retry import retry_aborted

_ACTOR: Final = "system:approvals"


@retry_aborted
def close_stale_change(
    *, request: ChangeRequest, why: str, now: datetime, facts: Mapping[str, object] | None = None
) -> None:
    """End it as STALE; its permit is BLOCKED and keeps the problem. `facts` go into the audit log."""
    with transaction.atomic():
        lock_request(request)
        request_states.move_request(
            request=request, to=ChangeState.STALE, actor=_ACTOR, now=now, reason=why, facts=facts
        )
        problem = ChangeStale(why, request_id=str(request.pk)).as_problem()
        end_waiting_permit(request, PermitStatus.BLOCKED, _ACTOR, why, now, problem=problem)
