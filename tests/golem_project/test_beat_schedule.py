"""Beat asks for changes of its schedule once a second, not at each of its looks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from golem_project.celery import app
from golem_project.runtime.beat_schedule import LOOK_EVERY_MS, Schedule
from tools_app.core import clock

# The package closes the connection while it reads.
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_change_is_seen_within_a_second_and_asked_for_no_sooner(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    now_ms = 5_000.0
    monkeypatch.setattr(clock, "monotonic_ms", lambda: now_ms)
    each_minute = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.MINUTES)
    schedule = Schedule(app=app, lazy=True)
    assert "sweep-now" not in schedule.schedule
    assert not schedule.schedule_changed()
    PeriodicTask.objects.create(name="sweep-now", task="permits_app.tasks.sweep_permits_task", interval=each_minute)
    with django_assert_num_queries(0):
        now_ms += LOOK_EVERY_MS - 1
        assert all("sweep-now" not in schedule.schedule for _ in range(10))
    now_ms += 1
    assert "sweep-now" in schedule.schedule
