"""A refused preview or commit is a line in the golem's audit log: code, hook and rule; parameters hashed, never raw.

A rule's refusal is an event too: policy:limit_hit for a spending or rate limit, policy:violation for the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from permits_app.errors import PolicyRejected, RateLimited, SpendingLimitExceeded
from tools_app.core import audit_log, event_bus
from tools_app.core.errors import GolemError
from tools_app.core.events import Event, EventType
from tools_app.core.transaction_retry import retry_aborted

_MOST_WORD = 64


def record_preview_denial(
    *, golem_id: UUID, actor: str, body: Mapping[str, object], error: GolemError, now: datetime
) -> None:
    """Write down that a preview was refused. A failure of ours (5xx) is no denial."""
    asked: dict[str, object] = {
        "action_type": str(body.get("action_type", ""))[:_MOST_WORD],
        "venue": str(body.get("venue") or "")[:_MOST_WORD],
        "params_hash": _digest(body),
    }
    _record("PreviewDenied", golem_id, actor, error, asked, now)


def record_commit_denial(*, golem_id: UUID, actor: str, permit_id: UUID, error: GolemError, now: datetime) -> None:
    """Write down that a commit was refused before it started."""
    asked: dict[str, object] = {"permit_id": str(permit_id)}
    _record("CommitDenied", golem_id, actor, error, asked, now)


@retry_aborted
def _record(event: str, golem_id: UUID, actor: str, error: GolemError, asked: dict[str, object], now: datetime) -> None:
    if error.http_status >= 500 or not Golem.objects.filter(pk=golem_id).exists():
        return
    problem = error.as_problem()
    with transaction.atomic():
        audit_log.append_denial(golem_id=golem_id, event=event, actor=actor, problem=problem, asked=asked, now=now)
        if isinstance(error, PolicyRejected):
            kind = (
                EventType.POLICY_LIMIT_HIT
                if isinstance(error, SpendingLimitExceeded | RateLimited)
                else EventType.POLICY_VIOLATION
            )
            facts = {name: str(problem[name]) for name in ("code", "hook", "rule") if problem.get(name)}
            event_bus.emit(golem_id=golem_id, event=Event(kind, {**facts, **asked}), now=now)


def _digest(body: Mapping[str, object]) -> str:
    return "0x" + sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()
