"""Celery entry points of A2A; they run on the queue `stream`, where nothing waits for them.

Every worker knows this module and few run it, so the protocol's own modules, slow to load, are loaded by the first run.
"""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from tools_app.core import clock, dispatch

_MOST_FOLLOWED = 500


@shared_task(ignore_result=True)
def follow_tasks_task() -> int:
    """Bring open tasks to where their permits are."""
    from golem_project.a2a import following

    found = following.list_behind(most=_MOST_FOLLOWED, now=clock.now())
    for task_id in found:
        following.follow_task(task_id=task_id, now=clock.now())
    return len(found)


@shared_task(ignore_result=True)
def notify_due_task() -> int:
    """Ask for a try of each notification that is due."""
    from golem_project.a2a import notifications

    due = notifications.list_due(now=clock.now())
    for notification_id in due:
        dispatch.enqueue(notify_task, notification_id=str(notification_id))
    return len(due)


@shared_task(ignore_result=True)
def notify_task(*, notification_id: str) -> bool:
    """Try one notification; a second task for the same one finds it claimed."""
    from golem_project.a2a import notifications

    return notifications.notify(notification_id=UUID(notification_id), now=clock.now())


@shared_task(ignore_result=True)
def forget_old_rows_task() -> int:
    """Delete finished tasks, challenges and visits that are over."""
    from golem_project.a2a import retention

    return retention.forget_old_rows(now=clock.now())
