"""What was kept from a sink while a golem's call was served, in its audit log: labels, sinks and counts, never a text.

A door opens one around each call. Seed: 002, "TaintedString"; facts 9 (TaintViolationBlocked).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from tools_app.core import audit_log
from tools_app.core.taint import watching


@contextmanager
def audited(*, golem_id: Callable[[], UUID | None], actor: str, now: Callable[[], datetime]) -> Iterator[None]:
    """Appends TaintViolationBlocked at the end, once, where something was kept back; `golem_id` is asked then, and None
    is a call of nobody. An answer that is on its way keeps it, an error too.
    """
    with watching() as found:
        try:
            yield
        finally:
            golem = golem_id() if found else None
            if golem is not None:
                blocked = [
                    {"label": str(label), "sink": str(sink), "count": count}
                    for (label, sink), count in sorted(found.items())
                ]
                facts = {"blocked": blocked}
                audit_log.append(golem_id=golem, event="TaintViolationBlocked", actor=actor, data=facts, now=now())
