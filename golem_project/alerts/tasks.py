"""Celery entry points of alerts; they run on the queue `stream`, where no permit waits."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from golem_project.alerts import channels
from tools_app.core import clock, dispatch


@shared_task(ignore_result=True)
def gather_alerts_task() -> int:
    """Write down what is new and ask for a message of each channel whose time has come."""
    channels.gather_alerts(now=clock.now())
    due = channels.list_due(now=clock.now())
    for channel_id in due:
        dispatch.enqueue(send_alerts_task, channel_id=str(channel_id))
    return len(due)


@shared_task(ignore_result=True)
def send_alerts_task(*, channel_id: str) -> bool:
    """Send what waits for one channel; a second task for the same one finds it claimed."""
    return channels.send_channel(channel_id=UUID(channel_id), now=clock.now())
