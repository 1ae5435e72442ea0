"""Ends a request, and the permit of its plan, when what a Safe's owners signed has ended by time.

Appends ChangeExpired and what ending the permit appends.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from django.db import transaction

from permits_app.actions.release_permit import end_waiting_permit
from permits_app.approvals import request_states
from permits_app.models import ChangeRequest
from permits_app.models.approval import ChangeState
from permits_app.models.permit import PermitStatus
from permits_app.permits.row_locks import lock_request
from tools_app.core.transaction_retry import retry_aborted

_ACTOR: Final = "system:clock"
SIGNED_ENDED: Final = (
    "what its owners signed has ended by time; nobody can execute it any more, so it has to be asked anew"
)


def has_ended(request: ChangeRequest, *, at: datetime) -> bool:
    """Whether the chain refuses from `at` on what the owners of a Safe sign for this request."""
    ends_at = int(request.change.get("safe_tx", {}).get("ends_at", 0))
    return bool(ends_at) and at >= datetime.fromtimestamp(ends_at, UTC)


@retry_aborted
def end_expired_signatures(*, request: ChangeRequest, now: datetime) -> bool:
    """End the request and its permit as expired, and give back what it reserved; True when this call did."""
    with transaction.atomic():
        lock_request(request)
        done = request_states.move_request(
            request=request, to=ChangeState.EXPIRED, actor=_ACTOR, now=now, reason=SIGNED_ENDED
        )
        if done:
            end_waiting_permit(request, PermitStatus.EXPIRED, _ACTOR, SIGNED_ENDED, now)
    return done
