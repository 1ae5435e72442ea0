"""Deletes finished tasks after a while, and challenges and visits that are over."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from golem_project.a2a.models import Challenge, Task

_PAGE = 1_000
_OVER = timedelta(days=1)


def forget_old_rows(*, now: datetime) -> int:
    """Delete what is over long enough. Returns how many tasks and challenges; what hangs on them goes with them."""
    tasks = Task.objects.filter(finished_at__lt=now - timedelta(days=settings.GOLEM_A2A_TASKS_KEPT_DAYS))
    challenges = Challenge.objects.filter(expires_at__lt=now - _OVER)
    count = 0
    for rows in (tasks, challenges):
        found = list(rows.order_by("pk").values_list("pk", flat=True)[:_PAGE])
        rows.model.objects.filter(pk__in=found).delete()
        count += len(found)
    return count
