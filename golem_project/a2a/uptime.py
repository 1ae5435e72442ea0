"""How reliably a golem was there in the last thirty days, from the product's own records; what the track of ERC-8004
that is about infrastructure is for. Counted, never estimated: a golem without a heartbeat has no share.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Q, Sum

from archetypes_app.models import Golem, HeartbeatTick
from archetypes_app.models.tick import TickStatus
from golem_project.a2a.models import Task, TaskState
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus

DAYS: Final = 30
_BPS: Final = 10_000
_OVER: Final = (TaskState.COMPLETED, TaskState.FAILED)


@dataclass(frozen=True, slots=True)
class Uptime:
    """`uptime_bps` is the share of due ticks that were done whole; null before the first."""

    days: int
    since: str
    ticks_due: int
    ticks_done: int
    uptime_bps: int | None
    tasks_answered: int
    tasks_failed: int
    commits_mined: int
    commits_reverted: int

    def as_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Ticks:
    begun: int
    done: int
    missed: int | None


def measure_uptime(golem: Golem, *, now: datetime) -> Uptime:
    """The golem's last thirty days, each figure from rows of that time alone."""
    since = now - timedelta(days=DAYS)
    ticks = HeartbeatTick.objects.filter(golem=golem, started_at__gte=since).exclude(status=TickStatus.RUNNING)
    sums = ticks.aggregate(
        begun=Count("pk"), done=Count("pk", filter=Q(status=TickStatus.COMPLETE)), missed=Sum("missed_before")
    )
    counted = _Ticks(**sums)
    due = counted.begun + (counted.missed or 0)
    tasks = Task.objects.filter(golem=golem, created_at__gte=since, state__in=_OVER).values_list("state")
    told = dict(tasks.annotate(count=Count("pk")).order_by())
    ended = (PermitStatus.COMMITTED, PermitStatus.REVERTED)
    permits = ActionPermit.objects.filter(golem=golem, finished_at__gte=since, status__in=ended, is_local=False)
    outcomes = dict(permits.values_list("status").annotate(count=Count("pk")).order_by())
    return Uptime(
        days=DAYS,
        since=since.isoformat(),
        ticks_due=due,
        ticks_done=counted.done,
        uptime_bps=counted.done * _BPS // due if due else None,
        tasks_answered=told.get(TaskState.COMPLETED, 0),
        tasks_failed=told.get(TaskState.FAILED, 0),
        commits_mined=outcomes.get(PermitStatus.COMMITTED, 0),
        commits_reverted=outcomes.get(PermitStatus.REVERTED, 0),
    )
