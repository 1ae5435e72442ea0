"""Hands a tick's commit to the commit workers and waits a little for its outcome.

A queue that does not answer loses nothing: the permit is COMMITTING, and the sweep hands it on when the queue is back.
"""

from __future__ import annotations

import logging
from uuid import UUID

from permits_app.doors.hand_to_worker import hand_to_worker as hand_over
from tools_app.core.errors import GolemError

logger = logging.getLogger(__name__)


def hand_to_worker(permit_id: UUID, seconds: float) -> None:
    """Enqueue the commit and wait up to `seconds`. Never raises a GolemError: the permit's row tells what happened."""
    try:
        hand_over(permit_id=permit_id, wait_seconds=seconds, request_id="heartbeat")
    except GolemError as error:
        logger.info("permit %s is followed by a later tick: %s", permit_id, error.code)
