"""How a tick has a started commit worked on: by the commit queue's worker, waiting a little for the outcome.

A queue that does not answer loses nothing: the permit is COMMITTING, and the sweep hands it on when the queue is back.
"""

from __future__ import annotations

import logging
from uuid import UUID

from permits_app.tasks import commit_permit_task
from tools_app.core.dispatch import enqueue, wait_for
from tools_app.core.errors import GolemError

logger = logging.getLogger(__name__)


def hand_to_worker(permit_id: UUID, seconds: float) -> None:
    """Enqueue the commit and wait up to `seconds`. Never raises a GolemError: the permit's row tells what happened."""
    try:
        pending = enqueue(commit_permit_task, permit_id=str(permit_id), request_id="heartbeat")
        if seconds > 0:
            wait_for(pending, seconds=seconds)
    except GolemError as error:
        logger.info("permit %s is followed by a later tick: %s", permit_id, error.code)
