"""Ask a worker for a preview and wait for its permit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from archetypes_app.audit_actor_names import name_key
from archetypes_app.models import ApiKey, Golem
from permits_app.doors.preview_turns import preview_turn
from permits_app.tasks import preview_action_task
from tools_app.core import trace_spans
from tools_app.core.worker_dispatch import enqueue, wait_for


def request_preview(
    *, golem: Golem, api_key: ApiKey | None, body: Mapping[str, object], request_id: str
) -> dict[str, Any]:  # Any: a permit as agents see it
    """Have a worker preview `body`; the permit as agents see it.

    Raises what preview_action raises, TooManyPreviews, BrokerUnavailable, WorkerTimeout.
    """
    with preview_turn(f"owner:{golem.owner_id}"):
        result = enqueue(
            preview_action_task,
            golem_id=str(golem.pk),
            api_key_id=str(api_key.pk) if api_key else None,
            body=dict(body),
            actor=name_key(api_key.prefix) if api_key else "system:runtime",
            request_id=request_id,
        )
        permit: dict[str, object] = wait_for(result, seconds=settings.GOLEM_PREVIEW_WAIT_SECONDS)
    permit_id = str(permit["permit_id"])
    trace_spans.note(permit_id=permit_id)
    trace_spans.remember(permit_id)
    return permit
