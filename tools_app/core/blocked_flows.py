"""Writes into a golem's audit log what was kept from a sink: labels, sinks and counts, never a text.

Every door opens one around each call: a request, a task, a tick, a command, a look of a thread that follows a chain
(`tests/architecture/test_watched_doors.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from tools_app.core.taint import Blocked, Watch, watching

logger = logging.getLogger(__name__)


@contextmanager
def audited(*, actor: str, now: Callable[[], datetime], golem_id: UUID | None = None) -> Iterator[None]:
    """Appends TaintViolationBlocked at the end, once for each golem of which something was kept back; what is of no
    known golem stands in the server's log. An answer that is on its way keeps it, an error too.
    """
    watch = Watch()
    try:
        with watching(golem_id) as watch:
            yield
    finally:
        for golem, blocked in watch.by_golem().items():
            _tell(golem, blocked, actor, now)


def _tell(golem_id: UUID | None, blocked: Blocked, actor: str, now: Callable[[], datetime]) -> None:
    told = [{"label": str(label), "sink": str(sink), "count": count} for (label, sink), count in blocked.items()]
    if golem_id is None:
        words = ", ".join(f"{each['label']} from {each['sink']} {each['count']} times" for each in told)
        logger.warning("kept back by %s, of no golem that is known: %s", actor, words)
        return
    try:
        # Loaded when there is something to tell: doors open before models are there.
        from tools_app.core import audit_log

        audit_log.append(
            golem_id=golem_id, event="TaintViolationBlocked", actor=actor, data={"blocked": told}, now=now()
        )
    except Exception:
        # What was done is done, and what was kept back is kept back; the answer that says so must not be lost.
        logger.exception("kept back by %s of golem %s, and not in its audit log: %s", actor, golem_id, told)
