"""Halt a golem now, then wait a while for a worker to do what needs the chain."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings

from archetypes_app.models import Golem
from permits_app.actions.halt import halt_golem
from permits_app.tasks import commit_halt_task
from tools_app.core.errors import BrokerUnavailable, RemoteProblem, WorkerTimeout
from tools_app.core.worker_dispatch import enqueue, wait_for


def request_halt(
    *, golem: Golem, reason: str, actor: str, now: datetime, is_drill: bool = False
) -> dict[str, Any]:  # Any: a report as agents see it
    """The halt's report. The golem is stopped before anything is waited for, and stays stopped whatever fails.

    Without queue or worker the steps on the chain are listed as under way: the sweep hands them to a worker.
    """
    report = halt_golem(golem=golem, reason=reason, actor=actor, now=now, is_drill=is_drill)
    if not report.pop("on_chain", False):
        return report
    try:
        pending = enqueue(commit_halt_task, golem_id=str(golem.pk), epoch=report["epoch"])
        report["steps"] = wait_for(pending, seconds=settings.GOLEM_HALT_WAIT_SECONDS)
    except (BrokerUnavailable, WorkerTimeout, RemoteProblem) as error:
        report["steps"].append({"step": "steps on the chain are under way", "waiting_for": error.code})
    return report
