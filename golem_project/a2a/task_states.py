"""The only place a task's state changes: one conditional UPDATE, told by an event and to whoever is notified."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F

from golem_project.a2a.models import OPEN_STATES, Task, TaskState
from golem_project.a2a.notifications import note_change
from permits_app.permits.registered_agents import list_registered
from tools_app.core import event_bus
from tools_app.core.events import Event, EventType
from tools_app.core.storable_text import make_plain
from tools_app.core.transaction_retry import retry_aborted

LONGEST_NOTE = 500


@retry_aborted
def move_task(
    *, task_id: UUID, leaving: Collection[TaskState], to: TaskState, now: datetime, note: str = "", **columns: object
) -> bool:
    """Take a task from one of `leaving` to `to`; False when it was in none of them."""
    if to not in OPEN_STATES:
        columns |= {"finished_at": now, "lease_until": None}
    if to == TaskState.COMPLETED:
        columns["done_by"] = _name_agent(task_id)
    with transaction.atomic():
        changed = Task.objects.filter(pk=task_id, state__in=[str(state) for state in leaving]).update(
            state=str(to), note=make_plain(note)[:LONGEST_NOTE], version=F("version") + 1, updated_at=now, **columns
        )
        if not changed:
            return False
        tell_change(Task.objects.get(pk=task_id), now=now)
    return True


def _name_agent(task_id: UUID) -> dict[str, str]:
    """Whom a client's feedback can be about; empty where the golem registered no agent."""
    golem_id = Task.objects.values_list("golem_id", flat=True).get(pk=task_id)
    for agent in list_registered(golem_id=golem_id)[:1]:
        return {"agentId": agent.agent_id, "agentRegistry": agent.registry_in_full}
    return {}


def tell_change(task: Task, *, now: datetime) -> None:
    """Tell the event log and the addresses to notify; joins the caller's transaction."""
    facts = {
        "task_id": str(task.pk),
        "skill": task.skill,
        "state": task.get_state_display(),
        "task_version": task.version,
    }
    event_bus.emit(golem_id=task.golem_id, event=Event(EventType.A2A_TASK, facts), now=now)
    note_change(task, now=now)
