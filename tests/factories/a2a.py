"""Tasks of other agents, and what tells of them."""

from __future__ import annotations

import uuid
from datetime import datetime

from archetypes_app.models import ApiKey, Golem
from golem_project.a2a.models import PushConfig, PushNotification, Task, TaskState
from tools_app.core import clock


def make_a2a_task(
    *,
    golem: Golem,
    api_key: ApiKey | None = None,
    state: TaskState = TaskState.WORKING,
    lease_until: datetime | None = None,
) -> Task:
    """A task of a key, else of a stranger."""
    now = clock.now()
    return Task.objects.create(
        golem=golem,
        api_key=api_key,
        visitor="" if api_key is not None else f"0x{'ab' * 20}",
        context_id="context",
        message_id=str(uuid.uuid4()),
        asked_digest="0x",
        skill="query_state",
        params={"query": "golem"},
        state=state,
        lease_until=lease_until,
        created_at=now,
        updated_at=now,
    )


def make_a2a_notification(*, golem: Golem, url: str) -> PushNotification:
    """A notification that is due."""
    now = clock.now()
    config = PushConfig.objects.create(task=make_a2a_task(golem=golem), name="one", url=url, created_at=now)
    return PushNotification.objects.create(
        config=config, version=1, body={"statusUpdate": {}}, next_attempt_at=now, created_at=now
    )
