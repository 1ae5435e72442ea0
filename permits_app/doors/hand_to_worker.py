"""Have a started commit worked on by a commit worker, and wait for its end as long as the caller wants to.

Waited for is the permit, not the task: whoever ends it, a worker of this commit or one that the follower woke, taps
whoever waits. The row is the truth; it is looked at every second too, for a tap may be lost.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import connection, connections

from permits_app.models.permit import PermitStatus
from permits_app.permits.lifecycle import name_end
from permits_app.permits.selectors import find_permit
from permits_app.tasks import commit_permit_task
from tools_app.core import trace_spans, wake_waiting_process
from tools_app.core.clock import Deadline
from tools_app.core.worker_dispatch import enqueue

_LOOK_SECONDS = 1.0


def hand_to_worker(
    *, permit_id: UUID, wait_seconds: float, request_id: str
) -> dict[str, Any] | None:  # Any: a permit as agents see it
    """Have a worker commit a permit, and answer it as agents see it.

    None when `wait_seconds` were over before its commit ended or was UNKNOWN.

    Raises BrokerUnavailable.

    When the queue fails nothing is lost: the sweep hands the permit to a worker.
    """
    trace_spans.remember(str(permit_id))
    if wait_seconds <= 0:
        enqueue(commit_permit_task, permit_id=str(permit_id), request_id=request_id)
        return None
    with wake_waiting_process.waiting_for(name_end(permit_id)) as waiter:
        enqueue(commit_permit_task, permit_id=str(permit_id), request_id=request_id)
        deadline = Deadline.after_ms(wait_seconds * 1000)
        while not deadline.is_over:
            # The pool takes the connection back: a waiting web thread must not starve the workers of connections.
            if not connection.in_atomic_block:
                connections.close_all()
            waiter.wait(min(_LOOK_SECONDS, deadline.remaining_ms() / 1000))
            permit = find_permit(permit_id)
            if permit is None or permit["status"] != PermitStatus.COMMITTING:
                return permit
    return None
